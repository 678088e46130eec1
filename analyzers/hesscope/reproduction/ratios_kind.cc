// SPDX-License-Identifier: BSD-3-Clause

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

  SeedStatistics statistics(std::size_t variant, std::size_t step) const {
    std::vector<double> column;
    for (std::size_t seed = 0; seed < seeds.size(); ++seed) {
      column.push_back(values[(variant * seeds.size() + seed) * steps.size() + step]);
    }
    return seed_statistics(column);
  }
};

Ratios ratios_of(const ExperimentResults& results, const ExperimentFigure& figure) {
  const StepValues all = step_values(results, figure, figure.settings.text("quantity"));
  const std::size_t numerator = place_of(figure.runs, figure.settings.text("numerator"));
  const std::size_t denominator = place_of(figure.runs, figure.settings.text("denominator"));
  Ratios ratios{.seeds = all.seeds, .steps = figure.steps, .values = {}};
  if (ratios.steps.empty()) ratios.steps = all.steps;
  for (std::size_t v = 0; v < figure.variants.size(); ++v) {
    for (std::size_t seed = 0; seed < all.seeds.size(); ++seed) {
      for (const std::int64_t step : ratios.steps) {
        ratios.values.push_back(all.at_step(v, numerator, seed, step) /
                                all.at_step(v, denominator, seed, step));
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
  add_statistics({"variant", "step"}, "ratios", all, data);
  data["mean"].long_name = "mean ratio over seeds";
  data["standard_deviation"].long_name = "standard deviation of the ratio over seeds";
  content.figure = table_figure(figure, rows);
  content.figure.description = fmt::format("Ratios of {}, {}", results.long_name(quantity), of);
  content.text = fmt::format(
                     "Ratio of the {} (`{}`), {} from the same seed: mean over {} seeds (sample "
                     "standard deviation).\n\n",
                     results.long_name(quantity),
                     quantity,
                     of,
                     ratios.seeds.size()) +
                 markdown_table(rows);
  compare_with_published(
      results,
      figure,
      [&](const PublishedValue& value) {
        for (std::size_t k = 0; k < ratios.steps.size(); ++k) {
          if (value.step != ratios.steps[k]) continue;
          return ratios.statistics(place_of(figure.variants, value.variant), k);
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
                   {.name = "numerator", .meaning = "a run"},
                   {.name = "denominator", .meaning = "a run"}},
          .takes_steps = true,
          .make = make_ratios};
}

}  // namespace hesscope::detail
