// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/noise/batch_sharpness.h>
#include <hesscope/noise/internal/gradient_rounding.h>
#include <hesscope/objective/gradient_blocks.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The largest magnitude among the entries of g and all g_i; NaN and infinity are returned
// unchanged.
double largest_entry(const Objective& objective,
                     const Eigen::Ref<const VectorXd>& theta,
                     const VectorXd& gradient) {
  bool has_nan = gradient.hasNaN();
  double largest = gradient.lpNorm<Eigen::Infinity>();
  for_gradient_blocks(
      objective, theta, objective.all_samples(), [&](MatrixXd& gradients, SampleRange /*samples*/) {
        has_nan = has_nan || gradients.hasNaN();
        largest = std::max(largest, gradients.lpNorm<Eigen::Infinity>());
      });
  return has_nan ? kNaN : largest;
}

}  // namespace

BatchMoments batch_moments(const Objective& objective,
                           const Eigen::Ref<const VectorXd>& theta,
                           const SymmetricOperator& hessian,
                           const ProgressCallback& progress) {
  require_point(objective, "batch_moments", theta, objective.all_samples());
  if (hessian.rows() != theta.size()) {
    throw PreconditionError(fmt::format(
        "batch_moments: hessian must be of {} parameters, got {}", theta.size(), hessian.rows()));
  }
  BatchMoments moments;
  moments.num_samples = objective.num_samples();
  VectorXd gradient = objective.gradient(theta);
  const double largest = largest_entry(objective, theta, gradient);
  moments.status = Status::kNonFinite;
  if (!std::isfinite(largest)) return moments;
  if (largest != 0.0) moments.exponent = detail::exponent_of(largest);
  const double factor = std::ldexp(1.0, -moments.exponent);
  gradient *= factor;
  const auto count = static_cast<double>(moments.num_samples);
  double variance = 0.0;
  double noise_curvature = 0.0;
  double cross_curvature = 0.0;
  double own_curvature = 0.0;
  for_gradient_blocks(
      objective, theta, objective.all_samples(), [&](MatrixXd& gradients, SampleRange samples) {
        gradients *= factor;
        gradients.colwise() -= gradient;
        const MatrixXd& s = gradients;
        variance += s.squaredNorm() / count;
        noise_curvature += s.cwiseProduct(hessian.apply(s)).sum() / count;
        const MatrixXd own = objective.per_sample_hessian_times(theta, s, samples);
        own_curvature += s.cwiseProduct(own).sum() / count;
        cross_curvature += gradient.dot(own.rowwise().sum()) / count;
        detail::report(progress, static_cast<double>(samples.end) / count);
      });
  moments.gradient_square = gradient.squaredNorm();
  moments.variance = variance;
  moments.gradient_curvature = gradient.dot(hessian.apply(gradient).col(0));
  moments.noise_curvature = noise_curvature;
  moments.cross_curvature = cross_curvature;
  moments.own_curvature = own_curvature;
  const bool is_finite = std::isfinite(moments.gradient_curvature) &&
                         std::isfinite(noise_curvature) && std::isfinite(cross_curvature) &&
                         std::isfinite(own_curvature);
  if (!is_finite) return {.status = Status::kNonFinite, .num_samples = moments.num_samples};
  moments.status = Status::kOk;
  return moments;
}

Statistic batch_sharpness(const BatchMoments& moments, Index batch_size, double rounding) {
  if (batch_size < 1 || batch_size > moments.num_samples) {
    throw PreconditionError(fmt::format("batch_sharpness: batch_size must be from 1 to {}, got {}",
                                        moments.num_samples,
                                        batch_size));
  }
  if (moments.status != Status::kOk) return missing_statistic(moments.status);
  const auto count = static_cast<double>(moments.num_samples);
  const auto size = static_cast<double>(batch_size);
  const double second =
      batch_size == moments.num_samples ? 0.0 : (count - size) / (size * (count - 1.0));
  const double third =
      moments.num_samples == 2 ? 0.0 : second * (count - 2.0 * size) / (size * (count - 2.0));
  const double square = moments.gradient_square + second * moments.variance;
  constexpr double kBand = detail::kGradientRounding * detail::kGradientRounding;
  const double scaled_rounding = std::ldexp(rounding, -moments.exponent);
  if (!(square > kBand * (moments.gradient_square + moments.variance)) ||
      !(square > scaled_rounding * scaled_rounding)) {
    return missing_statistic(Status::kUndefinedZeroDenominator);
  }
  const double curvature = moments.gradient_curvature +
                           second * (2.0 * moments.cross_curvature + moments.noise_curvature) +
                           third * (moments.own_curvature - moments.noise_curvature);
  return finite_statistic(curvature / square);
}

}  // namespace hesscope
