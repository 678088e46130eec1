// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/noise/gradient_blocks.h>
#include <hesscope/noise/noise_scale.h>
#include <hesscope/spectra/jackknife.h>
#include <hesscope/spectra/scaled_matrix.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr const char* kFunction = "noise_scales";
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// A ratio with what its denominator is told from zero by.
struct Ratio {
  double numerator;
  double denominator;
  double band;

  bool is_defined() const { return std::abs(denominator) > band; }

  double value() const { return numerator / denominator; }
};

Ratio simple_ratio(double trace, const VectorXd& gradient) {
  const double square = gradient.squaredNorm();
  return {trace, square, 256.0 * kEpsilon * kEpsilon * (trace + square)};
}

// `scatter` is S times `count`.
Ratio hessian_ratio(const Eigen::Ref<const MatrixXd>& hessian,
                    const MatrixXd& scatter,
                    double count,
                    const VectorXd& gradient) {
  const double band = detail::rounding_band(gradient.size(), hessian.norm());
  return {hessian.cwiseProduct(scatter).sum() / count,
          gradient.dot(hessian * gradient),
          band * gradient.squaredNorm()};
}

NoiseScale missing_scale(Status status) {
  const Statistic none = missing_statistic(status);
  return {none, none, none};
}

NoiseScale scale_of(const Ratio& all,
                    const std::vector<Ratio>& leave_one_out,
                    const std::vector<SampleRange>& blocks) {
  if (!std::isfinite(all.numerator) || !std::isfinite(all.denominator)) {
    return missing_scale(Status::kNonFinite);
  }
  if (!all.is_defined()) return missing_scale(Status::kUndefinedZeroDenominator);
  NoiseScale scale;
  scale.value = finite_statistic(all.value());
  if (leave_one_out.empty() || scale.value.status != Status::kOk) return scale;
  VectorXd values(static_cast<Index>(leave_one_out.size()));
  for (std::size_t b = 0; b < leave_one_out.size(); ++b) {
    const Ratio& ratio = leave_one_out[b];
    if (!ratio.is_defined() || std::signbit(ratio.denominator) != std::signbit(all.denominator)) {
      scale.bias = missing_statistic(Status::kUndefinedZeroDenominator);
      scale.standard_error = scale.bias;
      return scale;
    }
    values[static_cast<Index>(b)] = ratio.value();
  }
  const detail::Jackknife found = detail::jackknife(scale.value.value, values, blocks);
  scale.bias = finite_statistic(found.bias);
  scale.standard_error = finite_statistic(found.standard_error);
  return scale;
}

// Sums over the samples of a block, d_i = s_i - g.
struct BlockSums {
  VectorXd deviation;    // sum d_i
  double squares = 0.0;  // sum |d_i|^2
  MatrixXd scatter;      // sum d_i d_i^T, if wanted
};

BlockSums block_sums(const Objective& objective,
                     const Eigen::Ref<const VectorXd>& theta,
                     SampleRange block,
                     const VectorXd& mean,
                     bool with_scatter,
                     const Executor& executor) {
  const Index n = theta.size();
  BlockSums sums{VectorXd::Zero(n), 0.0, MatrixXd()};
  if (with_scatter) sums.scatter = MatrixXd::Zero(n, n);
  detail::for_gradient_blocks(
      objective, theta, block, [&](MatrixXd& gradients, SampleRange /*samples*/) {
        gradients.colwise() -= mean;
        sums.deviation += gradients.rowwise().sum();
        sums.squares += gradients.squaredNorm();
        if (with_scatter) detail::add_outer_products(gradients, sums.scatter, executor);
      });
  return sums;
}

