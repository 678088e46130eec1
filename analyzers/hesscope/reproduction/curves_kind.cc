// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

using plot::line_colour;

// What is drawn of several seeds: a line in its band.
struct Centred {
  double centre;
  double low;
  double high;
};

Centred centred(const SeedStatistics& statistics, const std::string& band, bool is_geometric) {
  const double part = band == "std/4" ? 0.25 : band == "std/2" ? 0.5 : 1;
  const auto half = [&](double deviation) {
    return statistics.count == 1 ? 0 : part * deviation;  // of one seed there is no spread
  };
  Centred drawn{};
  if (is_geometric) {
    const double factor = std::exp(half(statistics.log_deviation));
    drawn.centre = std::exp(statistics.log_mean);
    drawn.low = drawn.centre / factor;
    drawn.high = drawn.centre * factor;
  } else {
    drawn.centre = statistics.mean;
    drawn.low = statistics.mean - half(statistics.deviation);
    drawn.high = statistics.mean + half(statistics.deviation);
  }
  if (band == "min-max") {
    drawn.low = statistics.minimum;
    drawn.high = statistics.maximum;
  }
  return drawn;
}

// Whether lines are geometric means: an arithmetic one hugs the largest seed on a logarithmic axis,
// and a band around it may go below zero. Only of numbers that are all above zero.
bool is_geometric(const ExperimentFigure& figure, const StepValues& values) {
  const std::string& centre = figure.settings.text("centre");
  if (centre != "auto") return centre == "geometric-mean";
  return figure.settings.text("y_scale") == "log" &&
         std::ranges::none_of(values.values, [](double value) { return value <= 0; });
}

std::string words_for_centre(bool is_geometric) { return is_geometric ? "geometric mean" : "mean"; }

// The axes of a panel without a title.
plot::Panel axes_of(const ExperimentResults& results, const ExperimentFigure& figure) {
  plot::Panel panel;
  panel.x = {.label = "training step", .scale = scale_from(figure, "x_scale")};
  panel.y = {.label = figure.settings.has("label")
                          ? figure.settings.text("label")
                          : results.long_name(figure.settings.text("quantity")),
             .scale = scale_from(figure, "y_scale")};
  return panel;
}

// Adds one run's seeds, as a line of this look in its band.
void add_curve(const ExperimentFigure& figure,
               const StepValues& values,
               bool is_geometric,
               std::size_t variant,
               std::size_t run,
               plot::Line line,
               plot::Panel& panel) {
  const std::string& band_kind = figure.settings.text("band");
  plot::Band band{.colour = line.colour};
  for (std::size_t k = 0; k < values.steps.size(); ++k) {
    const SeedStatistics statistics = values.statistics(variant, run, k);
    if (statistics.count == 0) continue;
    line.x.push_back(static_cast<double>(values.steps[k]));
    const auto [centre, low, high] = centred(statistics, band_kind, is_geometric);
    line.y.push_back(centre);
    band.low.push_back(low);
    band.high.push_back(high);
  }
  if (line.x.empty()) return;
  band.x = line.x;
  line.markers = line.x.size() == 1;
  if (band_kind != "none") panel.series.emplace_back(std::move(band));
  panel.series.emplace_back(std::move(line));
}

// What the quantity is compared with: a thin dashed line, the mean over seeds.
void add_limit(const StepValues& limits,
               std::size_t variant,
               std::size_t run,
               const plot::Line& of_run,
               plot::Panel& panel) {
  plot::Line line{.colour = of_run.colour, .width = 0.8, .dash = plot::Dash::kDashed};
  for (std::size_t k = 0; k < limits.steps.size(); ++k) {
    const SeedStatistics statistics = limits.statistics(variant, run, k);
    if (statistics.count == 0) continue;
    line.x.push_back(static_cast<double>(limits.steps[k]));
    line.y.push_back(statistics.mean);
  }
  if (!line.x.empty()) panel.series.emplace_back(std::move(line));
}

// A panel for each variant, a colour for each run; or all in one, a colour for each variant and
// runs told apart by dashes.
std::vector<plot::Panel> panels_of(const ExperimentResults& results,
                                   const ExperimentFigure& figure,
                                   const StepValues& values,
                                   const std::optional<StepValues>& limits,
                                   bool is_geometric) {
  constexpr plot::Dash kDashes[] = {plot::Dash::kSolid, plot::Dash::kDashed, plot::Dash::kDotted};
  const bool is_one = figure.settings.text("panels") == "one";
  std::vector<plot::Panel> panels;
  for (std::size_t v = 0; v < figure.variants.size(); ++v) {
    if (panels.empty() || !is_one) panels.push_back(axes_of(results, figure));
    plot::Panel& panel = panels.back();
    if (!is_one) panel.title = panel_title(results, figure, figure.variants[v]);
    if (is_one) panel.legend = plot::Legend::kBeside;
    for (std::size_t run = 0; run < figure.runs.size(); ++run) {
      plot::Line line{.label = results.run_title(figure.runs[run]),
                      .colour = line_colour(is_one ? v : run)};
      if (is_one) {
        line.label = results.variant(figure.variants[v]).title + ", " + line.label;
        line.dash = kDashes[run % std::size(kDashes)];
      }
      if (limits) add_limit(*limits, v, run, line, panel);
      add_curve(figure, values, is_geometric, v, run, std::move(line), panel);
    }
  }
  return panels;
}

