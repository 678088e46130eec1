// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/group_dimensions.h>
#include <hesscope/analyzers/internal/noise_covariance.h>
#include <hesscope/analyzers/internal/noise_distribution.h>
#include <hesscope/analyzers/internal/noise_options.h>
#include <hesscope/analyzers/noise.h>
#include <hesscope/core/error.h>
#include <hesscope/noise/fresh_minibatch_noise.h>
#include <hesscope/noise/minibatch_noise.h>
#include <hesscope/objective/gradient_blocks.h>
#include <hesscope/statistics/normal_qq.h>
#include <hesscope/statistics/summary.h>
#include <hesscope/statistics/tail_index.h>

namespace hesscope {
namespace {

using detail::NoiseOptions;
using detail::part_of;
using Eigen::Index;
using Eigen::VectorXd;
using Draws = NoiseOptions::Draws;

// A number about the noise of batches of one size, stored for each size of the ladder.
struct LadderNumber {
  const char* name;
  Statistic (*of)(const VectorXd& norms);
};

constexpr LadderNumber kLadderNumbers[] = {
    {"mean", [](const VectorXd& norms) { return summarize(norms).mean; }},
    {"standard_deviation",
     [](const VectorXd& norms) { return summarize(norms).standard_deviation; }},
    {"max_over_median", [](const VectorXd& norms) { return summarize(norms).max_over_median; }},
    {"skewness", [](const VectorXd& norms) { return summarize(norms).skewness; }},
    {"excess_kurtosis", [](const VectorXd& norms) { return summarize(norms).excess_kurtosis; }},
    {"hill_index", [](const VectorXd& norms) { return tail_index(norms).index; }},
    {"qq_correlation",
     [](const VectorXd& norms) {
       return normal_qq(norms, QqConvention::kFilliben).line.correlation;
     }},
};

class NoiseAnalyzer final : public Analyzer {
 public:
  explicit NoiseAnalyzer(NoiseOptions options) : options_(std::move(options)) {
    if (options_.ladder.empty()) return;
    for (const auto& [name, of] : kLadderNumbers) {
      ladder_.push_back(
          declare({.name = fmt::format("ladder_{}", name),
                   .dimensions = {"ladder_batch_size"},
                   .long_name = fmt::format("{} by batch size", name),
                   .definition = fmt::format(
                       "as {}, for minibatches of each size; NaN where undefined", name)}));
    }
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

  // In addition to the draws: per-sample gradients for the covariance S and for the scales, S and
  // its blocks by N n^2 operations each, the Hessians of the blocks, and eigenvectors.
  Cost cost(const Objective& objective) const override {
    const auto n = static_cast<double>(objective.num_parameters());
    const auto num_samples = static_cast<double>(objective.num_samples());
    Cost cost{.asks_hessian = true,
              .matrices = 4,
              .numbers = n * static_cast<double>(gradient_block_size(objective)),
              .decompositions = 3,
              .sample_gradients = 2,
              .matrix_operations = 0.5 * num_samples * n * n};
    if (options_.draws != Draws::kFresh) cost.sample_gradients += 1;
    const auto add_draws = [&](Index batch_size) {
      const auto drawn = static_cast<double>(batch_size);
      const auto draws = static_cast<double>(num_draws(objective, batch_size));
      cost.numbers += draws * n;  // sums
      if (options_.draws == Draws::kFresh) {
        cost.fresh_samples += (static_cast<double>(options_.reference_batches) + draws) * drawn;
      } else {
        cost.operations += n * drawn * draws;
      }
      // The places of the samples, in 32 bits.
      if (options_.draws == Draws::kResampled) cost.numbers += 0.5 * draws * drawn;
    };
    add_draws(batch_size(objective));
    for (const Index size : options_.ladder) add_draws(size);
    return cost;
  }

  std::string needs_fresh_samples() const override {
    return options_.draws == Draws::kFresh ? "noise-sampling fresh" : "";
  }

  std::vector<std::string> remarks_on_samples(const Objective& objective) const override {
    std::vector<std::string> remarks;
    std::vector<Index> sizes = {batch_size(objective)};
    sizes.insert(sizes.end(), options_.ladder.begin(), options_.ladder.end());
    for (const Index size : sizes) {
      const Index num_draws = this->num_draws(objective, size);
      if (num_draws == options_.num_draws) continue;
      remarks.push_back(fmt::format(
          "noise: {} of {} draws, since disjoint minibatches of {} samples are no more in {}; "
          "`noise-sampling` resampled makes as many as `noise-draws` says",
          num_draws,
          options_.num_draws,
          size,
          objective.num_samples()));
    }
    return remarks;
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    if (point.status() != Status::kOk) {
      answer.set_rest_missing(point.status());
      return answer;
    }
    draw(point, covariance_.set(answer, point), answer);
    answer.set_rest_missing(Status::kNotComputed);
    return answer;
  }

 private:
  // For fixed samples.
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

  void draw(PointAnalysis& point, double rounding, Group& answer) const {
    std::vector<Index> batch_sizes = {batch_size(point.objective())};
    batch_sizes.insert(batch_sizes.end(), options_.ladder.begin(), options_.ladder.end());
    const std::vector<MinibatchNoise> noise =
        measured(point, batch_sizes, part_of(point.progress(), 0.7, 1.0));
    distribution_.set(answer, noise.front(), rounding, options_.num_bins);
    if (!ladder_.empty()) set_ladder({noise.begin() + 1, noise.end()}, rounding, answer);
  }

  void set_ladder(const std::vector<MinibatchNoise>& noise, double rounding, Group& answer) const {
    for (std::size_t i = 0; i < ladder_.size(); ++i) {
      Eigen::RowVectorXd values(static_cast<Index>(noise.size()));
      for (std::size_t b = 0; b < noise.size(); ++b) {
        const bool is_there = noise[b].status == Status::kOk;
        values[static_cast<Index>(b)] =
            is_there ? kLadderNumbers[i].of(detail::settled(noise[b].norms, rounding)).value
                     : Statistic().value;
      }
      answer[ladder_[i]].set_rows(values, Status::kOk);
    }
  }

  NoiseOptions options_;
  detail::NoiseDistribution distribution_{declaring()};
  detail::NoiseCovariance covariance_{declaring()};
  std::vector<VariableId> ladder_;  // as kLadderNumbers
};

}  // namespace

AnalyzerKind noise_analyzer() {
  return {
      .name = "noise",
      .question = "how minibatch gradients scatter: tails, noise scales, alignment with curvature",
      .by_default = false,
      .on_missing =
          "noise_scale_hessian needs the matrix (`method` dense or iterative), noise_exponent all "
          "eigenvectors (`method` dense)",
      .options = detail::noise_option_keys(),
      .declaring_all = {{"noise-ladder", SettingValue(std::string("1"))}},
      .create = [](const Settings& settings) {
        return std::make_unique<NoiseAnalyzer>(detail::noise_options_from(settings));
      }};
}

}  // namespace hesscope
