// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/constants.h>
#include <hesscope/core/internal/norms.h>

namespace hesscope::detail {

/// The relative size, compared with what it is computed from, up to which a gradient or the root of
/// a loss is rounding error.
inline constexpr double kGradientRounding = 16 * kEpsilon;

/// The |g|^2 up to which a gradient counts as zero, because per-sample gradients that cancel leave
/// as much by rounding: (16 eps)^2 times tr S + |g|^2, which is about the mean of their squared
/// norms.
inline Wide rounding_of_square(const Wide& trace, const Wide& square) {
  return kGradientRounding * kGradientRounding * (trace + square);
}

}  // namespace hesscope::detail
