// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/interval_flag.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/option_error.h>
#include <hesscope/analyzers/sampling.h>
#include <hesscope/spectra/sampling_error.h>

namespace hesscope {
namespace {

// One number of a SamplingError: what follows the figure's name, and what it is.
struct Part {
  const char* suffix;
  const char* long_name;
  double SamplingError::*member;
  bool is_end = false;  // of the interval
};

constexpr Part kBias = {"_bias", "bias", &SamplingError::bias};  // zero in first order

constexpr Part kParts[] = {
    {"_standard_error", "standard error", &SamplingError::standard_error},
    {"_lower", "lower end of the confidence interval", &SamplingError::lower, true},
    {"_upper", "upper end of the confidence interval", &SamplingError::upper, true},
};

// Whether the ends of its interval are shown in the summary.
bool is_in_summary(SpectralFigure figure) {
  return figure == SpectralFigure::kLambdaMax || figure == SpectralFigure::kLambdaMedian ||
         figure == SpectralFigure::kRobustDiagonal;
}

// Where the jackknife fails: crowded numbers are not smooth in H.
std::string limit_of(std::string_view name) {
  return fmt::format(
      "; where {}_interval is not usable it may miss the population's value far more often than "
      "the level says",
      name);
}

// For values whose logarithm is meaningless.
std::string linear_interval_of(std::size_t figure, char sign) {
  const std::string_view name = kSpectralFigureNames[figure];
  constexpr const char* kWhere =
      "changes its sign or is zero within rounding, for all samples or without some block";
  const bool is_ratio = name.starts_with("robust");
  std::string text;
  if (!is_ratio || figure == index_of(SpectralFigure::kRobustEigenvalue)) {
    text = fmt::format(
        "; {} {} t standard_error where {} {}", name, sign, is_ratio ? "lambda_max" : "it", kWhere);
  }
  if (is_ratio) text += fmt::format("; undefined_zero_median where the median {}", kWhere);
  return text;
}

// How an end of the interval follows from the standard error.
std::string interval_of(std::size_t figure, const Part& part, bool is_first_order) {
  const std::string_view name = kSpectralFigureNames[figure];
  const bool is_lower = part.member == &SamplingError::lower;
  const char sign = is_lower ? '-' : '+';
  constexpr const char* kT = "with t of Student's distribution with m - 1 degrees of freedom";
  if (figure == index_of(SpectralFigure::kLambdaMin)) {
    return fmt::format("{}{} {} t standard_error, {}{}",
                       name,
                       is_first_order ? "" : " - bias",
                       sign,
                       kT,
                       limit_of(name));
  }
  return fmt::format(
      "the {} of {} exp(-+ t s), s being the standard error of log |{}|, {}{}; the bias is not "
      "subtracted{}{}",
      is_lower ? "smaller" : "larger",
      name,
      name,
      kT,
      linear_interval_of(figure, sign),
      is_lower && is_at_least_one(static_cast<SpectralFigure>(figure)) ? "; 1 if that is less" : "",
      limit_of(name));
}

// Why a figure may be undefined: there is only one sample, or the denominator of a ratio is zero.
std::vector<Status> reasons_of(std::size_t figure) {
  std::vector<Status> reasons = {Status::kUndefinedTooFewPoints};
  if (kSpectralFigureNames[figure].starts_with("robust")) {
    reasons.push_back(Status::kUndefinedZeroMedian);
  }
  return reasons;
}

class SamplingAnalyzer final : public Analyzer {
 public:
  explicit SamplingAnalyzer(const SamplingErrorOptions& options) : options_(options) {
    int place = 0;
    for (std::size_t i = 0; i < kSpectralFigureNames.size(); ++i) {
      const bool is_shown = is_in_summary(static_cast<SpectralFigure>(i));
      values_[i] =
          declare({.name = std::string(kSpectralFigureNames[i]),
                   .long_name = fmt::format("{} over all samples", kSpectralFigureNames[i]),
                   .definition = "as in /spectrum and /condition",
                   .undefined = reasons_of(i)});
      declare_full(i, kBias, 0);
      for (const Part& part : kParts) {
        declare_full(i, part, is_shown && part.is_end ? ++place : 0);
        declare_first_order(i, part);
      }
      Variable interval = detail::interval_flag(static_cast<SpectralFigure>(i));
      interval.headline = is_shown ? ++place : 0;
      intervals_[i] = declare(std::move(interval));
    }
  }

  Cost cost(const Objective& objective) const override {
    return {.asks_hessian = true,
            .asks_spectrum = false,
            .matrices = 2,
            .hessians = 1,
            .decompositions = static_cast<double>(num_blocks(objective) + 2),
            .searches = 1};
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    set_intervals(answer, {});
    const Eigen::Index num_samples = point.objective().num_samples();
    const Eigen::MatrixXd* h = point.hessian();
    if (h == nullptr && point.hessian_status() != Status::kNotComputed) {
      answer.set_rest_missing(point.hessian_status());
    } else if (num_samples < 2) {
      answer.set_rest_missing(Status::kUndefinedTooFewPoints);
    } else {
      SamplingErrorOptions options = options_;
      options.num_blocks = num_blocks(point.objective());
      if (h != nullptr) {
        const SamplingErrorEstimates found =
            sampling_errors(point.objective(), point.theta(), *h, options, point.progress());
        set_values(answer, found.full);
        set_errors(answer, full_, found.full);
        set_errors(answer, first_order_, found.first_order);
        set_intervals(answer, found.full);
      } else {
        set_first_order(point, options, answer);
      }
      answer.set_rest_missing(Status::kNotComputed);
    }
    return answer;
  }

 private:
  // Every block has a sample.
  Eigen::Index num_blocks(const Objective& objective) const {
    return std::min(options_.num_blocks, objective.num_samples());
  }

