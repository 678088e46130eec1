// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/linalg/internal/triangles.h>
#include <hesscope/spectra/counts.h>
#include <hesscope/spectra/internal/figure_row.h>
#include <hesscope/spectra/internal/first_order_figures.h>
#include <hesscope/spectra/internal/interval_use.h>
#include <hesscope/spectra/internal/jackknife.h>
#include <hesscope/spectra/internal/scaled_matrix.h>
#include <hesscope/spectra/internal/weight_of_others.h>
#include <hesscope/spectra/sampling_error.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {
namespace {

using detail::FigureRow;
using detail::FirstOrderFigures;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using Blocks = std::vector<SampleRange>;

Blocks checked_blocks(const char* function,
                      const Objective& objective,
                      const Eigen::Ref<const VectorXd>& theta,
                      const SamplingErrorOptions& options) {
  require_point(objective, function, theta, objective.all_samples());
  const Index num_samples = objective.num_samples();
  if (options.num_blocks < 2 || options.num_blocks > num_samples) {
    throw PreconditionError(
        fmt::format("{}: num_blocks must be in [2, {}], the number of samples, got {}",
                    function,
                    num_samples,
                    options.num_blocks));
  }
  if (!(options.level > 0.0 && options.level < 1.0)) {
    throw PreconditionError(
        fmt::format("{}: level must be in (0, 1), got {}", function, options.level));
  }
  return detail::sample_blocks(num_samples, options.num_blocks);
}

// H without a block, weighted as for the remaining samples.
class Remainder {
 public:
  Remainder(const Blocks& blocks, std::size_t b) {
    const Index size = blocks[b].size();
    weight_ = static_cast<double>(size) / static_cast<double>(blocks.back().end - size);
  }

  Remainder(const Objective& objective, const Blocks& blocks, std::size_t b)
      : Remainder(blocks, b) {
    others_ = detail::WeightOfOthers(objective, blocks[b]);
  }

  // Replaces H_b by H_(-b), with M = H + N_b / (N - N_b) (H - H_b). Asymmetry from rounding in
  // these may be as large as M: as everywhere, the lower triangle counts.
  void replace(MatrixXd& h, const Eigen::Ref<const MatrixXd>& of_all) const {
    h = of_all + weight_ * (of_all - h);
    others_.apply_to_hessian(1.0, h);
    detail::fill_triangles(Executor(1), detail::Triangle::kLower, 1.0, h);
  }

  // v^T (H_(-b) - H) v for unit vectors v, from v^T H v and v^T H_b v.
  FirstOrderFigures::Forms change(const FirstOrderFigures::Forms& of_all,
                                  const FirstOrderFigures::Forms& of_block) const {
    FirstOrderFigures::Forms plain = weight_ * (of_all - of_block);
    const double c = others_.factor();
    if (c == 1) return plain;
    return c * plain.array() + (c - 1) * (of_all.array() - others_.decay());
  }

  // The magnitude up to which rounding can turn zero into an eigenvalue: the matrix may be far
  // smaller than the terms of the difference that it is.
  double band(Index n, double norm, double norm_of_block) const {
    return detail::rounding_band(
        n, others_.factor() * ((1.0 + weight_) * norm + weight_ * norm_of_block));
  }

