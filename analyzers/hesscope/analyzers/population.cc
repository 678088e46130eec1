// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/interval_flag.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/population.h>
#include <hesscope/spectra/sample_ladder.h>
#include <hesscope/statistics/tail_index.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kPopulationLevel = 0.95;

// The largest number of samples whose single curvatures are examined.
constexpr std::int64_t kMostSingleSamples = 100'000;

struct PopulationPart {
  const char* suffix;
  const char* long_name;
  const char* definition;
  double SamplingError::*member;
};

constexpr PopulationPart kPopulationParts[] = {
    {"", "{} over more and more samples", "as in /spectrum and /condition", &SamplingError::value},
    {"_standard_error",
     "standard error of {}",
     "by the delete-one-block jackknife over 32 equal blocks of the samples, for the number "
     "itself, not its logarithm",
     &SamplingError::standard_error},
    {"_bias",
     "bias of {}",
     "expected {} minus the population's value, by the delete-one-block jackknife over 32 equal "
     "blocks of the samples; for {} itself, not its logarithm",
     &SamplingError::bias},
    {"_lower",
     "lower end of the confidence interval of {}",
     "as sampling/{}_lower over 32 equal blocks; level 0.95; where {}_interval is not usable it "
     "may miss the population's value far more often than the level says",
     &SamplingError::lower},
    {"_upper",
     "upper end of the confidence interval of {}",
     "as sampling/{}_upper over 32 equal blocks; level 0.95; where {}_interval is not usable it "
     "may miss the population's value far more often than the level says",
     &SamplingError::upper},
};

class PopulationAnalyzer final : public Analyzer {
 public:
  explicit PopulationAnalyzer(std::int64_t num_samples) : sizes_(sample_ladder(num_samples)) {
    for (std::size_t f = 0; f < kSpectralFigureNames.size(); ++f) {
      const std::string name(kSpectralFigureNames[f]);
      const bool is_ratio = name.starts_with("robust");
      for (const PopulationPart& part : kPopulationParts) {
        figures_.push_back(
            {declare({.name = name + part.suffix,
                      .dimensions = {"population_samples"},
                      .long_name = fmt::format(fmt::runtime(part.long_name), name),
                      .definition = fmt::format(fmt::runtime(part.definition), name, name),
                      .references = part.member == &SamplingError::value
                                        ? std::vector<std::string>()
                                        : std::vector<std::string>{papers::kBusing},
                      .undefined = is_ratio ? std::vector{Status::kUndefinedZeroMedian}
                                            : std::vector<Status>()}),
             f,
             part.member});
      }
      Variable interval = detail::interval_flag(static_cast<SpectralFigure>(f));
      interval.dimensions = {"population_samples"};
      intervals_[f] = declare(std::move(interval));
    }
  }

  std::vector<Dimension> dimensions(const Objective& /*objective*/) const override {
    return {
        {.name = "population_samples",
         .size = static_cast<std::int64_t>(sizes_.size()),
         .numbers = sizes_,
         .definition = "number of samples drawn anew, each time those before and as many more"}};
  }

  Cost cost(const Objective& objective) const override {
    const double times =
        static_cast<double>(sizes_.back()) / static_cast<double>(objective.num_samples());
    return {.matrices = static_cast<double>(kLadderBlocks) + 4,
            .hessians = times,
            .decompositions = static_cast<double>(sizes_.size()) * (kLadderBlocks + 1)};
  }

