// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <hesscope/statistics/internal/centered.h>
#include <hesscope/statistics/summary.h>

namespace hesscope {
namespace {

using Eigen::VectorXd;

Summary all_missing(Status status) {
  const Statistic none = missing_statistic(status);
  return {none, none, none, none, none, none, none, none};
}

// From the deviations z, scaled so that the largest is 1.
void set_shape(const VectorXd& z, Summary& summary) {
  detail::CompensatedSum squares;
  detail::CompensatedSum cubes;
  detail::CompensatedSum fourths;
  for (const double deviation : z) {
    const double square = deviation * deviation;
    squares.add(square);
    cubes.add(square * deviation);
    fourths.add(square * square);
  }
  const auto count = static_cast<double>(z.size());
  const double m2 = squares.value() / count;
  summary.skewness = finite_statistic(cubes.value() / count / (m2 * std::sqrt(m2)));
  summary.excess_kurtosis = finite_statistic(fourths.value() / count / (m2 * m2) - 3.0);
}

}  // namespace

Summary summarize(const Eigen::Ref<const VectorXd>& values) {
  detail::require_values("summarize", values, 1);
  if (!values.allFinite()) return all_missing(Status::kNonFinite);
  Summary summary = all_missing(values.size() > 1 ? Status::kUndefinedZeroDenominator
                                                  : Status::kUndefinedTooFewPoints);
  const double median = detail::lower_median_of(values);
  summary.median = finite_statistic(median);
  summary.minimum = finite_statistic(values.minCoeff());
  summary.maximum = finite_statistic(values.maxCoeff());
  summary.max_over_median = median == 0.0 ? missing_statistic(Status::kUndefinedZeroMedian)
                                          : finite_statistic(summary.maximum.value / median);
  const detail::Centered sample = detail::centered(values, median);
  summary.mean = finite_statistic(sample.mean);
  if (values.size() > 1) {
    const double variance =
        sample.deviations.squaredNorm() / static_cast<double>(values.size() - 1);
    summary.standard_deviation = finite_statistic((sample.scale * std::sqrt(variance)).value());
  }
  if (sample.scale > 0.0) set_shape(sample.deviations, summary);
  return summary;
}

}  // namespace hesscope