 private:
  double weight_;  // N_b / (N - N_b)
  detail::WeightOfOthers others_;
};

// lambda_min is a location, near zero or on both sides of it; the others are scales.
bool has_log_interval(std::size_t figure, double value, const VectorXd& leave_one_out) {
  return figure != index_of(SpectralFigure::kLambdaMin) &&
         (value > 0.0 ? (leave_one_out.array() > 0.0).all()
                      : value < 0.0 && (leave_one_out.array() < 0.0).all());
}

// Logarithms of magnitudes down to the smallest subnormal number; Eigen's vectorised version treats
// those as the smallest normal one.
VectorXd log_magnitudes(const VectorXd& numbers) {
  return numbers.unaryExpr([](double x) { return std::log(std::abs(x)); });
}

// The choice of scale and of bias correction was decided by measured coverage.
void set_interval(std::size_t figure,
                  const VectorXd& leave_one_out,
                  const Blocks& blocks,
                  double t,
                  bool is_noise,
                  SamplingError& error) {
  if (!is_noise && has_log_interval(figure, error.value, leave_one_out)) {
    const VectorXd logs = log_magnitudes(leave_one_out);
    const double log_value = std::log(std::abs(error.value));
    const double factor = std::exp(t * detail::jackknife(log_value, logs, blocks).standard_error);
    error.lower = error.value / factor;
    error.upper = error.value * factor;
    if (error.value < 0.0) std::swap(error.lower, error.upper);
    if (is_at_least_one(static_cast<SpectralFigure>(figure)))
      error.lower = std::max(error.lower, 1.0);
    return;
  }
  const bool is_corrected =
      figure == index_of(SpectralFigure::kLambdaMin) && !std::isnan(error.bias);
  const double center = is_corrected ? error.value - error.bias : error.value;
  error.lower = center - t * error.standard_error;
  error.upper = center + t * error.standard_error;
}

enum class Order { kFirst, kFull };

SamplingErrors summarize(const FigureRow& value,
                         const std::vector<FigureRow>& leave_one_out,
                         const Blocks& blocks,
                         double level,
                         Order order) {
  const auto num_blocks = static_cast<Index>(blocks.size());
  const double t = detail::two_sided_t(level, static_cast<double>(num_blocks - 1));
  SamplingErrors result;
  result.leave_one_out.resize(num_blocks, static_cast<Index>(value.size()));
  for (std::size_t f = 0; f < value.size(); ++f) {
    SamplingError& error = result.figures[f];
    error.value = value[f].value;
    error.status = value[f].status;
    auto column = result.leave_one_out.col(static_cast<Index>(f));
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      column[static_cast<Index>(b)] = leave_one_out[b][f].value;
      if (error.status == Status::kOk) error.status = leave_one_out[b][f].status;
    }
    if (error.status != Status::kOk) continue;
    const detail::Jackknife found = detail::jackknife(error.value, column, blocks);
    error.standard_error = found.standard_error;
    if (order == Order::kFull) error.bias = found.bias;
    const auto figure = static_cast<SpectralFigure>(f);
    const auto is_noise = [figure](const FigureRow& row) {
      return detail::is_rounding_noise(figure, row);
    };
    const bool is_any_noise = is_noise(value) || std::ranges::any_of(leave_one_out, is_noise);
    set_interval(f, column, blocks, t, is_any_noise, error);
    if (!std::isfinite(error.standard_error) || !std::isfinite(error.upper - error.lower)) {
      error = {.status = Status::kNonFinite, .value = error.value};
    }
    if (order == Order::kFull) {
      error.interval = detail::interval_use(figure, value, leave_one_out, blocks, error);
    }
  }
  return result;
}

// v^T H v is computed as the mean of the v^T H_b v, so that the changes average to zero.
SamplingErrors first_order(const Objective& objective,
                           const FirstOrderFigures& figures,
                           const std::vector<FirstOrderFigures::Forms>& forms,
                           const Blocks& blocks,
                           double level) {
  const auto num_samples = static_cast<double>(blocks.back().end);
  FirstOrderFigures::Forms mean = FirstOrderFigures::Forms::Zero();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    mean += static_cast<double>(blocks[b].size()) / num_samples * forms[b];
  }
  const Index n = figures.vectors().rows();
  std::vector<FigureRow> rows;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Remainder others(objective, blocks, b);
    const double of_block = FirstOrderFigures::largest_magnitude(forms[b]);
    rows.push_back(
        figures.at(others.change(mean, forms[b]), others.band(n, figures.norm(), of_block)));
  }
  return summarize(figures.at_zero(), rows, blocks, level, Order::kFirst);
}

SpectralEigenpairs eigenpairs_of(const Eigen::Ref<const MatrixXd>& hessian,
                                 const VectorXd& eigenvalues,
                                 const ProgressCallback& progress) {
  EigenvalueCounter counter(hessian, progress);
  const auto of_rank = [&](Index rank) {
    return Eigenpair{eigenvalues[rank], counter.eigenvalue(rank).vector};
  };
  const VectorXd magnitudes = eigenvalues.cwiseAbs();
  const Index n = eigenvalues.size();
  const Index of_median_magnitude =
      std::find(magnitudes.begin(), magnitudes.end(), lower_median(magnitudes)) -
      magnitudes.begin();
  return {of_rank(n - 1), of_rank(0), of_rank((n - 1) / 2), of_rank(of_median_magnitude)};
}

