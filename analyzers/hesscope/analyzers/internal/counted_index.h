// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <hesscope/analyzers/internal/explained_zeros.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/status.h>

namespace hesscope::detail {

/// Negative and zero eigenvalues, and the smallest, of a Hessian without its explained null space.
struct CountedIndex {
  Status status = Status::kNotComputed;
  std::int64_t num_negative = -1;
  std::int64_t num_zero = -1;
  double lambda_min = kNaN;  ///< none where everything is explained
};

/// By two factorisations and by Sturm sequences; kFailed where they do not agree.
/// @param  largest_zero  up to ten rounding bands above this magnitude eigenvalues count as zero.
CountedIndex counted_index(const UnexplainedHessian& hessian,
                           const ProgressCallback& progress,
                           double largest_zero = 0);

}  // namespace hesscope::detail