  // Where a number about a figure is stored.
  struct Place {
    VariableId id;
    std::size_t figure;
    double SamplingError::*member;
  };

  void set_intervals(Group& answer, const SamplingErrors& errors) const {
    for (std::size_t i = 0; i < intervals_.size(); ++i) {
      answer[intervals_[i]].set_flag(static_cast<std::int8_t>(errors.figures[i].interval));
    }
  }

  void declare_full(std::size_t figure, const Part& part, int headline) {
    const std::string_view name = kSpectralFigureNames[figure];
    const VariableId id = declare({.name = fmt::format("{}{}", name, part.suffix),
                                   .long_name = fmt::format("{} of {}", part.long_name, name),
                                   .definition = definition_of(figure, part, false),
                                   .references = {papers::kBusing},
                                   .undefined = reasons_of(figure),
                                   .headline = headline});
    full_.push_back({id, figure, part.member});
  }

  void declare_first_order(std::size_t figure, const Part& part) {
    const std::string_view name = kSpectralFigureNames[figure];
    const VariableId id =
        declare({.name = fmt::format("{}{}_first_order", name, part.suffix),
                 .long_name = fmt::format("{} of {}, to first order", part.long_name, name),
                 .definition = definition_of(figure, part, true),
                 .references = {papers::kBusing},
                 .undefined = reasons_of(figure)});
    first_order_.push_back({id, figure, part.member});
  }

  std::string definition_of(std::size_t figure, const Part& part, bool is_first_order) const {
    const std::string_view name = kSpectralFigureNames[figure];
    if (part.member == &SamplingError::bias) {
      return fmt::format(
          "expected {} minus the population's value, by the delete-one-block jackknife over m = "
          "jackknife-blocks blocks of consecutive samples, fewer if there are fewer, of which with "
          "N samples the first N mod m are one longer; H without each block is decomposed anew "
          "and, where targets have weights or are ignored, divided by the weights of those outside "
          "the block; for {} itself, not its logarithm",
          name,
          name);
    }
    return fmt::format(
        "{}; by the jackknife of {}_bias{}",
        part.is_end
            ? fmt::format("{}; level {}", interval_of(figure, part, is_first_order), options_.level)
            : fmt::format("for {} itself, not its logarithm", name),
        name,
        is_first_order
            ? ", but with eigenvalues shifted by v^T dH v, where the eigenpairs (and entries of "
              "the diagonal) are those that give the figure in H, not chosen anew"
            : "");
  }

  // Values exist even if their errors do not.
  void set_values(Group& answer, const SamplingErrors& errors) const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const SamplingError& error = errors.figures[i];
      answer[values_[i]].set(error.value, std::isnan(error.value) ? error.status : Status::kOk);
    }
  }

  static void set_errors(Group& answer,
                         const std::vector<Place>& places,
                         const SamplingErrors& errors) {
    for (const Place& place : places) {
      const SamplingError& error = errors.figures[place.figure];
      if (error.status == Status::kNotComputed) {
        answer[place.id].set_missing(Status::kNotComputed);
      } else {
        answer[place.id].set(error.*place.member, error.status);
      }
    }
  }

  // Without a matrix: for the two ends.
  void set_first_order(PointAnalysis& point,
                       const SamplingErrorOptions& options,
                       Group& answer) const {
    const Extremes& ends = point.extremes(1);
    SpectralEigenpairs pairs;
    if (ends.largest.status == Status::kOk) {
      pairs.largest = {ends.largest.values[0], ends.largest.vectors.col(0)};
    }
    if (ends.smallest.status == Status::kOk) {
      pairs.smallest = {ends.smallest.values[0], ends.smallest.vectors.col(0)};
    }
    set_errors(answer,
               first_order_,
               first_order_sampling_errors(point.objective(), point.theta(), pairs, options));
    for (const Place& place : first_order_) {
      const bool is_largest = place.figure == index_of(SpectralFigure::kLambdaMax);
      const bool is_smallest = place.figure == index_of(SpectralFigure::kLambdaMin);
      if (!is_largest && !is_smallest) continue;
      const EndOfSpectrum& end = is_largest ? ends.largest : ends.smallest;
      if (end.proof == Proof::kConverged) answer[place.id].is_proved = false;
    }
  }

  SamplingErrorOptions options_;
  std::array<VariableId, kSpectralFigureNames.size()> values_ = {};
  std::vector<Place> full_;
  std::vector<Place> first_order_;
  std::array<VariableId, kSpectralFigureNames.size()> intervals_ = {};
};

}  // namespace

AnalyzerKind sampling_analyzer() {
  return {
      .name = "sampling",
      .question =
          "confidence intervals of eigenvalues and condition numbers: how much they depend "
          "on the choice of samples",
      .by_default = false,
      .on_missing = kTakesMatrix,
      .options = {{.name = "jackknife-blocks",
                   .type = SettingKey::Type::kInteger,
                   .meaning = "how many blocks the samples are split into; each is left out once",
                   .minimum = 2,
                   .maximum = 100'000,
                   .fallback = SettingValue(std::int64_t{32})},
                  {.name = "confidence",
                   .type = SettingKey::Type::kReal,
                   .meaning = "confidence level of the intervals",
                   .fallback = SettingValue(0.95)}},
      .create = [](const Settings& settings) {
        const double level = settings.real("confidence");
        if (!(level > 0 && level < 1)) {
          throw OptionError("confidence",
                            fmt::format("must be above 0 and below 1, got {}", level));
        }
        return std::make_unique<SamplingAnalyzer>(SamplingErrorOptions{
            .num_blocks = settings.integer("jackknife-blocks"), .level = level});
      }};
}

}  // namespace hesscope