// A median with another sign than that of H has passed through zero.
void require_sign_of_median(const FigureRow& of_h, FigureRow& row) {
  const double median = row[index_of(SpectralFigure::kLambdaMedian)].value;
  Statistic& ratio = row[index_of(SpectralFigure::kRobustEigenvalue)];
  if (ratio.status == Status::kOk &&
      std::signbit(median) != std::signbit(of_h[index_of(SpectralFigure::kLambdaMedian)].value)) {
    ratio = missing_statistic(Status::kUndefinedZeroMedian);
  }
}

// The figures of `h`, a difference of matrices; an eigenvalue within `band` counts as zero.
FigureRow figures_without(const Eigen::Ref<const MatrixXd>& h,
                          double band,
                          const FigureRow& of_all,
                          const ProgressCallback& progress) {
  FigureRow row = detail::spectral_figures(h.diagonal(), dense_spectrum(h, progress, band));
  require_sign_of_median(of_all, row);
  return row;
}

SamplingErrors nothing(Status status, const Blocks& blocks, double level) {
  const FigureRow row = detail::no_figures(status);
  return summarize(row, std::vector<FigureRow>(blocks.size(), row), blocks, level, Order::kFull);
}

}  // namespace

SamplingErrors first_order_sampling_errors(const Objective& objective,
                                           const Eigen::Ref<const VectorXd>& theta,
                                           const SpectralEigenpairs& eigenpairs,
                                           const SamplingErrorOptions& options) {
  constexpr const char* kFunction = "first_order_sampling_errors";
  const Blocks blocks = checked_blocks(kFunction, objective, theta, options);
  const auto require_vector = [&](const char* name, const Eigenpair& pair) {
    if (pair.vector.size() != 0 && pair.vector.size() != theta.size()) {
      throw PreconditionError(fmt::format("{}: the eigenvector {} must have {} entries, got {}",
                                          kFunction,
                                          name,
                                          theta.size(),
                                          pair.vector.size()));
    }
  };
  require_vector("largest", eigenpairs.largest);
  require_vector("smallest", eigenpairs.smallest);
  require_vector("median", eigenpairs.median);
  require_vector("median_magnitude", eigenpairs.median_magnitude);
  const FirstOrderFigures figures(eigenpairs, theta.size());
  std::vector<FirstOrderFigures::Forms> forms;
  for (const SampleRange& block : blocks) {
    const MatrixXd product = objective.hessian_times(theta, figures.vectors(), block);
    forms.push_back(figures.forms(product, VectorXd()));
  }
  return first_order(objective, figures, forms, blocks, options.level);
}

SamplingErrorEstimates sampling_errors(const Objective& objective,
                                       const Eigen::Ref<const VectorXd>& theta,
                                       const Eigen::Ref<const MatrixXd>& hessian,
                                       const SamplingErrorOptions& options,
                                       const ProgressCallback& progress) {
  const Blocks blocks = checked_blocks("sampling_errors", objective, theta, options);
  detail::require_symmetric_shape("sampling_errors", hessian);
  if (hessian.rows() != theta.size()) {
    throw PreconditionError(fmt::format(
        "sampling_errors: hessian must have {} rows, got {}", theta.size(), hessian.rows()));
  }
  // Two decompositions of the whole, and for each block a Hessian and a decomposition.
  const auto num_parts = 2.0 + static_cast<double>(blocks.size());
  const auto part = [&](double begin, double end) {
    return detail::part_of(progress, begin / num_parts, end / num_parts);
  };
  const Spectrum spectrum = dense_spectrum(hessian, part(0.0, 1.0));
  if (spectrum.status != Status::kOk) {
    const SamplingErrors none = nothing(spectrum.status, blocks, options.level);
    return {none, none};
  }
  const FigureRow value = detail::spectral_figures(hessian.diagonal(), spectrum);
  FirstOrderFigures figures(eigenpairs_of(hessian, spectrum.eigenvalues, part(1.0, 2.0)),
                            theta.size());
  figures.set_diagonal(hessian.diagonal());

  std::vector<FirstOrderFigures::Forms> forms;
  std::vector<FigureRow> rows;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const double begin = 2.0 + static_cast<double>(b);
    MatrixXd h = objective.hessian(theta, blocks[b], part(begin, begin + 0.5));
    {
      const detail::SingleThreadedBlas one_thread;
      forms.push_back(figures.forms(detail::symmetric_times(h, figures.vectors()), h.diagonal()));
    }
    const Remainder others(objective, blocks, b);
    const double band = others.band(theta.size(), spectrum.norm(), detail::norm(h));
    others.replace(h, hessian);
    rows.push_back(figures_without(h, band, value, part(begin + 0.5, begin + 1.0)));
  }
  detail::report(progress, 1.0);
  return {summarize(value, rows, blocks, options.level, Order::kFull),
          first_order(objective, figures, forms, blocks, options.level)};
}

