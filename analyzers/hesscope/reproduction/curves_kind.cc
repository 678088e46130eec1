// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hesscope/reproduction/internal/centre_line.h>
#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

using plot::line_colour;

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

// Adds the seeds of one run as a line with a band.
void add_curve(const ExperimentFigure& figure,
               const StepValues& values,
               Centre centre,
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
    const Centred drawn = centred(statistics, band_kind, centre);
    line.y.push_back(drawn.centre);
    band.low.push_back(drawn.low);
    band.high.push_back(drawn.high);
  }
  if (line.x.empty()) return;
  band.x = line.x;
  line.markers = line.x.size() == 1;
  if (band_kind != "none") panel.series.emplace_back(std::move(band));
  panel.series.emplace_back(std::move(line));
}

// Adds the limit of a quantity as a thin dashed line, the mean over seeds.
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

// Adds an upper bound of a run's values, (1 - rate times bound)^t times the first value, with the
// bound at the first checkpoint: a dotted line, the geometric mean over seeds.
void add_bound(const ExperimentResults& results,
               const ExperimentFigure& figure,
               const StepValues& values,
               const StepValues& bounds,
               std::size_t variant,
               std::size_t run,
               const plot::Line& of_run,
               plot::Panel& panel) {
  const ExperimentRun* const trained =
      results.variant(figure.variants[variant]).experiment.find_run(figure.runs[run]);
  if (trained == nullptr || bounds.steps.empty()) return;
  plot::Line line{.colour = of_run.colour, .width = 0.9, .dash = plot::Dash::kDotted};
  for (const std::int64_t step : values.steps) {
    std::vector<double> by_seed;
    for (std::size_t seed = 0; seed < values.seeds.size(); ++seed) {
      const double rate = trained->learning_rate * bounds.at(variant, run, seed, 0);
      const auto count = static_cast<double>(step - values.steps.front());
      by_seed.push_back(values.at(variant, run, seed, 0) * std::exp(count * std::log1p(-rate)));
    }
    const SeedStatistics statistics = seed_statistics(by_seed);
    if (statistics.count == 0) continue;
    line.x.push_back(static_cast<double>(step));
    line.y.push_back(std::exp(statistics.log_mean));
  }
  if (!line.x.empty()) panel.series.emplace_back(std::move(line));
}

// One panel for each variant with one colour for each run; or a single panel with one colour for
// each variant, in which dashes distinguish runs.
std::vector<plot::Panel> panels_of(const ExperimentResults& results,
                                   const ExperimentFigure& figure,
                                   const StepValues& values,
                                   const std::optional<StepValues>& limits,
                                   const std::optional<StepValues>& bounds,
                                   Centre centre) {
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
        line.label = panel_title(results, figure, figure.variants[v], figure.runs[run]);
        line.dash = kDashes[run % std::size(kDashes)];
      }
      if (limits) add_limit(*limits, v, run, line, panel);
      if (bounds) add_bound(results, figure, values, *bounds, v, run, line, panel);
      add_curve(figure, values, centre, v, run, std::move(line), panel);
    }
  }
  for (plot::Panel& panel : panels) {
    if (panel.y.scale == plot::ScaleKind::kSignedLog) {
      panel.series.emplace_back(plot::Reference{.dash = plot::Dash::kSolid});
      panel.y.threshold = signed_threshold(values.values);
    }
    add_marks(figure, panel);
  }
  return panels;
}

