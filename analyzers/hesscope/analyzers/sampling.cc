// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/option_error.h>
#include <hesscope/analyzers/sampling.h>
#include <hesscope/spectra/sampling_error.h>

namespace hesscope {
namespace {

const std::string kFirstOrder = "_first_order";

// One number of a SamplingError: what follows the figure's name, and what it is.
struct Part {
  const char* suffix;
  const char* long_name;
  double SamplingError::*member;
};

constexpr Part kParts[] = {
    {"_bias", "bias", &SamplingError::bias},
    {"_standard_error", "standard error", &SamplingError::standard_error},
    {"_lower", "lower end of the confidence interval", &SamplingError::lower},
    {"_upper", "upper end of the confidence interval", &SamplingError::upper},
};

class SamplingAnalyzer final : public Analyzer {
 public:
  explicit SamplingAnalyzer(const SamplingErrorOptions& options) : options_(options) {
    declare_all(quantities(), headline());
  }

  std::vector<Dimension> dimensions(const Objective& /*objective*/) const override { return {}; }

  std::vector<Variable> quantities() const {
    std::vector<Variable> all;
    for (const std::string_view name : kSpectralFigureNames) {
      const std::string figure(name);
      all.push_back({.name = figure,
                     .long_name = figure + " over all samples",
                     .definition = "as in /spectrum and /condition"});
      for (const Part& part : kParts) {
        all.push_back({.name = figure + part.suffix,
                       .long_name = std::string(part.long_name) + " of " + figure,
                       .definition = fmt::format("delete-one-block jackknife over {} blocks of "
                                                 "consecutive samples, each decomposed anew{}",
                                                 options_.num_blocks,
                                                 interval_text(part))});
        if (part.member == &SamplingError::bias) continue;  // none in first order
        all.push_back(
            {.name = figure + part.suffix + kFirstOrder,
             .long_name = std::string(part.long_name) + " of " + figure + ", to first order",
             .definition = fmt::format("the same jackknife with eigenvalues moved by v^T dH v{}",
                                       interval_text(part))});
      }
    }
    return all;
  }

  std::vector<std::string> headline() const {
    return {"lambda_max_lower",
            "lambda_max_upper",
            "lambda_median_lower",
            "lambda_median_upper",
            "robust_diagonal_lower",
            "robust_diagonal_upper"};
  }

  Cost cost(const Objective& /*objective*/) const override {
    return {.asks_hessian = true,
            .asks_spectrum = false,
            .matrices = 2,
            .hessians = 1,
            .decompositions = static_cast<double>(options_.num_blocks + 2),
            .searches = 1};
  }

  Group analyze(PointAnalysis& point) const override {
    Group record = declared();
    const Eigen::Index num_samples = point.objective().num_samples();
    const Eigen::MatrixXd* h = point.hessian();
    if (h == nullptr && point.hessian_status() != Status::kNotComputed) {
      record.set_rest_missing(point.hessian_status());
    } else if (num_samples < 2) {
      record.set_rest_missing(Status::kNotComputed);
    } else {
      SamplingErrorOptions options = options_;
      options.num_blocks = std::min(options.num_blocks, num_samples);
      if (h != nullptr) {
        const SamplingErrorEstimates found =
            sampling_errors(point.objective(), point.theta(), *h, options, point.progress());
        set_figures(record, found.full, "");
        set_figures(record, found.first_order, kFirstOrder);
      } else {
        set_first_order(point, options, record);
      }
      record.set_rest_missing(Status::kNotComputed);
    }
    return record;
  }

 private:
  std::string interval_text(const Part& part) const {
    const bool is_interval =
        part.member == &SamplingError::lower || part.member == &SamplingError::upper;
    return is_interval ? fmt::format("; level {}", options_.level) : std::string();
  }

  static void set_figures(Group& record, const SamplingErrors& errors, const std::string& suffix) {
    for (std::size_t i = 0; i < kSpectralFigureNames.size(); ++i) {
      const std::string figure(kSpectralFigureNames[i]);
      const SamplingError& error = errors.figures[i];
      // The value is there even where its error is not.
      if (suffix.empty()) {
        const bool has_value = error.value == error.value;
        record[figure].set(error.value, has_value ? Status::kOk : error.status);
      }
      for (const Part& part : kParts) {
        if (!suffix.empty() && part.member == &SamplingError::bias) continue;
        const std::string name = figure + part.suffix + suffix;
        if (error.status == Status::kNotComputed) {
          record[name].set_missing(Status::kNotComputed);
        } else {
          record[name].set(error.*part.member, error.status);
        }
      }
    }
  }

  // Without a matrix: of the two ends.
  static void set_first_order(PointAnalysis& point,
                              const SamplingErrorOptions& options,
                              Group& record) {
    const Extremes& ends = point.extremes(1);
    SpectralEigenpairs pairs;
    if (ends.largest.status == Status::kOk) {
      pairs.largest = {ends.largest.values[0], ends.largest.vectors.col(0)};
    }
    if (ends.smallest.status == Status::kOk) {
      pairs.smallest = {ends.smallest.values[0], ends.smallest.vectors.col(0)};
    }
    set_figures(record,
                first_order_sampling_errors(point.objective(), point.theta(), pairs, options),
                kFirstOrder);
  }

  SamplingErrorOptions options_;
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
