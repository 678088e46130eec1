// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/statistics/statistic.h>

namespace hesscope {

/// Location, spread and shape of a sample x_1 .. x_n. With the central moments
/// m_r = (1 / n) sum (x_i - mean)^r.
struct Summary {
  Statistic mean;
  /// sqrt(n / (n - 1) m_2), in the unit of the values; undefined (too few points) for n = 1.
  Statistic standard_deviation;
  /// g_1 = m_3 / m_2^(3/2), biased as scipy.stats.skew by default; undefined if all values are
  /// equal (zero denominator) or n = 1 (too few points).
  Statistic skewness;
  /// g_2 = m_4 / m_2^2 - 3, biased as scipy.stats.kurtosis by default: 0 for a normal distribution,
  /// at least -2; undefined like skewness.
  Statistic excess_kurtosis;
  Statistic median;  ///< lower median: order statistic floor((n - 1) / 2), counted from 0
  Statistic minimum;
  Statistic maximum;
  Statistic max_over_median;  ///< undefined (zero median) if the median is 0
};

/// Deviations are formed so that no digits are lost if the values differ little, and scaled so that
/// their powers do not overflow.
/// @param  values  at least one. If one is NaN or infinite, every statistic has the status
///                 kNonFinite.
/// @throws PreconditionError without values.
/// @cost   linear.
/// @source D. N. Joanes & C. A. Gill (1998), The Statistician 47, 183-189, for g_1, g_2 and their
///         alternatives.
Summary summarize(const Eigen::Ref<const Eigen::VectorXd>& values);

}  // namespace hesscope
