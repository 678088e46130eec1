// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

using plot::line_colour;

std::pair<double, double> band_of(const SeedStatistics& statistics, const std::string& kind) {
  if (kind == "min-max") return {statistics.minimum, statistics.maximum};
  const double part = kind == "std/4" ? 0.25 : kind == "std/2" ? 0.5 : 1;
  // Of one seed there is no spread.
  const double half = statistics.count == 1 ? 0 : part * statistics.deviation;
  return {statistics.mean - half, statistics.mean + half};
}

// Of several runs of one variant.
plot::Panel panel_of(const ExperimentResults& results,
                     const ExperimentFigure& figure,
                     const StepValues& values,
                     std::size_t variant) {
  const std::string& band_kind = figure.settings.text("band");
  plot::Panel panel;
  panel.title = panel_title(results, figure, figure.variants[variant]);
  panel.x = {.label = "training step", .scale = scale_from(figure, "x_scale")};
  panel.y = {.label = figure.settings.has("label")
                          ? figure.settings.text("label")
                          : results.long_name(figure.settings.text("quantity")),
             .scale = scale_from(figure, "y_scale")};
  for (std::size_t run = 0; run < figure.runs.size(); ++run) {
    plot::Line line{.label = figure.runs[run], .colour = line_colour(run)};
    plot::Band band{.colour = line_colour(run)};
    for (std::size_t k = 0; k < values.steps.size(); ++k) {
      const SeedStatistics statistics = values.statistics(variant, run, k);
      if (statistics.count == 0) continue;
      line.x.push_back(static_cast<double>(values.steps[k]));
      line.y.push_back(statistics.mean);
      const auto [low, high] = band_of(statistics, band_kind);
      band.low.push_back(low);
      band.high.push_back(high);
    }
    if (line.x.empty()) continue;
    band.x = line.x;
    line.markers = line.x.size() == 1;
    if (band_kind != "none") panel.series.emplace_back(std::move(band));
    panel.series.emplace_back(std::move(line));
  }
  return panel;
}

FigureVariable variable_of(const std::string& name,
                           const std::string& long_name,
                           const std::string& definition) {
  return {.name = name,
          .dimensions = {"variant", "run", "step"},
          .values = {},
          .long_name = long_name,
          .definition = definition};
}

FigureContent make_curves(const ExperimentResults& results, const ExperimentFigure& figure) {
  const std::string& quantity = figure.settings.text("quantity");
  const std::string& band = figure.settings.text("band");
  const StepValues values = step_values(results, figure, quantity);
  FigureContent content;
  content.dimensions = {variant_dimension(figure),
                        run_dimension(figure),
                        seed_dimension(values.seeds),
                        values.step_dimension()};
  content.variables = {{.name = "value",
                        .dimensions = {"variant", "run", "seed", "step"},
                        .values = values.values,
                        .long_name = results.long_name(quantity),
                        .definition = quantity + " of one run from one seed"},
                       variable_of("count", "number of seeds", "of finite values"),
                       variable_of("mean", "mean over seeds", "mean of the finite values"),
                       variable_of("standard_deviation",
                                   "standard deviation over seeds",
                                   "of the finite values, with count - 1 in the denominator"),
                       variable_of("low", "lower end of the band", "band " + band),
                       variable_of("high", "upper end of the band", "band " + band)};
  std::vector<std::vector<std::string>> rows = {{"variant", "run", "first", "last", "seeds"}};
  for (std::size_t v = 0; v < figure.variants.size(); ++v) {
    for (std::size_t run = 0; run < figure.runs.size(); ++run) {
      SeedStatistics first;
      SeedStatistics last;
      for (std::size_t k = 0; k < values.steps.size(); ++k) {
        const SeedStatistics statistics = values.statistics(v, run, k);
        const auto [low, high] = band_of(statistics, band);
        const double numbers[] = {static_cast<double>(statistics.count),
                                  statistics.mean,
                                  statistics.deviation,
                                  low,
                                  high};
        for (std::size_t i = 0; i < 5; ++i) content.variables[i + 1].values.push_back(numbers[i]);
        if (statistics.count == 0) continue;
        if (first.count == 0) first = statistics;
        last = statistics;
      }
      rows.push_back({figure.variants[v],
                      figure.runs[run],
                      mean_text(first),
                      mean_text(last),
                      fmt::format("{}", last.count)});
    }
    content.figure.panels.push_back(panel_of(results, figure, values, v));
  }
  content.figure.columns = static_cast<int>(std::min<std::size_t>(figure.variants.size(), 3));
  content.figure.title = figure.title;
  content.figure.description = fmt::format(
      "{} over training steps: mean over seeds, band {}", results.long_name(quantity), band);
  content.text = fmt::format("{} (`{}`): mean over seeds (standard deviation); the band is {}.\n\n",
                             results.long_name(quantity),
                             quantity,
                             band == "none"      ? "left out"
                             : band == "min-max" ? "from the least to the largest seed"
                                                 : "the mean +- " + band) +
                 markdown_table(rows);
  compare_with_published(
      results,
      figure,
      [&](const PublishedValue& value) {
        const std::size_t run = value.run.empty() ? 0 : place_of(figure.runs, value.run);
        const std::size_t step = values.steps.empty() ? 0
                                 : value.step         ? values.find(*value.step)
                                                      : values.steps.size() - 1;
        return step < values.steps.size()
                   ? values.statistics(place_of(figure.variants, value.variant), run, step)
                   : SeedStatistics();
      },
      content);
  return content;
}

}  // namespace

ExperimentFigureKind curves_kind() {
  return {.name = "curves",
          .summary = "a quantity over steps, mean and band over seeds, a panel for each variant",
          .keys = {quantity_key("quantity"),
                   {.name = "band",
                    .meaning = "around the mean",
                    .choices = {"std/4", "std/2", "std", "min-max", "none"},
                    .fallback = SettingValue(std::string("std/4"))},
                   scale_key("x_scale", "linear"),
                   scale_key("y_scale", "log"),
                   {.name = "label", .meaning = "of the vertical axis", .is_optional = true}},
          .make = make_curves};
}

}  // namespace hesscope::detail
