// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/blocks.h>
#include <hesscope/analyzers/internal/block_norms.h>
#include <hesscope/analyzers/internal/group_dimensions.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/option_error.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/spectra/decade_distance.h>
#include <hesscope/spectra/distribution_distance.h>
#include <hesscope/spectra/internal/scaled_matrix.h>
#include <hesscope/spectra/spectral_measure.h>

namespace hesscope {
namespace {

Eigen::Index largest_block(std::span<const ParameterBlock> blocks) {
  Eigen::Index largest = 0;
  for (const ParameterBlock& block : blocks) largest = std::max(largest, block.size);
  return largest;
}

// The distance with kernels of width sigma (0 = the default), on a grid that is fine enough for it;
// NaN if that would take millions of points.
double block_distance(const SpectralMeasure& a, const SpectralMeasure& b, double sigma) {
  if (sigma == 0) return jensen_shannon_distance(a, b);
  const double width = std::max(a.nodes[a.nodes.size() - 1], b.nodes[b.nodes.size() - 1]) -
                       std::min(a.nodes[0], b.nodes[0]);
  constexpr double kPointsPerSigma = 2;
  constexpr double kMarginInSigmas = 8;  // of the default grid, on each side
  const double points = kPointsPerSigma * (width / sigma + 2 * kMarginInSigmas);
  if (!(points < 1e6)) return kNaN;
  return jensen_shannon_distance(
      a, b, {.sigma = sigma, .num_points = std::max<Eigen::Index>(2000, std::lrint(points) + 1)});
}

// Numbers that are rounding of H, with its n rows, are rounding in a block, too, however small it
// is.
void raise_bands(std::span<BandedEigenvalues> spectra, Eigen::Index n) {
  double largest = 0;
  for (const BandedEigenvalues& spectrum : spectra) {
    largest = std::max(largest, spectrum.eigenvalues.cwiseAbs().maxCoeff());
  }
  const double band = detail::rounding_band(n, largest);
  for (BandedEigenvalues& spectrum : spectra) {
    spectrum.zero_band = std::max(spectrum.zero_band, band);
  }
}

// A tensor may have no entries; its block then has no numbers.
std::vector<Eigen::Index> blocks_with_entries(std::span<const ParameterBlock> blocks) {
  std::vector<Eigen::Index> all;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].size > 0) all.push_back(static_cast<Eigen::Index>(b));
  }
  return all;
}

