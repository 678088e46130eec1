// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/statistics/statistic.h>

namespace hesscope {

/// The line y = intercept + slope x that minimises the sum of squared residuals in y.
struct LineFit {
  Statistic slope;
  Statistic intercept;
  Statistic correlation;  ///< r of x and y
  /// Standard error of the slope for independent residuals of equal variance: sqrt(SSR / (n - 2) /
  /// S_xx).
  Statistic slope_standard_error;
};

/// @param  x, y  equally many numbers, at least one.
/// @return kNonFinite throughout if an x or y is not finite. Undefined (zero denominator): slope
///         and intercept if all x are equal; correlation if all x or all y are;
///         slope_standard_error also for fewer than three points.
/// @throws PreconditionError if there are no numbers, or x and y have different sizes.
LineFit fit_line(const Eigen::Ref<const Eigen::VectorXd>& x,
                 const Eigen::Ref<const Eigen::VectorXd>& y);

}  // namespace hesscope
