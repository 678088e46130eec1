// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/statistics/statistic.h>

namespace hesscope {

/// How fast the upper tail of a sample decays: P(X > x) ~ x^-alpha for large x. Moments of order
/// alpha and above are then infinite. A normal tail decays faster than any power; its estimates
/// grow as fewer values are used.
struct TailIndex {
  Status status = Status::kNotComputed;
  /// Hill plot: alpha_k = 1 / H_k at [k - 1] for k = 1 .. floor(n / 2), with the order statistics
  /// X_(1) >= X_(2) >= ... and H_k = (1 / k) sum_{i <= k} log(X_(i) / X_(k+1)). NaN if X_(k+1) <= 0
  /// or H_k <= 16 eps, which rounding can produce from equal values.
  Eigen::VectorXd by_count;
  Eigen::Index count = 0;  ///< the k of `index`: floor(sqrt(n)), at most floor(n / 2)
  /// alpha_k; undefined if it is NaN in by_count (zero denominator) or n = 1 (too few points).
  Statistic index;
  Statistic standard_error;  ///< alpha_k / sqrt(k), for independent values
};

/// Hill's estimator. k must be large, but a small part of the sample. sqrt(n) is no more than a
/// convention: look at the plot for a range in which alpha_k is level.
/// @param  values  n of them, at least one; only the upper half must be positive.
/// @return status kOk; kNonFinite, and nothing else, if a value is not finite.
/// @throws PreconditionError without values.
/// @cost   a sort.
/// @source B. M. Hill (1975), Annals of Statistics 3, 1163-1174.
TailIndex tail_index(const Eigen::Ref<const Eigen::VectorXd>& values);

}  // namespace hesscope
