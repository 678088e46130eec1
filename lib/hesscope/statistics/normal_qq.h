// SPDX-License-Identifier: BSD-3-Clause
//
// Normal quantile-quantile plots. A sample above the line at its right end has a heavier tail than
// a normal distribution.
#pragma once

#include <cstdint>

#include <hesscope/core/eigen.h>
#include <hesscope/statistics/least_squares.h>

namespace hesscope {

enum class QqConvention : std::int8_t {
  /// As scipy.stats.probplot: Filliben's estimates of the order statistics' medians, p_1 = 1 -
  /// 2^(-1/n), p_n = 2^(-1/n), else p_i = (i - 0.3175) / (n + 0.365), against the values.
  kFilliben,
  /// As statsmodels' qqplot(fit=True, a=0): p_i = i / (n + 1), against (value - mean) / sqrt(m_2),
  /// with the maximum-likelihood mean and variance m_2 of a normal distribution.
  kStandardized,
};

struct QqPlot {
  Status status = Status::kNotComputed;
  Eigen::VectorXd
      theoretical;         ///< normal quantiles of the p_i, ascending, antisymmetric bit by bit
  Eigen::VectorXd sample;  ///< ascending
  LineFit line;  ///< sample = intercept + slope theoretical; its correlation is Filliben's r
};

/// @param  values  n of them, at least one.
/// @return status kOk; kNonFinite, and nothing else, if a value is not finite;
///         kUndefinedZeroDenominator if the values are to be standardised but all equal. The line
///         is undefined for n = 1.
/// @throws PreconditionError without values.
/// @cost   n normal quantiles and a sort.
/// @source J. J. Filliben (1975), Technometrics 17, 111-117.
QqPlot normal_qq(const Eigen::Ref<const Eigen::VectorXd>& values, QqConvention convention);

}  // namespace hesscope
