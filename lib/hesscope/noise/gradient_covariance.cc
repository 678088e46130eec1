// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <hesscope/core/executor.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/noise/gradient_covariance.h>
#include <hesscope/noise/internal/gradient_rounding.h>
#include <hesscope/noise/internal/outer_products.h>
#include <hesscope/objective/gradient_blocks.h>

namespace hesscope {

using Eigen::MatrixXd;
using Eigen::VectorXd;

GradientCovariance gradient_covariance(const Objective& objective,
                                       const Eigen::Ref<const VectorXd>& theta,
                                       const GradientCovarianceOptions& options,
                                       const ProgressCallback& progress) {
  require_point(objective, "gradient_covariance", theta, objective.all_samples());
  const Executor executor(options.num_threads);
  GradientCovariance result;
  result.num_samples = objective.num_samples();
  result.mean = objective.gradient(theta);
  if (result.num_samples < 2) {
    result.status = Status::kUndefinedTooFewPoints;
    return result;
  }
  const auto num_samples = static_cast<double>(result.num_samples);
  double trace = 0.0;
  MatrixXd sum;
  double largest = 0.0;  // magnitude of a deviation
  const auto add_up = [&](double begin, double end) {
    trace = 0.0;
    if (options.with_matrix) sum = MatrixXd::Zero(theta.size(), theta.size());
    const double factor = std::ldexp(1.0, -result.exponent);
    for_gradient_blocks(
        objective, theta, objective.all_samples(), [&](MatrixXd& gradients, SampleRange samples) {
          gradients.colwise() -= result.mean;
          if (result.exponent != 0) gradients *= factor;
          largest = std::max(largest, gradients.cwiseAbs().maxCoeff());
          trace += gradients.squaredNorm();
          if (options.with_matrix) detail::add_outer_products(gradients, sum, executor);
          const double part = static_cast<double>(samples.end) / num_samples;
          detail::report(progress, std::lerp(begin, end, part));
        });
    trace /= num_samples - 1.0;
    sum /= num_samples - 1.0;
  };
  add_up(0.0, 1.0);
  const bool is_ordinary = trace > 0x1p-200 && trace < 0x1p200;
  if (!is_ordinary && largest > 0.0 && std::isfinite(largest)) {
    result.exponent = detail::exponent_of(largest);
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

bool is_gradient_zero(const GradientCovariance& covariance) {
  using detail::Wide;
  const Wide square = detail::sum_of_squares(covariance.mean);
  if (covariance.status != Status::kOk) return !(square > 0.0);
  const Wide trace = ldexp(Wide(covariance.trace), 2 * covariance.exponent);
  return !(square > detail::rounding_of_square(trace, square));
}

bool is_noise_zero(const GradientCovariance& covariance) {
  using detail::Wide;
  const Wide trace = ldexp(Wide(covariance.trace), 2 * covariance.exponent);
  return !(trace > detail::rounding_of_square(0.0, detail::sum_of_squares(covariance.mean)));
}

double rounding_of_gradients(const GradientCovariance& covariance) {
  using detail::Wide;
  const Wide trace = covariance.status == Status::kOk
                         ? ldexp(Wide(covariance.trace), 2 * covariance.exponent)
                         : Wide(0.0);
  const Wide square = detail::sum_of_squares(covariance.mean);
  return sqrt(detail::rounding_of_square(trace, square)).value();
}

}  // namespace hesscope