// Without block b, of N_b samples: with D, Q and P its sums,
//   mean of the d_i:   m = -D / (N - N_b), as the sum over all samples is zero
//   gradient:          g + m
//   scatter about it:  (N - 1) S - P - (N - N_b) m m^T
//   Hessian:           H + N_b / (N - N_b) (H - H_b).
NoiseScales scales(const Objective& objective,
                   const Eigen::Ref<const VectorXd>& theta,
                   const GradientCovariance& covariance,
                   const Eigen::Ref<const MatrixXd>* hessian,
                   const NoiseScaleOptions& options,
                   const ProgressCallback& progress) {
  const Executor executor(options.num_threads);
  const Index num_samples = covariance.num_samples;
  const std::vector<SampleRange> blocks =
      detail::sample_blocks(num_samples, std::min(options.num_blocks, num_samples));
  const auto count = static_cast<double>(num_samples);
  const VectorXd& g = covariance.mean;
  std::vector<Ratio> simple;
  std::vector<Ratio> by_hessian;
  for (const SampleRange& block : blocks) {
    const auto size = static_cast<double>(block.size());
    const double rest = count - size;
    if (!(rest > 1.0)) break;
    BlockSums sums = block_sums(objective, theta, block, g, hessian != nullptr, executor);
    const VectorXd m = sums.deviation / -rest;
    const VectorXd gradient = g + m;
    const double squares = (count - 1.0) * covariance.trace - sums.squares - rest * m.squaredNorm();
    simple.push_back(simple_ratio(squares / (rest - 1.0), gradient));
    if (hessian != nullptr) {
      MatrixXd h = objective.hessian(theta, block, {});
      h = *hessian + size / rest * (*hessian - h);
      MatrixXd& scatter = sums.scatter;
      scatter = (count - 1.0) * covariance.matrix - scatter;
      scatter.noalias() -= (rest * m) * m.transpose();
      by_hessian.push_back(hessian_ratio(h, scatter, rest - 1.0, gradient));
    }
    detail::report(progress, static_cast<double>(block.end) / count);
  }
  NoiseScales result;
  result.simple = scale_of(simple_ratio(covariance.trace, g), simple, blocks);
  if (hessian != nullptr) {
    result.hessian =
        scale_of(hessian_ratio(*hessian, covariance.matrix, 1.0, g), by_hessian, blocks);
  }
  return result;
}

void require_arguments(const Objective& objective,
                       const Eigen::Ref<const VectorXd>& theta,
                       const GradientCovariance& covariance,
                       const NoiseScaleOptions& options) {
  require_point(objective, kFunction, theta, objective.all_samples());
  if (covariance.num_samples != objective.num_samples() || covariance.mean.size() != theta.size()) {
    throw PreconditionError(
        fmt::format("{}: covariance must be of {} samples and {} parameters, got {} and {}",
                    kFunction,
                    objective.num_samples(),
                    theta.size(),
                    covariance.num_samples,
                    covariance.mean.size()));
  }
  if (options.num_blocks < 2) {
    throw PreconditionError(
        fmt::format("{}: num_blocks must be at least 2, got {}", kFunction, options.num_blocks));
  }
}

}  // namespace

NoiseScales noise_scales(const Objective& objective,
                         const Eigen::Ref<const VectorXd>& theta,
                         const GradientCovariance& covariance,
                         const NoiseScaleOptions& options,
                         const ProgressCallback& progress) {
  require_arguments(objective, theta, covariance, options);
  if (covariance.status != Status::kOk) {
    return {missing_scale(covariance.status), NoiseScale()};
  }
  return scales(objective, theta, covariance, nullptr, options, progress);
}

NoiseScales noise_scales(const Objective& objective,
                         const Eigen::Ref<const VectorXd>& theta,
                         const GradientCovariance& covariance,
                         const Eigen::Ref<const MatrixXd>& hessian,
                         const NoiseScaleOptions& options,
                         const ProgressCallback& progress) {
  require_arguments(objective, theta, covariance, options);
  const Index n = theta.size();
  const bool has_matrix = covariance.status != Status::kOk || covariance.matrix.rows() == n;
  if (hessian.rows() != n || hessian.cols() != n || !has_matrix) {
    throw PreconditionError(
        fmt::format("{}: hessian and the covariance's matrix must be {} x {}, got {} x {} and {} "
                    "x {}",
                    kFunction,
                    n,
                    n,
                    hessian.rows(),
                    hessian.cols(),
                    covariance.matrix.rows(),
                    covariance.matrix.cols()));
  }
  if (covariance.status != Status::kOk) {
    return {missing_scale(covariance.status), missing_scale(covariance.status)};
  }
  if (!hessian.allFinite()) {
    NoiseScales result = scales(objective, theta, covariance, nullptr, options, progress);
    result.hessian = missing_scale(Status::kNonFinite);
    return result;
  }
  return scales(objective, theta, covariance, &hessian, options, progress);
}

}  // namespace hesscope
