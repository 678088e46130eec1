// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/group_dimensions.h>
#include <hesscope/analyzers/internal/noise_options.h>
#include <hesscope/analyzers/internal/noise_quantities.h>
#include <hesscope/analyzers/noise.h>
#include <hesscope/core/error.h>
#include <hesscope/noise/fresh_minibatch_noise.h>
#include <hesscope/noise/gradient_covariance.h>
#include <hesscope/noise/minibatch_noise.h>
#include <hesscope/noise/noise_alignment.h>
#include <hesscope/noise/noise_scale.h>
#include <hesscope/statistics/histogram.h>
#include <hesscope/statistics/normal_qq.h>
#include <hesscope/statistics/summary.h>
#include <hesscope/statistics/tail_index.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

void set(Group& record, const std::string& name, const Statistic& statistic) {
  record[name].set(statistic.value, statistic.status);
}

using detail::NoiseOptions;
using detail::part_of;
using Draws = NoiseOptions::Draws;

class NoiseAnalyzer final : public Analyzer {
 public:
  explicit NoiseAnalyzer(NoiseOptions options) : options_(std::move(options)) {
    declare_all(quantities(), headline());
  }

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    const Index num_draws = this->num_draws(objective, batch_size(objective));
    std::vector<Dimension> all = {{"draw", num_draws},
                                  {"order", std::max<Index>(num_draws / 2, 1)},
                                  {"edge", options_.num_bins + 1},
                                  {"bin", options_.num_bins},
                                  detail::rank_dimension("rank", objective.num_parameters())};
    if (options_.ladder.empty()) return all;
    for (const Index size : options_.ladder) this->num_draws(objective, size);  // may refuse
    all.push_back({.name = "ladder_batch_size",
                   .size = static_cast<std::int64_t>(options_.ladder.size()),
                   .numbers = {options_.ladder.begin(), options_.ladder.end()},
                   .definition = "samples of a batch, as asked for"});
    return all;
  }

  std::vector<Variable> quantities() const {
    return detail::noise_quantities(!options_.ladder.empty());
  }

  std::vector<std::string> headline() const {
    return {"mean",
            "skewness",
            "excess_kurtosis",
            "hill_index",
            "noise_scale_simple",
            "noise_scale_hessian",
            "noise_exponent"};
  }

  // Beside the draws: per-sample gradients for the covariance S and for the scales, S and its
  // blocks by N n^2 operations each, the Hessians of the blocks, and eigenvectors.
  Cost cost(const Objective& objective) const override {
    const auto n = static_cast<double>(objective.num_parameters());
    const auto num_samples = static_cast<double>(objective.num_samples());
    Cost cost{.asks_hessian = true,
              .matrices = 4,
              .numbers = n * (4096.0 + static_cast<double>(options_.num_draws)),
              .decompositions = 3,
              .sample_gradients = 2,
              .matrix_operations = 0.5 * num_samples * n * n};
    if (options_.draws != Draws::kFresh) cost.sample_gradients += 1;
    const auto add_draws = [&](Index batch_size) {
      const double drawn = static_cast<double>(batch_size);
      const double draws = static_cast<double>(num_draws(objective, batch_size));
      if (options_.draws == Draws::kFresh) {
        cost.fresh_samples += (static_cast<double>(options_.reference_batches) + draws) * drawn;
      } else {
        cost.operations += n * drawn * draws;
      }
    };
    add_draws(batch_size(objective));
    for (const Index size : options_.ladder) add_draws(size);
    return cost;
  }

  std::string needs_fresh_samples() const override {
    return options_.draws == Draws::kFresh ? "noise-sampling fresh" : "";
  }

  Group analyze(PointAnalysis& point) const override {
    Group record = declared();
    if (point.status() != Status::kOk) {
      record.set_rest_missing(point.status());
      return record;
    }
    draw(point, record);
    compare_with_curvature(point, record);
    record.set_rest_missing(Status::kNotComputed);
    return record;
  }

 private:
  // Of fixed samples.
  MinibatchSampling sampling() const {
    return options_.draws == Draws::kDisjoint ? MinibatchSampling::kDisjoint
                                              : MinibatchSampling::kResampled;
  }

  Index batch_size(const Objective& objective) const {
    return options_.batch_size > 0
               ? options_.batch_size
               : std::min(detail::kDefaultNoiseBatchSize, objective.num_samples());
  }

  Index num_draws(const Objective& objective, Index batch_size) const {
    if (options_.draws == Draws::kDisjoint && batch_size > objective.num_samples()) {
      throw ConfigError(
          fmt::format("disjoint minibatches of {} samples cannot be had from {} samples; choose a "
                      "smaller noise-batch-size or noise-sampling resampled",
                      batch_size,
                      objective.num_samples()));
    }
    if (options_.draws == Draws::kFresh) return options_.num_draws;
    return num_minibatches(sampling(), objective.num_samples(), batch_size, options_.num_draws);
  }

  std::vector<MinibatchNoise> measured(PointAnalysis& point,
                                       const std::vector<Index>& batch_sizes,
                                       const ProgressCallback& progress) const {
    if (options_.draws != Draws::kFresh) {
      return minibatch_noise(point.objective(),
                             point.theta(),
                             {.sampling = sampling(),
                              .batch_sizes = batch_sizes,
                              .num_draws = options_.num_draws,
                              .seed = point.seed()},
                             progress);
    }
    if (point.fresh_samples() == nullptr) {
      throw PreconditionError("noise: fresh minibatches need a point with fresh_samples()");
    }
    return fresh_minibatch_noise(*point.fresh_samples(),
                                 point.theta(),
                                 {.batch_sizes = batch_sizes,
                                  .num_draws = options_.num_draws,
                                  .reference_batches = options_.reference_batches,
                                  .seed = point.seed()},
                                 progress);
  }

  void draw(PointAnalysis& point, Group& record) const {
    std::vector<Index> batch_sizes = {batch_size(point.objective())};
    batch_sizes.insert(batch_sizes.end(), options_.ladder.begin(), options_.ladder.end());
    const std::vector<MinibatchNoise> noise =
        measured(point, batch_sizes, part_of(point.progress(), 0.0, 0.3));
    record["batch_size"].set_count(noise.front().batch_size);
    if (noise.front().status == Status::kOk) {
      describe(noise.front().norms, record);
    } else {
      for (const Variable& quantity : quantities()) {
        const bool is_of_draws =
            std::find(quantity.dimensions.begin(), quantity.dimensions.end(), "draw") !=
            quantity.dimensions.end();
        if (is_of_draws) record[quantity.name].set_missing(noise.front().status);
      }
    }
    if (!options_.ladder.empty()) set_ladder({noise.begin() + 1, noise.end()}, record);
  }

  void describe(const VectorXd& norms, Group& record) const {
    record["norm"].set(norms);
    const Summary summary = hesscope::summarize(norms);
    set(record, "mean", summary.mean);
    set(record, "standard_deviation", summary.standard_deviation);
    set(record, "median", summary.median);
    set(record, "max_over_median", summary.max_over_median);
    set(record, "skewness", summary.skewness);
    set(record, "excess_kurtosis", summary.excess_kurtosis);
    if (norms.size() >= 2) {
      const TailIndex tail = tail_index(norms);
      set(record, "hill_index", tail.index);
      set(record, "hill_index_standard_error", tail.standard_error);
      // NaN is part of the plot.
      record["hill_plot"].set_rows(tail.by_count.transpose(), Status::kOk);
    }
    const Histogram bins = histogram(norms, options_.num_bins);
    if (bins.status == Status::kOk) {
      record["histogram_edges"].set(bins.edges);
      record["histogram_counts"].set(bins.counts);
      record["histogram_density"].set(bins.density);
    } else {
      for (const char* name : {"histogram_edges", "histogram_counts", "histogram_density"}) {
        record[name].set_missing(bins.status);
      }
    }
    const QqPlot plot = normal_qq(norms, QqConvention::kFilliben);
    record["qq_theoretical"].set(plot.theoretical);
    record["qq_sample"].set(plot.sample);
    set(record, "qq_slope", plot.line.slope);
    set(record, "qq_intercept", plot.line.intercept);
    set(record, "qq_correlation", plot.line.correlation);
    const QqPlot standardized = normal_qq(norms, QqConvention::kStandardized);
    if (standardized.status == Status::kOk) {
      record["qq_theoretical_standardized"].set(standardized.theoretical);
      record["qq_sample_standardized"].set(standardized.sample);
    } else {
      record["qq_theoretical_standardized"].set_missing(standardized.status);
      record["qq_sample_standardized"].set_missing(standardized.status);
    }
  }

  static void set_ladder(const std::vector<MinibatchNoise>& noise, Group& record) {
    const auto set_rung = [&](const std::string& name, auto statistic_of) {
      Eigen::RowVectorXd values(static_cast<Index>(noise.size()));
      for (std::size_t b = 0; b < noise.size(); ++b) {
        const bool is_there = noise[b].status == Status::kOk;
        values[static_cast<Index>(b)] =
            is_there ? statistic_of(noise[b].norms).value : Statistic().value;
      }
      record["ladder_" + name].set_rows(values, Status::kOk);
    };
    const auto of_summary = [](Statistic Summary::*member) {
      return [member](const VectorXd& norms) { return hesscope::summarize(norms).*member; };
    };
    set_rung("mean", of_summary(&Summary::mean));
    set_rung("standard_deviation", of_summary(&Summary::standard_deviation));
    set_rung("max_over_median", of_summary(&Summary::max_over_median));
    set_rung("skewness", of_summary(&Summary::skewness));
    set_rung("excess_kurtosis", of_summary(&Summary::excess_kurtosis));
    set_rung("hill_index", [](const VectorXd& norms) {
      return norms.size() < 2 ? Statistic() : tail_index(norms).index;
    });
    set_rung("qq_correlation", [](const VectorXd& norms) {
      return normal_qq(norms, QqConvention::kFilliben).line.correlation;
    });
  }

  void compare_with_curvature(PointAnalysis& point, Group& record) const {
    const Eigen::MatrixXd* h = point.hessian();
    const GradientCovariance covariance = gradient_covariance(point.objective(),
                                                              point.theta(),
                                                              {.with_matrix = h != nullptr},
                                                              part_of(point.progress(), 0.3, 0.5));
    const double trace = std::ldexp(covariance.trace, 2 * covariance.exponent);
    set(record,
        "covariance_trace",
        covariance.status == Status::kOk ? finite_statistic(trace)
                                         : missing_statistic(covariance.status));
    const ProgressCallback rest = part_of(point.progress(), 0.5, 0.7);
    const NoiseScales scales =
        h != nullptr ? noise_scales(point.objective(), point.theta(), covariance, *h, {}, rest)
                     : noise_scales(point.objective(), point.theta(), covariance, {}, rest);
    set_scale(record, "noise_scale_simple", scales.simple);
    if (h == nullptr) return set_missing_curvature(record, point.hessian_status());
    set_scale(record, "noise_scale_hessian", scales.hessian);
    if (covariance.status != Status::kOk) return set_missing_curvature(record, covariance.status);
    const NoiseAlignment alignment = noise_alignment(*h, covariance.matrix);
    set(record, "alignment_cosine", alignment.cosine);
    set(record, "commutator", alignment.commutator);
    // Whoever asks for a few ranks only has no time for all eigenvectors.
    if (point.method() == SpectrumMethod::kDense) {
      set_spectrum(
          record, dense_eigensystem(*h, {}, part_of(point.progress(), 0.7, 1.0)), covariance);
    }
  }

  static void set_scale(Group& record, const std::string& name, const NoiseScale& scale) {
    set(record, name, scale.value);
    set(record, name + "_bias", scale.bias);
    set(record, name + "_standard_error", scale.standard_error);
  }

  static void set_missing_curvature(Group& record, Status status) {
    for (const char* name : {"noise_scale_hessian",
                             "noise_scale_hessian_bias",
                             "noise_scale_hessian_standard_error",
                             "alignment_cosine",
                             "commutator",
                             "eigenvalues",
                             "eigendirection_noise",
                             "noise_exponent",
                             "noise_exponent_standard_error"}) {
      record[name].set_missing(status);
    }
  }

  static void set_spectrum(Group& record,
                           const Eigensystem& eigensystem,
                           const GradientCovariance& covariance) {
    const NoiseSpectrum spectrum =
        noise_spectrum(eigensystem, covariance.matrix, covariance.exponent);
    if (spectrum.status != Status::kOk) {
      for (const char* name : {"eigenvalues",
                               "eigendirection_noise",
                               "noise_exponent",
                               "noise_exponent_standard_error"}) {
        record[name].set_missing(spectrum.status);
      }
      return;
    }
    record["eigenvalues"].set(eigensystem.eigenvalues);
    record["eigendirection_noise"].set(spectrum.noise);
    set(record, "noise_exponent", spectrum.power_law.slope);
    set(record, "noise_exponent_standard_error", spectrum.power_law.slope_standard_error);
    record["noise_exponent_count"].set_count(spectrum.num_fitted);
  }

  NoiseOptions options_;
};

}  // namespace

AnalyzerKind noise_analyzer() {
  return {
      .name = "noise",
      .question = "how minibatch gradients scatter: tails, noise scales, alignment with curvature",
      .by_default = false,
      .on_missing =
          "the exponent takes `noise-ladder`, noise_scale_hessian the matrix (`method` dense or "
          "iterative)",
      .options = detail::noise_option_keys(),
      .create = [](const Settings& settings) {
        return std::make_unique<NoiseAnalyzer>(detail::noise_options_from(settings));
      }};
}

}  // namespace hesscope