void add_data(const ExperimentResults& results,
              const ExperimentFigure& figure,
              const StepValues& values,
              const std::optional<StepValues>& limits,
              const std::vector<SeedStatistics>& by_step,
              Centre centre,
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
  std::vector<double> centres;
  std::vector<double> low;
  std::vector<double> high;
  for (const SeedStatistics& statistics : by_step) {
    const Centred drawn = centred(statistics, band, centre);
    centres.push_back(drawn.centre);
    low.push_back(drawn.low);
    high.push_back(drawn.high);
  }
  data.add({.name = "centre",
            .dimensions = by_run,
            .long_name = "the line",
            .definition = words_for(centre) + " of the finite values over seeds",
            .values = std::move(centres)});
  data.add({.name = "low",
            .dimensions = by_run,
            .long_name = "lower end of the band",
            .definition = words_for_band(band, centre),
            .values = std::move(low)});
  data.add({.name = "high",
            .dimensions = by_run,
            .long_name = "upper end of the band",
            .definition = words_for_band(band, centre),
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
  std::optional<StepValues> bounds;
  if (figure.settings.has("bound")) {
    bounds = step_values(results, figure, figure.settings.text("bound"));
  }
  const Centre centre =
      centre_of(figure.settings.text("centre"), figure.settings.text("y_scale"), values.values);
  FigureContent content;
  std::vector<SeedStatistics> by_step;  // over all runs of all variants
  RunTable table(results, figure, {"first", "last", "seeds"});
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
      table.add(figure.variants[v],
                figure.runs[run],
                {mean_text(first), mean_text(last), fmt::format("{}", last.count)});
    }
  }
  content.figure.panels = panels_of(results, figure, values, limits, bounds, centre);
  add_data(results, figure, values, limits, by_step, centre, content.data);
  // Three in a row, but four as a square.
  const auto num_panels = static_cast<int>(content.figure.panels.size());
  content.figure.columns = num_panels == 4 ? 2 : std::min(num_panels, 3);
  content.figure.title = figure.title;
  content.figure.description = fmt::format("{} over training steps: {} over seeds, the band {}",
                                           results.long_name(quantity),
                                           words_for(centre),
                                           words_for_band(band, centre));
  if (limits) {
    content.figure.description +=
        fmt::format("; dashed: {}", results.long_name(figure.settings.text("limit")));
  }
  if (bounds) {
    content.figure.description +=
        fmt::format("; dotted: what {} allows", results.long_name(figure.settings.text("bound")));
  }
  content.text =
      fmt::format(
          "{} (`{}`): mean over seeds (standard deviation); drawn is the {}, the band is {}.\n\n",
          results.long_name(quantity),
          quantity,
          words_for(centre),
          words_for_band(band, centre)) +
      markdown_table(table.rows());
  compare_with_published(
      results,
      figure,
      [&](const PublishedValue& value, std::size_t variant, std::size_t run) {
        if (values.steps.empty()) return SeedStatistics();
        const std::optional<std::size_t> step =
            values.find(value.step.value_or(values.steps.back()));
        return step ? values.statistics(variant, run, *step) : SeedStatistics();
      },
      content);
  return content;
}

}  // namespace

ExperimentFigureKind curves_kind() {
  return {
      .name = "curves",
      .summary = "a quantity over steps, centre and band over seeds",
      .keys =
          {quantity_key("quantity"),
           {.name = "centre",
            .meaning = "the line; auto: on a linear axis the mean, on a logarithmic one the "
                       "geometric mean if all numbers are above zero, otherwise the median",
            .choices = {"auto", "mean", "geometric-mean", "median"},
            .fallback = SettingValue(std::string("auto"))},
           {.name = "band",
            .meaning =
                "around the centre, by its own standard deviation; for a median, the quartiles",
            .choices = {"std/4", "std/2", "std", "min-max", "none"},
            .fallback = SettingValue(std::string("std/4"))},
           {.name = "panels",
            .meaning = "one for each of the variants, or one for all",
            .choices = {"variants", "one"},
            .fallback = SettingValue(std::string("variants"))},
           {.name = "limit",
            .meaning =
                "what the quantity is compared with, dashed: GROUP/NAME, such as edge/threshold",
            .is_optional = true},
           {.name = "bound",
            .meaning = "GROUP/NAME, whose value b at the first checkpoint gives the dotted line: "
                       "the first value times (1 - learning rate b)^t",
            .is_optional = true},
           scale_key("x_scale", "linear"),
           scale_key("y_scale", "log"),
           {.name = "label", .meaning = "of the vertical axis", .is_optional = true}},
      .takes_marks = true,
      .has_equal_axes = true,
      .published = PublishedPlace{.run = PublishedPlace::Run::kOfFigure,
                                  .step = PublishedPlace::Step::kOptional,
                                  .quantities = own_quantity},
      .make = make_curves};
}

}  // namespace hesscope::detail
