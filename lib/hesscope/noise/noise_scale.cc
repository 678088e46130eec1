// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/noise/internal/covariance_over.h>
#include <hesscope/noise/internal/gradient_rounding.h>
#include <hesscope/noise/internal/outer_products.h>
#include <hesscope/noise/noise_scale.h>
#include <hesscope/objective/gradient_blocks.h>
#include <hesscope/spectra/internal/jackknife.h>
#include <hesscope/spectra/internal/scaled_matrix.h>
#include <hesscope/spectra/internal/weight_of_others.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr const char* kNoiseScales = "noise_scales";
using detail::Wide;

// A ratio, and the bound below which its denominator counts as zero. Squares of gradients may be
// out of the range of double although their ratio is not.
struct Ratio {
  Wide numerator;
  Wide denominator;
  Wide band;
  bool has_gradient;  // beyond rounding

  bool is_defined() const { return has_gradient && abs(denominator) > band; }

  double value() const { return (numerator / denominator).value(); }
};

// `band` is that of all samples even if some are omitted: the result of the subtraction has the
// rounding error of its operands.
Ratio simple_ratio(const Wide& trace, const VectorXd& gradient, const Wide& band) {
  const Wide square = detail::sum_of_squares(gradient);
  return {trace, square, band, square > band};
}

// 2^-exponent if the largest magnitude is far from 1; otherwise 1, so that ordinary results do not
// change.
double factor_for(double largest) {
  const bool is_ordinary = largest > 0x1p-200 && largest < 0x1p200;
  return is_ordinary || largest == 0.0 ? 1.0 : std::ldexp(1.0, -detail::exponent_of(largest));
}

// `scatter` is `count` times S / 4^exponent. Any multiple of the Hessian may be passed. Along a
// gradient that is pure rounding error according to `simple`, there is no curvature.
Ratio hessian_ratio(const Eigen::Ref<const MatrixXd>& hessian,
                    const MatrixXd& scatter,
                    double count,
                    int exponent,
                    const VectorXd& gradient,
                    const Ratio& simple,
                    double norm_of_all) {
  const double factor = factor_for(gradient.cwiseAbs().maxCoeff());
  const VectorXd g = factor * gradient;
  const Wide square = Wide(factor) * factor;
  const double norm = std::max(detail::norm(hessian), norm_of_all);
  const double band = detail::rounding_band(g.size(), norm);
  return {ldexp(Wide(hessian.cwiseProduct(scatter).sum() / count), std::int64_t{2} * exponent),
          Wide(g.dot(hessian * g)) / square,
          Wide(band) * g.squaredNorm() / square,
          simple.has_gradient};
}

bool is_negative(const Wide& x) { return x < 0.0; }

NoiseScale missing_scale(Status status) {
  const Statistic none = missing_statistic(status);
  return {none, none, none};
}