void add_data(const ExperimentResults& results,
              const ExperimentFigure& figure,
              const StepValues& values,
              const std::optional<StepValues>& limits,
              const std::vector<SeedStatistics>& by_step,
              bool is_geometric,
              Group& data) {
  const std::string& quantity = figure.settings.text("quantity");
  const std::string& band = figure.settings.text("band");
  const std::vector<std::string> by_run = {"variant", "run", "step"};
  data.dimensions = {variant_dimension(figure),
                     run_dimension(figure),
                     seed_dimension(values.seeds),
                     values.step_dimension()};
  data.add({.name = "value",
            .dimensions = {"variant", "run", "seed", "step"},
            .long_name = results.long_name(quantity),
            .definition = quantity + " of one run from one seed",
            .values = values.values});
  if (limits) {
    const std::string& limit = figure.settings.text("limit");
    std::vector<double> at_steps;  // of the values
    for (std::size_t v = 0; v < figure.variants.size(); ++v) {
      for (std::size_t run = 0; run < figure.runs.size(); ++run) {
        for (std::size_t seed = 0; seed < values.seeds.size(); ++seed) {
          for (const std::int64_t step : values.steps) {
            at_steps.push_back(limits->at_step(v, run, seed, step));
          }
        }
      }
    }
    data.add({.name = "limit",
              .dimensions = {"variant", "run", "seed", "step"},
              .long_name = results.long_name(limit),
              .definition = limit + " of one run from one seed",
              .values = std::move(at_steps)});
  }
  add_statistics(by_run, "values", by_step, data);
  std::vector<double> centre;
  std::vector<double> low;
  std::vector<double> high;
  for (const SeedStatistics& statistics : by_step) {
    const Centred drawn = centred(statistics, band, is_geometric);
    centre.push_back(drawn.centre);
    low.push_back(drawn.low);
    high.push_back(drawn.high);
  }
  data.add({.name = "centre",
            .dimensions = by_run,
            .long_name = "the line",
            .definition = words_for_centre(is_geometric) + " of the finite values over seeds",
            .values = std::move(centre)});
  data.add({.name = "low",
            .dimensions = by_run,
            .long_name = "lower end of the band",
            .definition = "band " + band,
            .values = std::move(low)});
  data.add({.name = "high",
            .dimensions = by_run,
            .long_name = "upper end of the band",
            .definition = "band " + band,
            .values = std::move(high)});
}

FigureContent make_curves(const ExperimentResults& results, const ExperimentFigure& figure) {
  const std::string& quantity = figure.settings.text("quantity");
  const std::string& band = figure.settings.text("band");
  const StepValues values = step_values(results, figure, quantity);
  std::optional<StepValues> limits;
  if (figure.settings.has("limit")) {
    limits = step_values(results, figure, figure.settings.text("limit"));
  }
  const bool geometric = is_geometric(figure, values);
  FigureContent content;
  std::vector<SeedStatistics> by_step;  // of all runs of all variants
  std::vector<std::vector<std::string>> rows = {{"variant", "run", "first", "last", "seeds"}};
  for (std::size_t v = 0; v < figure.variants.size(); ++v) {
    for (std::size_t run = 0; run < figure.runs.size(); ++run) {
      SeedStatistics first;
      SeedStatistics last;
      for (std::size_t k = 0; k < values.steps.size(); ++k) {
        const SeedStatistics statistics = values.statistics(v, run, k);
        by_step.push_back(statistics);
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
  }
  content.figure.panels = panels_of(results, figure, values, limits, geometric);
  add_data(results, figure, values, limits, by_step, geometric, content.data);
  // Three in a row, but four without a hole.
  const auto num_panels = static_cast<int>(content.figure.panels.size());
  content.figure.columns = num_panels == 4 ? 2 : std::min(num_panels, 3);
  content.figure.title = figure.title;
  content.figure.description = fmt::format("{} over training steps: {} over seeds, band {}",
                                           results.long_name(quantity),
                                           words_for_centre(geometric),
                                           band);
  if (limits) {
    content.figure.description +=
        fmt::format("; dashed: {}", results.long_name(figure.settings.text("limit")));
  }
  const std::string around =
      geometric ? fmt::format(
                      "the geometric mean times and over exp({}), std that of the logarithms", band)
                : "the mean +- " + band;
  content.text =
      fmt::format(
          "{} (`{}`): mean over seeds (standard deviation); drawn is the {}, the band is {}.\n\n",
          results.long_name(quantity),
          quantity,
          words_for_centre(geometric),
          band == "none"      ? "left out"
          : band == "min-max" ? "from the least to the largest seed"
                              : around) +
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
          .summary = "a quantity over steps, centre and band over seeds",
          .keys = {quantity_key("quantity"),
                   {.name = "centre",
                    .meaning = "the line; auto: the geometric mean on a logarithmic axis where all "
                               "numbers are above zero, the mean elsewhere",
                    .choices = {"auto", "mean", "geometric-mean"},
                    .fallback = SettingValue(std::string("auto"))},
                   {.name = "band",
                    .meaning = "around the centre, of its own standard deviation",
                    .choices = {"std/4", "std/2", "std", "min-max", "none"},
                    .fallback = SettingValue(std::string("std/4"))},
                   {.name = "panels",
                    .meaning = "one for each of the variants, or one for all",
                    .choices = {"variants", "one"},
                    .fallback = SettingValue(std::string("variants"))},
                   {.name = "limit",
                    .meaning = "what the quantity is compared with, dashed: GROUP/NAME, as in "
                               "edge/threshold",
                    .is_optional = true},
                   scale_key("x_scale", "linear"),
                   scale_key("y_scale", "log"),
                   {.name = "label", .meaning = "of the vertical axis", .is_optional = true}},
          .make = make_curves};
}

}  // namespace hesscope::detail
