// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <boost/math/distributions/normal.hpp>

#include <hesscope/statistics/internal/centered.h>
#include <hesscope/statistics/normal_qq.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// p_i for i = 1 .. n in the lower half, where i <= n + 1 - i.
double position(Index i, Index n, QqConvention convention) {
  const auto count = static_cast<double>(n);
  if (convention == QqConvention::kStandardized) return static_cast<double>(i) / (count + 1.0);
  if (i == 1) return -std::expm1(-std::numbers::ln2 / count);
  return (static_cast<double>(i) - 0.3175) / (count + 0.365);
}

// Both conventions have p_(n+1-i) = 1 - p_i.
VectorXd normal_quantiles(Index n, QqConvention convention) {
  const boost::math::normal_distribution<double> normal;
  VectorXd quantiles = VectorXd::Zero(n);
  for (Index i = 0; i < n / 2; ++i) {
    quantiles[i] = boost::math::quantile(normal, position(i + 1, n, convention));
    quantiles[n - 1 - i] = -quantiles[i];
  }
  return quantiles;
}

}  // namespace

QqPlot normal_qq(const Eigen::Ref<const VectorXd>& values, QqConvention convention) {
  detail::require_values("normal_qq", values, 1);
  QqPlot plot;
  if (!values.allFinite()) {
    plot.status = Status::kNonFinite;
    return plot;
  }
  VectorXd sample = values;
  if (convention == QqConvention::kStandardized) {
    const detail::Centered sizes = detail::centered(values, detail::lower_median_of(values));
    if (!(sizes.scale > 0.0)) {
      plot.status = Status::kUndefinedZeroDenominator;
      return plot;
    }
    const double variance = sizes.deviations.squaredNorm() / static_cast<double>(values.size());
    sample = sizes.deviations / std::sqrt(variance);
  }
  std::sort(sample.begin(), sample.end());
  plot.status = Status::kOk;
  plot.theoretical = normal_quantiles(values.size(), convention);
  plot.line = fit_line(plot.theoretical, sample);
  plot.sample = std::move(sample);
  return plot;
}

}  // namespace hesscope
