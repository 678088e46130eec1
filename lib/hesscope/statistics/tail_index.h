// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/statistics/statistic.h>

namespace hesscope {

/// How fast the upper tail of a sample falls: P(X > x) ~ x^-alpha far out. Moments of order alpha
/// and above are then infinite; a normal tail falls faster than any power, and its estimates grow
/// as fewer values are used.
struct TailIndex {
  Status status = Status::kNotComputed;
  /// Hill plot: alpha_k = 1 / H_k at [k - 1] for k = 1 .. floor(n / 2), with the order statistics
  /// X_(1) >= X_(2) >= ... and H_k = (1 / k) sum_{i <= k} log(X_(i) / X_(k+1)). NaN where
  /// X_(k+1) <= 0 or H_k <= 16 eps, as rounding makes it of values that are equal.
  Eigen::VectorXd by_count;
  Eigen::Index count = 0;  ///< the k of `index`: floor(sqrt(n)), at most floor(n / 2)
  /// alpha_k; undefined (zero denominator) where NaN in by_count, (too few points) for n = 1.
  Statistic index;
  Statistic standard_error;  ///< alpha_k / sqrt(k), for values that are independent
};

/// Hill's estimator. k must be a small part of the sample, and large: sqrt(n) is a convention
/// without more to it than that, so look at the plot for where alpha_k is level.
/// @param  values  n of them, at least one; only the upper half must be positive.
/// @return status kOk; kNonFinite, and nothing else, if a value is not finite.
/// @throws PreconditionError without values.
/// @cost   a sort.
/// @source B. M. Hill (1975), Annals of Statistics 3, 1163-1174.
TailIndex tail_index(const Eigen::Ref<const Eigen::VectorXd>& values);

}  // namespace hesscope