class BlocksAnalyzer final : public Analyzer {
 public:
  explicit BlocksAnalyzer(double sigma) : sigma_(sigma) {}

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    const auto blocks = objective.parameter_blocks();
    return {detail::block_dimension("block_column", objective),
            detail::rank_dimension("block_rank", largest_block(blocks))};
  }

  Cost cost(const Objective& objective) const override {
    const auto blocks = objective.parameter_blocks();
    double share = 0;  // relative to the decomposition of the whole matrix
    for (const ParameterBlock& block : blocks) {
      share += std::pow(
          static_cast<double>(block.size) / static_cast<double>(objective.num_parameters()), 3);
    }
    return {.asks_hessian = true,
            .matrices = 1,
            .decompositions = share,
            .searches = static_cast<double>(blocks.size())};
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    const Eigen::MatrixXd* h = point.hessian();
    if (h == nullptr && point.hessian_status() != Status::kNotComputed) {
      answer.set_rest_missing(point.hessian_status());
      return answer;
    }
    const auto blocks = point.objective().parameter_blocks();
    Eigen::VectorXd gradient_norms(blocks.size());
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      gradient_norms[static_cast<Eigen::Index>(b)] =
          detail::norm(point.gradient().segment(blocks[b].offset, blocks[b].size));
    }
    answer[gradient_norm_].set(gradient_norms);
    if (h != nullptr) {
      describe_blocks(point, *h, answer);
    } else {
      describe_ends(point, answer);
    }
    return answer;
  }

 private:
  // The share of the first `count` blocks in the decompositions of all blocks.
  static double work(std::span<const ParameterBlock> blocks, Eigen::Index count) {
    double first = 0;
    double all = 0;
    for (const ParameterBlock& block : blocks) {
      all += std::pow(static_cast<double>(block.size), 3);
      if (--count >= 0) first = all;
    }
    return all > 0 ? first / all : 0;
  }

  void describe_blocks(PointAnalysis& point, const Eigen::MatrixXd& h, Group& answer) const {
    const auto blocks = point.objective().parameter_blocks();
    const auto count = static_cast<Eigen::Index>(blocks.size());
    Eigen::MatrixXd eigenvalues = Eigen::MatrixXd::Constant(count, largest_block(blocks), kNaN);
    Eigen::MatrixXd ends = Eigen::MatrixXd::Constant(count, 3, kNaN);  // with the lower median
    Eigen::VectorXd traces = Eigen::VectorXd::Zero(count);
    const std::vector<Eigen::Index> present = blocks_with_entries(blocks);
    std::vector<BandedEigenvalues> spectra;  // of those
    Status status = Status::kOk;
    for (const Eigen::Index b : present) {
      const ParameterBlock& rows = blocks[static_cast<std::size_t>(b)];
      const Spectrum spectrum =
          dense_spectrum(h.block(rows.offset, rows.offset, rows.size, rows.size),
                         detail::part_of(point.progress(), work(blocks, b), work(blocks, b + 1)));
      if (spectrum.status != Status::kOk) {
        status = spectrum.status;
        continue;
      }
      eigenvalues.row(b).head(rows.size) = spectrum.eigenvalues.transpose();
      ends.row(b) << spectrum.smallest.value, spectrum.median.value, spectrum.largest.value;
      traces[b] = detail::sum(h.diagonal().segment(rows.offset, rows.size));
      spectra.push_back({spectrum.eigenvalues, spectrum.rounding_band});
    }
    raise_bands(spectra, h.rows());
    answer[frobenius_norm_].set_symmetric(block_norms(h, blocks));
    if (status != Status::kOk) {
      answer.set_rest_missing(status);
      return;
    }
    answer[eigenvalues_].set_rows(eigenvalues, Status::kOk);
    answer[lambda_min_].set(ends.col(0));
    answer[lambda_median_].set(ends.col(1));
    answer[lambda_max_].set(ends.col(2));
    answer[trace_].set(traces);
    const auto store = [&](const Eigen::MatrixXd& distances, VariableId all, VariableId mean) {
      store_distances(distances, present, count, answer[all], answer[mean]);
    };
    store(smoothed_distances(spectra), js_distance_, mean_js_distance_);
    store(decade_distances(spectra), js_distance_decades_, mean_js_distance_decades_);
  }

  Eigen::MatrixXd smoothed_distances(std::span<const BandedEigenvalues> spectra) const {
    const auto count = static_cast<Eigen::Index>(spectra.size());
    std::vector<SpectralMeasure> measures;
    for (const BandedEigenvalues& spectrum : spectra) {
      const bool is_zero = spectrum.eigenvalues.cwiseAbs().maxCoeff() <= spectrum.zero_band;
      measures.push_back(exact_measure(is_zero ? Eigen::VectorXd::Zero(spectrum.eigenvalues.size())
                                               : spectrum.eigenvalues));
    }
    Eigen::MatrixXd distances = Eigen::MatrixXd::Zero(count, count);
    for (Eigen::Index b = 0; b < count; ++b) {
      for (Eigen::Index c = 0; c < b; ++c) {
        distances(b, c) = distances(c, b) = block_distance(
            measures[static_cast<std::size_t>(b)], measures[static_cast<std::size_t>(c)], sigma_);
      }
    }
    return distances;
  }

  // Stores the distances of the present blocks, and their mean over all pairs.
  static void store_distances(const Eigen::MatrixXd& distances,
                              const std::vector<Eigen::Index>& present,
                              Eigen::Index count,
                              Variable& all,
                              Variable& mean) {
    if (!distances.allFinite()) {
      all.set_missing(Status::kFailed);
      mean.set_missing(Status::kFailed);
      return;
    }
    Eigen::MatrixXd of_all = Eigen::MatrixXd::Constant(count, count, kNaN);
    of_all(present, present) = distances;
    all.set_symmetric(of_all);
    const Eigen::Index ordered_pairs = distances.rows() * (distances.rows() - 1);
    mean.set(distances.sum() / static_cast<double>(ordered_pairs),
             ordered_pairs > 0 ? Status::kOk : Status::kUndefinedZeroDenominator);
  }

  // Without a matrix: both ends of each block's spectrum.
  void describe_ends(PointAnalysis& point, Group& answer) const {
    const auto blocks = point.objective().parameter_blocks();
    const auto count = static_cast<double>(blocks.size());
    Eigen::MatrixXd ends = Eigen::MatrixXd::Constant(std::ssize(blocks), 2, kNaN);
    Status status = Status::kOk;
    bool is_proved = true;
    for (const Eigen::Index b : blocks_with_entries(blocks)) {
      const ParameterBlock& rows = blocks[static_cast<std::size_t>(b)];
      const auto begin = static_cast<double>(b);
      const Spectrum spectrum =
          point.ends_of(BlockOperator(point.hessian_operator(), rows.offset, rows.size),
                        detail::part_of(point.progress(), begin / count, (begin + 1) / count));
      if (spectrum.status != Status::kOk) status = spectrum.status;
      is_proved = is_proved && spectrum.proof != Proof::kConverged;
      ends.row(b) << spectrum.smallest.value, spectrum.largest.value;
    }
    if (status == Status::kOk) {
      answer[lambda_min_].set(ends.col(0));
      answer[lambda_max_].set(ends.col(1));
      if (!is_proved) answer[lambda_min_].is_proved = false;
      if (!is_proved) answer[lambda_max_].is_proved = false;
    } else {
      answer[lambda_min_].set_missing(status);
      answer[lambda_max_].set_missing(status);
    }
    answer.set_rest_missing(Status::kNotComputed);
  }

  double sigma_;
  VariableId eigenvalues_ =
      declare({.name = "eigenvalues",
               .dimensions = {"block", "block_rank"},
               .long_name = "eigenvalues of the diagonal blocks",
               .definition = "in ascending order; NaN beyond a block's size"});
  VariableId lambda_min_ =
      declare({.name = "lambda_min",
               .dimensions = {"block"},
               .long_name = "smallest eigenvalues of the diagonal blocks",
               .definition = "eigenvalue of rank 0; NaN for a tensor without entries"});
  VariableId lambda_median_ =
      declare({.name = "lambda_median",
               .dimensions = {"block"},
               .long_name = "lower median eigenvalues of the diagonal blocks",
               .definition =
                   "eigenvalue of rank floor((m - 1) / 2), counted from 0, of a block of m rows"});
  VariableId lambda_max_ = declare({.name = "lambda_max",
                                    .dimensions = {"block"},
                                    .long_name = "largest eigenvalues of the diagonal blocks",
                                    .definition = "eigenvalue of rank m - 1 of a block of m rows"});
  VariableId trace_ = declare({.name = "trace",
                               .dimensions = {"block"},
                               .long_name = "traces of the diagonal blocks",
                               .definition = "sum of the diagonal"});
  VariableId frobenius_norm_ =
      declare({.name = "frobenius_norm",
               .dimensions = {"block", "block_column"},
               .long_name = "Frobenius norms of the blocks",
               .definition = "square root of the sum of the squared entries of H in the rows of "
                             "one parameter tensor and the columns of another"});
  VariableId gradient_norm_ =
      declare({.name = "gradient_norm",
               .dimensions = {"block"},
               .long_name = "norms of the gradient's parts",
               .definition =
                   "Euclidean norm of the gradient with respect to the parameters of one tensor"});
  VariableId js_distance_ = declare(
      {.name = "js_distance",
       .dimensions = {"block", "block_column"},
       .long_name = "Jensen-Shannon distance of the spectra of two diagonal blocks",
       .definition = "square root of the Jensen-Shannon divergence (natural logarithm) of their "
                     "densities, smoothed by a Gaussian of width js-sigma or, by default, 1 % of "
                     "the spectral width of the two or of a thousandth of their largest magnitude, "
                     "whichever is more; if all eigenvalues of a block are zero within rounding, "
                     "as defined for js_distance_decades, they count as exact zeros",
       .references = {papers::kEndres, papers::kZhangY}});
  VariableId mean_js_distance_ =
      declare({.name = "mean_js_distance",
               .long_name = "heterogeneity of the blocks",
               .definition = "mean of js_distance over all pairs of different blocks",
               .references = {papers::kZhangY},
               .undefined = {Status::kUndefinedZeroDenominator},
               .headline = 1});
  VariableId js_distance_decades_ = declare(
      {.name = "js_distance_decades",
       .dimensions = {"block", "block_column"},
       .long_name = "Jensen-Shannon distance of the spectra of two diagonal blocks by decades",
       .definition =
           "square root of the Jensen-Shannon divergence (natural logarithm) of the shares of "
           "their eigenvalues in these classes: zero within the larger of the block's rounding "
           "band and (n + 10) eps M, the rounding of H; and for each sign and k = 0, 1, ..., "
           "10^-(k+1) M < |lambda| <= 10^-k M, where M is the largest magnitude of an eigenvalue "
           "of any block; 0 for equal shares, sqrt(log 2) if no class is shared",
       .references = {papers::kEndres, papers::kZhangY}});
  VariableId mean_js_distance_decades_ =
      declare({.name = "mean_js_distance_decades",
               .long_name = "heterogeneity of the blocks by decades",
               .definition = "mean of js_distance_decades over all pairs of different blocks",
               .references = {papers::kZhangY},
               .undefined = {Status::kUndefinedZeroDenominator},
               .headline = 2});
};

}  // namespace

AnalyzerKind blocks_analyzer() {
  return {
      .name = "blocks",
      .question = "the Hessian by parameter tensors: spectra, norms and distances of its blocks",
      .by_default = false,
      .on_missing = kTakesMatrix,
      .options = {{.name = "js-sigma",
                   .type = SettingKey::Type::kReal,
                   .meaning = "width of the Gaussian that smooths two blocks' spectra before "
                              "they are compared; 0 = 1 % of their range",
                   .fallback = SettingValue(0.0)}},
      .create = [](const Settings& settings) {
        const double sigma = settings.real("js-sigma");
        if (!(sigma >= 0)) {
          throw OptionError("js-sigma", fmt::format("must be at least 0, got {}", sigma));
        }
        return std::make_unique<BlocksAnalyzer>(sigma);
      }};
}

}  // namespace hesscope