BlockSamplingErrors sampling_errors_of_blocks(std::span<const MatrixXd> blocks,
                                              double level,
                                              const ProgressCallback& progress) {
  constexpr const char* kFunction = "sampling_errors_of_blocks";
  const auto count = std::ssize(blocks);
  if (count < 2 || !(level > 0.0 && level < 1.0)) {
    throw PreconditionError(
        fmt::format("{}: there must be two blocks and a level in (0, 1), got {} and {}",
                    kFunction,
                    count,
                    level));
  }
  for (const MatrixXd& block : blocks) {
    detail::require_symmetric_shape(kFunction, block);
    if (block.rows() == blocks.front().rows()) continue;
    throw PreconditionError(fmt::format("{}: blocks must be of one size, got {} and {} rows",
                                        kFunction,
                                        blocks.front().rows(),
                                        block.rows()));
  }
  const Blocks units = detail::sample_blocks(count, count);
  const auto num_parts = static_cast<double>(count + 1);
  MatrixXd mean = blocks.front();
  for (const MatrixXd& block : blocks.subspan(1)) mean += block;
  mean /= static_cast<double>(count);
  // If blocks cancel, their asymmetry from rounding is a large part of their mean.
  detail::fill_triangles(Executor(1), detail::Triangle::kLower, 1.0, mean);
  double largest_norm = 0;
  for (const MatrixXd& block : blocks) largest_norm = std::max(largest_norm, detail::norm(block));
  Spectrum spectrum = dense_spectrum(mean,
                                     detail::part_of(progress, 0.0, 1.0 / num_parts),
                                     detail::rounding_band(mean.rows(), largest_norm));
  if (spectrum.status != Status::kOk) {
    return {nothing(spectrum.status, units, level), std::move(spectrum)};
  }
  const FigureRow value = detail::spectral_figures(mean.diagonal(), spectrum);
  std::vector<FigureRow> rows;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const auto part = static_cast<double>(b + 1);
    const Remainder others(units, b);
    MatrixXd h = blocks[b];
    const double band = others.band(mean.rows(), spectrum.norm(), detail::norm(h));
    others.replace(h, mean);
    rows.push_back(figures_without(
        h, band, value, detail::part_of(progress, part / num_parts, (part + 1.0) / num_parts)));
  }
  return {summarize(value, rows, units, level, Order::kFull), std::move(spectrum)};
}

SamplingErrorEstimates sampling_errors(const Objective& objective,
                                       const Eigen::Ref<const VectorXd>& theta,
                                       const SamplingErrorOptions& options,
                                       const ProgressCallback& progress) {
  checked_blocks("sampling_errors", objective, theta, options);
  // The Hessian over all samples costs as much as those of the blocks, without decompositions.
  constexpr double kFirst = 1.0 / 3.0;
  const MatrixXd hessian =
      objective.hessian(theta, objective.all_samples(), detail::part_of(progress, 0.0, kFirst));
  return sampling_errors(
      objective, theta, hessian, options, detail::part_of(progress, kFirst, 1.0));
}

}  // namespace hesscope
