// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

// Ratios by variant, seed and step of the figure.
struct Ratios {
  std::vector<std::uint64_t> seeds;
  std::vector<std::int64_t> steps;
  std::vector<double> values;
  std::vector<double> errors = {};  // due to the choice of samples; empty if not asked for

  SeedStatistics statistics(std::size_t variant, std::size_t step) const {
    SeedStatistics all = seed_statistics(column(values, variant, step));
    if (!errors.empty()) {
      all.sampling_error = seed_statistics(column(errors, variant, step)).mean;
    }
    return all;
  }

  // For all seeds.
  std::vector<double> column(const std::vector<double>& of,
                             std::size_t variant,
                             std::size_t step) const {
    std::vector<double> found;
    for (std::size_t seed = 0; seed < seeds.size(); ++seed) {
      found.push_back(of[(variant * seeds.size() + seed) * steps.size() + step]);
    }
    return found;
  }
};

Ratios ratios_of(const ExperimentResults& results, const ExperimentFigure& figure) {
  const StepValues all = step_values(results, figure, figure.settings.text("quantity"));
  const auto place_of = [&](const char* key) {
    return index_of(figure.runs, figure.settings.text(key)).value();
  };
  const std::size_t numerator = place_of("numerator");
  const std::size_t denominator = place_of("denominator");
  Ratios ratios{.seeds = all.seeds, .steps = figure.steps, .values = {}};
  if (ratios.steps.empty()) ratios.steps = all.steps;
  std::optional<StepValues> errors;
  if (figure.settings.has("standard_error")) {
    errors = step_values(results, figure, figure.settings.text("standard_error"));
  }
  for (std::size_t v = 0; v < figure.variants.size(); ++v) {
    for (std::size_t seed = 0; seed < all.seeds.size(); ++seed) {
      for (const std::int64_t step : ratios.steps) {
        const double above = all.at_step(v, numerator, seed, step);
        const double below = all.at_step(v, denominator, seed, step);
        ratios.values.push_back(above / below);
        if (!errors) continue;
        // |a / b| sqrt((da / a)^2 + (db / b)^2), as if the errors of the two were independent.
        ratios.errors.push_back(std::abs(above / below) *
                                std::hypot(errors->at_step(v, numerator, seed, step) / above,
                                           errors->at_step(v, denominator, seed, step) / below));
      }
    }
  }
  return ratios;
}

FigureContent make_ratios(const ExperimentResults& results, const ExperimentFigure& figure) {
  const std::string& quantity = figure.settings.text("quantity");
  const std::string of = fmt::format(
      "{} over {}", figure.settings.text("numerator"), figure.settings.text("denominator"));
  const Ratios ratios = ratios_of(results, figure);
  FigureContent content;
  std::vector<SeedStatistics> all;
  std::vector<std::vector<std::string>> rows = {{"variant"}};
  for (const std::int64_t step : ratios.steps) rows[0].push_back(fmt::format("step {}", step));
  for (std::size_t v = 0; v < figure.variants.size(); ++v) {
    rows.push_back({results.variant(figure.variants[v]).title});
    for (std::size_t k = 0; k < ratios.steps.size(); ++k) {
      all.push_back(ratios.statistics(v, k));
      rows.back().push_back(mean_text(all.back()));
    }
  }
  Group& data = content.data;
  data.dimensions = {variant_dimension(figure),
                     seed_dimension(ratios.seeds),
                     numbered_dimension("step", ratios.steps)};
  data.add({.name = "ratio",
            .dimensions = {"variant", "seed", "step"},
            .long_name = "ratio of " + results.long_name(quantity),
            .definition = fmt::format("{} of {} from the same seed", quantity, of),
            .values = ratios.values});
  if (!ratios.errors.empty()) {
    data.add({.name = "sampling_error",
              .dimensions = {"variant", "seed", "step"},
              .long_name = "standard error of the ratio over the choice of samples",
              .definition = "|a / b| sqrt((da / a)^2 + (db / b)^2) of the ratio a / b, da and db "
                            "being " +
                            figure.settings.text("standard_error"),
              .values = ratios.errors});
  }
  add_statistics({"variant", "step"}, "ratios", all, data);
  data["mean"].long_name = "mean ratio over seeds";
  data["standard_deviation"].long_name = "standard deviation of the ratio over seeds";
  content.figure = table_figure(figure, rows);
  content.figure.description = fmt::format("Ratios of {}, {}", results.long_name(quantity), of);
  content.text = fmt::format(
                     "Ratio of the {} (`{}`), {} from the same seed: mean over {} seeds (sample "
                     "standard deviation{}).\n\n",
                     results.long_name(quantity),
                     quantity,
                     of,
                     ratios.seeds.size(),
                     ratios.errors.empty()
                         ? ""
                         : "; standard error that the choice of samples leaves, mean over seeds") +
                 markdown_table(rows);
  compare_with_published(
      results,
      figure,
      [&](const PublishedValue& value, std::size_t variant, std::size_t /*run*/) {
        for (std::size_t k = 0; k < ratios.steps.size(); ++k) {
          if (value.step != ratios.steps[k]) continue;
          return ratios.statistics(variant, k);
        }
        return SeedStatistics();
      },
      content,
      1);
  return content;
}

}  // namespace

ExperimentFigureKind ratios_kind() {
  return {.name = "ratios",
          .summary = "one run's quantity over another's, seed by seed, at given steps",
          .keys = {quantity_key("quantity"),
                   {.name = "standard_error",
                    .meaning = "GROUP/NAME of its standard error over the choice of samples",
                    .is_optional = true},
                   {.name = "numerator", .meaning = "a run"},
                   {.name = "denominator", .meaning = "a run"}},
          .steps_if_absent = "all",
          .published =
              PublishedPlace{.step = PublishedPlace::Step::kRequired, .quantities = own_quantity},
          .make = make_ratios};
}

}  // namespace hesscope::detail
