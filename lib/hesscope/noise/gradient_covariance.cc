// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <hesscope/core/executor.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/noise/gradient_covariance.h>
#include <hesscope/noise/internal/covariance_over.h>
#include <hesscope/noise/internal/gradient_rounding.h>
#include <hesscope/noise/internal/outer_products.h>
#include <hesscope/objective/gradient_blocks.h>

namespace hesscope {

using Eigen::MatrixXd;
using Eigen::VectorXd;

detail::SampleRanges detail::samples_without(SampleRange block, Eigen::Index num_samples) {
  SampleRanges ranges;
  for (const SampleRange range : {SampleRange{0, block.begin}, {block.end, num_samples}}) {
    if (range.size() > 0) ranges.push_back(range);
  }
  return ranges;
}

Eigen::Index detail::num_samples_of(const SampleRanges& ranges) {
  Eigen::Index count = 0;
  for (const SampleRange& range : ranges) count += range.size();
  return count;
}

GradientCovariance detail::covariance_over(const Objective& objective,
                                           const Eigen::Ref<const VectorXd>& theta,
                                           const SampleRanges& ranges,
                                           const GradientCovarianceOptions& options,
                                           const ProgressCallback& progress) {
  const Executor executor(options.num_threads);
  GradientCovariance result;
  result.num_samples = num_samples_of(ranges);
  const auto num_samples = static_cast<double>(result.num_samples);
  result.mean = VectorXd::Zero(theta.size());
  for (const SampleRange& range : ranges) {
    const double share = static_cast<double>(range.size()) / num_samples;
    result.mean += share * objective.gradient(theta, range);
  }
  if (result.num_samples < 2) {
    result.status = Status::kUndefinedTooFewPoints;
    return result;
  }
  double trace = 0.0;
  MatrixXd sum;
  double largest = 0.0;  // magnitude of a deviation
  const auto add_up = [&](double begin, double end) {
    trace = 0.0;
    if (options.with_matrix) sum = MatrixXd::Zero(theta.size(), theta.size());
    const double factor = std::ldexp(1.0, -result.exponent);
    double done = 0.0;
    const auto add_block = [&](MatrixXd& gradients, SampleRange samples) {
      gradients.colwise() -= result.mean;
      if (result.exponent != 0) gradients *= factor;
      largest = std::max(largest, gradients.cwiseAbs().maxCoeff());
      trace += gradients.squaredNorm();
      if (options.with_matrix) add_outer_products(gradients, sum, executor);
      done += static_cast<double>(samples.size());
      report(progress, std::lerp(begin, end, done / num_samples));
    };
    for (const SampleRange& range : ranges) {
      for_gradient_blocks(objective, theta, range, add_block);
    }
    trace /= num_samples - 1.0;
    sum /= num_samples - 1.0;
  };
  add_up(0.0, 1.0);
  const bool is_ordinary = trace > 0x1p-200 && trace < 0x1p200;
  if (!is_ordinary && largest > 0.0 && std::isfinite(largest)) {
    result.exponent = exponent_of(largest);
    add_up(1.0, 1.0);
  }
  const bool is_finite = result.mean.allFinite() && std::isfinite(trace) && sum.allFinite();
  result.status = is_finite ? Status::kOk : Status::kNonFinite;
  if (is_finite) {
    result.trace = trace;
    result.matrix = std::move(sum);
  } else {
    result.exponent = 0;
  }
  return result;
}

GradientCovariance gradient_covariance(const Objective& objective,
                                       const Eigen::Ref<const VectorXd>& theta,
                                       const GradientCovarianceOptions& options,
                                       const ProgressCallback& progress) {
  require_point(objective, "gradient_covariance", theta, objective.all_samples());
  return detail::covariance_over(objective, theta, {objective.all_samples()}, options, progress);
}

bool is_gradient_zero(const GradientCovariance& covariance) {
  using detail::Wide;
  const Wide square = detail::sum_of_squares(covariance.mean);
  if (covariance.status != Status::kOk) return isfinite(square) && !(square > 0.0);
  const Wide trace = ldexp(Wide(covariance.trace), std::int64_t{2} * covariance.exponent);
  return !(square > detail::rounding_of_square(trace, square));
}

bool is_noise_zero(const GradientCovariance& covariance) {
  using detail::Wide;
  const Wide trace = ldexp(Wide(covariance.trace), std::int64_t{2} * covariance.exponent);
  return !(trace > detail::rounding_of_square(0.0, detail::sum_of_squares(covariance.mean)));
}

double rounding_of_gradients(const GradientCovariance& covariance) {
  using detail::Wide;
  const Wide trace = covariance.status == Status::kOk
                         ? ldexp(Wide(covariance.trace), std::int64_t{2} * covariance.exponent)
                         : Wide(0.0);
  const Wide square = detail::sum_of_squares(covariance.mean);
  return sqrt(detail::rounding_of_square(trace, square)).value();
}

}  // namespace hesscope