  std::string needs_fresh_samples() const override { return "population"; }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    set_intervals(std::vector<LadderRung>(sizes_.size()), answer);
    if (point.status() != Status::kOk) {
      answer.set_rest_missing(point.status());
    } else if (point.fresh_samples() == nullptr || !point.is_assembled()) {
      answer.set_rest_missing(Status::kNotComputed);
    } else {
      describe(point, *point.fresh_samples(), answer);
      answer.set_rest_missing(Status::kFailed);
    }
    return answer;
  }

 private:
  struct Place {
    VariableId id;
    std::size_t figure;
    double SamplingError::*member;
  };

  static FreshSamples::Range range_of(const PointAnalysis& point,
                                      std::int64_t first,
                                      std::int64_t count) {
    return {.seed = point.seed(),
            .stream = Stream::kPopulation,
            .first = static_cast<std::uint64_t>(first),
            .count = count};
  }

  void describe(PointAnalysis& point, const FreshSamples& samples, Group& answer) const {
    VectorXd diagonal;  // over the first block
    const RangeHessian hessian =
        [&](std::int64_t first, std::int64_t count, const ProgressCallback& progress) {
          MatrixXd found = samples.hessian(point.theta(), range_of(point, first, count), progress);
          if (first == 0) diagonal = found.diagonal();
          return found;
        };
    const std::vector<LadderRung> rungs = climb_sample_ladder(
        sizes_, hessian, kPopulationLevel, detail::part_of(point.progress(), 0, 0.95));
    set_figures(rungs, answer);
    set_intervals(rungs, answer);
    if (!diagonal.allFinite()) return;
    Index parameter = 0;
    diagonal.maxCoeff(&parameter);
    answer[tail_parameter_].set_count(parameter);
    const VectorXd entries = samples.hessian_entries(
        point.theta(), range_of(point, 0, std::min(kMostSingleSamples, sizes_.back())), parameter);
    const TailIndex tail = tail_index(entries);
    answer[tail_index_].set(tail.index);
    answer[tail_index_error_].set(tail.standard_error);
    const double sum = entries.sum();
    const Status status = !std::isfinite(sum) ? Status::kNonFinite
                          : sum > 0           ? Status::kOk
                                              : Status::kUndefinedZeroDenominator;
    answer[largest_share_].set(entries.maxCoeff() / sum, status);
  }

  void set_figures(const std::vector<LadderRung>& rungs, Group& answer) const {
    for (const Place& place : figures_) {
      std::vector<double> values;
      std::vector<Status> statuses;
      for (const LadderRung& rung : rungs) {
        const SamplingError& error = rung.errors.figures[place.figure];
        values.push_back(error.*place.member);
        // A value may be there without its error.
        statuses.push_back(std::isnan(values.back()) ? error.status : Status::kOk);
      }
      answer[place.id].set_numbers(std::move(values), std::move(statuses));
    }
    for (const auto& [id, member] : {std::pair(num_negative_, &LadderRung::num_negative),
                                     std::pair(num_zero_, &LadderRung::num_zero)}) {
      std::vector<double> counts;
      std::vector<Status> statuses;
      for (const LadderRung& rung : rungs) {
        const bool is_there = rung.status == Status::kOk;
        counts.push_back(is_there ? static_cast<double>(rung.*member) : kNaN);
        statuses.push_back(rung.status);
      }
      answer[id].set_numbers(std::move(counts), std::move(statuses));
    }
  }

  void set_intervals(const std::vector<LadderRung>& rungs, Group& answer) const {
    for (std::size_t f = 0; f < intervals_.size(); ++f) {
      std::vector<std::int8_t> codes;
      for (const LadderRung& rung : rungs) {
        codes.push_back(static_cast<std::int8_t>(rung.errors.figures[f].interval));
      }
      answer[intervals_[f]].set_flags(std::move(codes));
    }
  }

  std::vector<std::int64_t> sizes_;
  std::vector<Place> figures_;
  std::array<VariableId, kSpectralFigureNames.size()> intervals_ = {};
  VariableId num_negative_ = declare(
      {.name = "num_negative",
       .type = VariableType::kInt64,
       .dimensions = {"population_samples"},
       .long_name = "index over more and more samples",
       .definition = "eigenvalues below minus the rounding band, as /spectrum/num_negative"});
  VariableId num_zero_ =
      declare({.name = "num_zero",
               .type = VariableType::kInt64,
               .dimensions = {"population_samples"},
               .long_name = "number of zero eigenvalues over more and more samples",
               .definition = "eigenvalues within the rounding band, as /spectrum/num_zero"});
  VariableId tail_parameter_ =
      declare({.name = "tail_parameter",
               .type = VariableType::kInt64,
               .long_name = "parameter whose curvature in single samples is examined",
               .definition = "index i of the largest H_ii over the first of the 32 blocks of the "
                             "smallest number of samples"});
  VariableId tail_index_ =
      declare({.name = "tail_index",
               .long_name = "tail index of single samples' curvature",
               .definition = fmt::format(
                   "Hill's estimate from the floor(sqrt(m)) largest H_ii of m single samples, with "
                   "i = tail_parameter and m the number of samples, but at most {}: for a Pareto "
                   "tail below 2, their variance, and with it every interval here, does not exist, "
                   "and below 1 not even their mean; for other tails, such as those of polynomials "
                   "of normal numbers, which have all moments, the estimate may be too small by "
                   "more than its standard error indicates",
                   kMostSingleSamples),
               .references = {papers::kHill},
               .undefined = {Status::kUndefinedZeroDenominator},
               .headline = 1});
  VariableId tail_index_error_ = declare({.name = "tail_index_standard_error",
                                          .long_name = "standard error of tail_index",
                                          .definition = "tail_index / sqrt(floor(sqrt(m)))",
                                          .references = {papers::kHill},
                                          .undefined = {Status::kUndefinedZeroDenominator}});
  VariableId largest_share_ = declare({.name = "largest_share",
                                       .long_name = "share of one sample in the curvature",
                                       .definition = "largest of these H_ii over their sum",
                                       .undefined = {Status::kUndefinedZeroDenominator},
                                       .headline = 2});
};

}  // namespace

AnalyzerKind population_analyzer() {
  return {.name = "population",
          .question =
              "the sample against the population: eigenvalues, condition numbers and index "
              "over more and more samples drawn anew, with intervals",
          .by_default = false,
          .on_missing = kTakesMatrix,
          .options = {{.name = "population",
                       .type = SettingKey::Type::kInteger,
                       .meaning = "minimum number of samples to draw, rounded up so that 32 equal "
                                  "blocks can be doubled to reach it",
                       .minimum = 1,
                       .maximum = 1'000'000'000,
                       .fallback = SettingValue(std::int64_t{100'000})}},
          .create = [](const Settings& settings) {
            return std::make_unique<PopulationAnalyzer>(settings.integer("population"));
          }};
}

}  // namespace hesscope
