// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/constants.h>
#include <hesscope/core/internal/norms.h>

namespace hesscope::detail {

/// What a gradient, or a loss's root, is rounding up to, over the size of what it is computed from.
inline constexpr double kGradientRounding = 16 * kEpsilon;

/// The |g|^2 up to which a gradient counts as zero, as rounding leaves it of per-sample gradients
/// that cancel: (16 eps)^2 times tr S + |g|^2, about the mean of their squared norms.
inline Wide rounding_of_square(const Wide& trace, const Wide& square) {
  return kGradientRounding * kGradientRounding * (trace + square);
}

}  // namespace hesscope::detail