NoiseScale scale_of(const Ratio& all,
                    const std::vector<Ratio>& leave_one_out,
                    const std::vector<SampleRange>& blocks) {
  if (!isfinite(all.numerator) || !isfinite(all.denominator)) {
    return missing_scale(Status::kNonFinite);
  }
  if (!all.is_defined()) return missing_scale(Status::kUndefinedZeroDenominator);
  NoiseScale scale;
  scale.value = finite_statistic(all.value());
  if (scale.value.status != Status::kOk) return scale;
  if (leave_one_out.empty()) {
    scale.bias = missing_statistic(Status::kUndefinedTooFewPoints);
    scale.standard_error = scale.bias;
    return scale;
  }
  VectorXd values(static_cast<Index>(leave_one_out.size()));
  for (std::size_t b = 0; b < leave_one_out.size(); ++b) {
    const Ratio& ratio = leave_one_out[b];
    if (!ratio.is_defined() || is_negative(ratio.denominator) != is_negative(all.denominator)) {
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

// Sums over the samples of a block of d_i = (s_i - g) / 2^exponent, with the covariance's exponent.
struct BlockSums {
  VectorXd deviation;    // sum d_i
  double squares = 0.0;  // sum |d_i|^2
  MatrixXd scatter;      // sum d_i d_i^T, if wanted
};

BlockSums block_sums(const Objective& objective,
                     const Eigen::Ref<const VectorXd>& theta,
                     SampleRange block,
                     const GradientCovariance& covariance,
                     bool with_scatter,
                     const Executor& executor) {
  const Index n = theta.size();
  const double factor = std::ldexp(1.0, -covariance.exponent);
  BlockSums sums{VectorXd::Zero(n), 0.0, MatrixXd()};
  if (with_scatter) sums.scatter = MatrixXd::Zero(n, n);
  for_gradient_blocks(objective, theta, block, [&](MatrixXd& gradients, SampleRange /*samples*/) {
    gradients.colwise() -= covariance.mean;
    if (factor != 1.0) gradients *= factor;
    sums.deviation += gradients.rowwise().sum();
    sums.squares += gradients.squaredNorm();
    if (with_scatter) detail::add_outer_products(gradients, sums.scatter, executor);
  });
  return sums;
}

// The Hessian over the samples outside a block, scaled by a power of two if it is far from 1.
MatrixXd hessian_over(const Objective& objective,
                      const Eigen::Ref<const VectorXd>& theta,
                      const detail::SampleRanges& ranges,
                      const detail::WeightOfOthers& weight) {
  const auto count = static_cast<double>(detail::num_samples_of(ranges));
  MatrixXd h = MatrixXd::Zero(theta.size(), theta.size());
  for (const SampleRange& range : ranges) {
    h += static_cast<double>(range.size()) / count * objective.hessian(theta, range, {});
  }
  weight.apply_to_hessian(1.0, h);
  const double factor = factor_for(h.cwiseAbs().maxCoeff());
  if (factor != 1.0) h *= factor;
  return h;
}

struct Ratios {
  Ratio simple;
  std::optional<Ratio> hessian;
};

// For samples with this covariance and, optionally, with a multiple of their Hessian.
Ratios ratios_of(const GradientCovariance& covariance, const Eigen::Ref<const MatrixXd>* hessian) {
  const Wide trace = ldexp(Wide(covariance.trace), std::int64_t{2} * covariance.exponent);
  const Wide square = detail::sum_of_squares(covariance.mean);
  Ratios ratios{simple_ratio(trace, covariance.mean, detail::rounding_of_square(trace, square)),
                {}};
  if (hessian != nullptr) {
    ratios.hessian = hessian_ratio(
        *hessian, covariance.matrix, 1.0, covariance.exponent, covariance.mean, ratios.simple, 0.0);
  }
  return ratios;
}

Ratios no_finite_ratios() {
  const Ratio ratio{kNaN, 1.0, 0.0, true};
  return {ratio, ratio};
}

// The ratios without a block of samples.
class LeaveOneOut {
 public:
  // Any multiple of the Hessian may be passed. `covariance` and `hessian` must outlive the object.
  LeaveOneOut(const Objective& objective,
              const Eigen::Ref<const VectorXd>& theta,
              const GradientCovariance& covariance,
              const Eigen::Ref<const MatrixXd>* hessian,
              double factor_of_h,
              const NoiseScaleOptions& options)
      : objective_(objective),
        theta_(theta),
        covariance_(covariance),
        hessian_(hessian),
        factor_of_h_(factor_of_h),
        norm_of_h_(hessian != nullptr ? detail::norm(*hessian) : 0.0),
        num_threads_(options.num_threads),
        executor_(options.num_threads) {}

  // Requires that two or more samples remain. With D, Q and P the sums over a block b of N_b
  // samples,
  //   mean of the d_i:   m = -D / (N - N_b), as the sum over all samples is zero
  //   gradient:          g + 2^exponent m
  //   scatter about it:  (N - 1) S - P - (N - N_b) m m^T
  //   Hessian:           H + N_b / (N - N_b) (H - H_b),
  // all of them weighted as for the remaining samples. If nearly all of the scatter is in b, these
  // differences are rounding errors.
  Ratios without(SampleRange block) const {
    const detail::WeightOfOthers weight(objective_, block);
    if (weight.is_none()) return no_finite_ratios();
    BlockSums sums =
        block_sums(objective_, theta_, block, covariance_, hessian_ != nullptr, executor_);
    const auto count = static_cast<double>(covariance_.num_samples);
    const double rest = count - static_cast<double>(block.size());
    const VectorXd m = sums.deviation / -rest;
    const double of_all = (count - 1.0) * covariance_.trace;
    const double squares = of_all - sums.squares - rest * m.squaredNorm();
    if (squares < kSmallRest * of_all) {
      sums.scatter.resize(0, 0);
      return of_others_alone(block, weight);
    }
    const int exponent = covariance_.exponent;
    const VectorXd& g = covariance_.mean;
    VectorXd gradient = g + std::ldexp(1.0, exponent) * m;
    weight.apply_to_gradient(theta_, gradient);
    const Wide trace = ldexp(Wide(covariance_.trace), std::int64_t{2} * exponent);
    Ratios ratios{
        simple_ratio(
            weight.square() * ldexp(Wide(squares / (rest - 1.0)), std::int64_t{2} * exponent),
            gradient,
            weight.square() * detail::rounding_of_square(trace, detail::sum_of_squares(g))),
        {}};
    if (hessian_ == nullptr) return ratios;
    MatrixXd h = objective_.hessian(theta_, block, {});
    if (factor_of_h_ != 1.0) h *= factor_of_h_;
    h = *hessian_ + static_cast<double>(block.size()) / rest * (*hessian_ - h);
    weight.apply_to_hessian(factor_of_h_, h);
    MatrixXd& scatter = sums.scatter;
    scatter = (count - 1.0) * covariance_.matrix - scatter;
    scatter.noalias() -= (rest * m) * m.transpose();
    ratios.hessian = hessian_ratio(
        h, scatter, (rest - 1.0) / weight.square(), exponent, gradient, ratios.simple, norm_of_h_);
    return ratios;
  }

 private:
  // Relative to all squares. At most two blocks can leave so little.
  static constexpr double kSmallRest = 1.0 / 16.0;

  Ratios of_others_alone(SampleRange block, const detail::WeightOfOthers& weight) const {
    const detail::SampleRanges others = detail::samples_without(block, covariance_.num_samples);
    GradientCovariance covariance =
        detail::covariance_over(objective_,
                                theta_,
                                others,
                                {.with_matrix = hessian_ != nullptr, .num_threads = num_threads_});
    if (covariance.status != Status::kOk) return no_finite_ratios();
    weight.apply_to_gradient(theta_, covariance.mean);
    covariance.trace *= weight.square();
    covariance.matrix *= weight.square();
    if (hessian_ == nullptr) return ratios_of(covariance, nullptr);
    const MatrixXd h = hessian_over(objective_, theta_, others, weight);
    const Eigen::Ref<const MatrixXd> hessian = h;
    return ratios_of(covariance, &hessian);
  }

  const Objective& objective_;
  const Eigen::Ref<const VectorXd>& theta_;
  const GradientCovariance& covariance_;
  const Eigen::Ref<const MatrixXd>* hessian_;
  double factor_of_h_;
  double norm_of_h_;
  int num_threads_;
  Executor executor_;
};

NoiseScales scales(const Objective& objective,
                   const Eigen::Ref<const VectorXd>& theta,
                   const GradientCovariance& covariance,
                   const Eigen::Ref<const MatrixXd>* hessian,
                   const NoiseScaleOptions& options,
                   const ProgressCallback& progress) {
  const Index num_samples = covariance.num_samples;
  const std::vector<SampleRange> blocks =
      detail::sample_blocks(num_samples, std::min(options.num_blocks, num_samples));
  // Both scales are the same for multiples of H.
  const double factor_of_h = hessian != nullptr ? factor_for(hessian->cwiseAbs().maxCoeff()) : 1.0;
  MatrixXd scaled;
  if (factor_of_h != 1.0) scaled = factor_of_h * *hessian;
  const Eigen::Ref<const MatrixXd> h_of_all =
      factor_of_h != 1.0 || hessian == nullptr ? Eigen::Ref<const MatrixXd>(scaled) : *hessian;
  const Eigen::Ref<const MatrixXd>* h = hessian != nullptr ? &h_of_all : nullptr;
  const LeaveOneOut leave_one_out(objective, theta, covariance, h, factor_of_h, options);
  std::vector<Ratio> simple;
  std::vector<Ratio> by_hessian;
  for (const SampleRange& block : blocks) {
    if (num_samples - block.size() < 2) break;
    const Ratios ratios = leave_one_out.without(block);
    simple.push_back(ratios.simple);
    if (ratios.hessian) by_hessian.push_back(*ratios.hessian);
    detail::report(progress, static_cast<double>(block.end) / static_cast<double>(num_samples));
  }
  const Ratios of_all = ratios_of(covariance, h);
  NoiseScales result;
  result.simple = scale_of(of_all.simple, simple, blocks);
  if (of_all.hessian) result.hessian = scale_of(*of_all.hessian, by_hessian, blocks);
  return result;
}

void require_arguments(const Objective& objective,
                       const Eigen::Ref<const VectorXd>& theta,
                       const GradientCovariance& covariance,
                       const NoiseScaleOptions& options) {
  require_point(objective, kNoiseScales, theta, objective.all_samples());
  if (covariance.num_samples != objective.num_samples() || covariance.mean.size() != theta.size()) {
    throw PreconditionError(
        fmt::format("{}: covariance must be of {} samples and {} parameters, got {} and {}",
                    kNoiseScales,
                    objective.num_samples(),
                    theta.size(),
                    covariance.num_samples,
                    covariance.mean.size()));
  }
  if (options.num_blocks < 2) {
    throw PreconditionError(
        fmt::format("{}: num_blocks must be at least 2, got {}", kNoiseScales, options.num_blocks));
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
                    kNoiseScales,
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
