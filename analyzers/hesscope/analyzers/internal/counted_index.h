// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <hesscope/analyzers/internal/explained_zeros.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/status.h>

namespace hesscope::detail {

/// The numbers of negative and zero eigenvalues, and the smallest eigenvalue, of a Hessian without
/// its explained null space.
struct CountedIndex {
  Status status = Status::kNotComputed;
  std::int64_t num_negative = -1;
  std::int64_t num_zero = -1;
  double lambda_min = kNaN;  ///< NaN if everything is explained
};

/// By two factorisations and by Sturm sequences; kFailed if they disagree.
/// @param  largest_zero  eigenvalues up to ten rounding bands above this magnitude count as zero.
CountedIndex counted_index(const UnexplainedHessian& hessian,
                           const ProgressCallback& progress,
                           double largest_zero = 0);

}  // namespace hesscope::detail
