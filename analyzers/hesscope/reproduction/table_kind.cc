// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/name_list.h>
#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

// Steps of a variant's columns: those asked for, or the last step of its training.
std::vector<std::int64_t> columns_of(const ExperimentResults& results,
                                     const ExperimentFigure& figure,
                                     const std::string& variant) {
  if (!figure.steps.empty()) return figure.steps;
  return {results.variant(variant).experiment.num_steps};
}

std::vector<std::string> table_quantities(const ExperimentFigure& figure) {
  return figure.quantities;
}

// A step at which no run has a value, however long the runs are, is a mistake.
void require_steps(const ExperimentResults& results,
                   const ExperimentFigure& figure,
                   const std::vector<StepValues>& all) {
  const bool has_diverged = std::ranges::any_of(results.runs(), &TrainedRun::has_diverged);
  for (const std::int64_t step : figure.steps) {
    const bool is_there = std::ranges::any_of(
        all, [&](const StepValues& values) { return values.find(step).has_value(); });
    if (is_there || has_diverged || all.front().steps.empty()) continue;
    std::vector<std::string> there;
    for (const std::int64_t other : all.front().steps) there.push_back(fmt::to_string(other));
    throw ConfigError(
        fmt::format("{}: the figure '{}' shows step {}, at which no run has a value of '{}': there "
                    "are steps {}",
                    figure.location,
                    figure.name,
                    step,
                    fmt::join(figure.quantities, "', '"),
                    first_names(there, 12)));
  }
}

FigureContent make_table(const ExperimentResults& results, const ExperimentFigure& figure) {
  std::vector<StepValues> all;
  const std::int64_t window = figure.settings.integer("window");
  for (const std::string& quantity : figure.quantities) {
    all.push_back(step_values(results, figure, quantity));
    if (window > 0) average_over(window, all.back());
  }
  require_steps(results, figure, all);
  const auto statistics = [&](std::size_t q, std::size_t v, std::size_t run, std::int64_t step) {
    const std::optional<std::size_t> k = all[q].find(step);
    return k ? all[q].statistics(v, run, *k) : SeedStatistics();
  };
  FigureContent content;
  std::vector<double> steps;
  for (const std::string& variant : figure.variants) {
    for (const std::int64_t step : columns_of(results, figure, variant)) {
      steps.push_back(static_cast<double>(step));
    }
  }
  content.data.dimensions = {
      named_dimension("quantity", figure.quantities),
      variant_dimension(figure),
      run_dimension(figure),
      {.name = "column", .size = std::max<std::int64_t>(std::ssize(figure.steps), 1)}};
  content.data.add({.name = "at_step",
                    .dimensions = {"variant", "column"},
                    .long_name = "training step",
                    .definition = "number of updates made",
                    .values = std::move(steps)});
  std::vector<SeedStatistics> cells;
  for (std::size_t q = 0; q < all.size(); ++q) {
    for (std::size_t v = 0; v < figure.variants.size(); ++v) {
      for (std::size_t run = 0; run < figure.runs.size(); ++run) {
        for (const std::int64_t step : columns_of(results, figure, figure.variants[v])) {
          cells.push_back(statistics(q, v, run, step));
        }
      }
    }
  }
  const std::size_t num_rows = cells.size() / all.size();
  std::vector<std::vector<std::string>> columns;  // by quantity
  for (std::size_t q = 0; q < all.size(); ++q) {
    columns.push_back(column_texts(std::span(cells).subspan(q * num_rows, num_rows)));
  }
  std::vector<std::string> headings = {"step"};
  for (std::size_t q = 0; q < all.size(); ++q) {
    headings.push_back(figure.headings.empty() ? results.long_name(figure.quantities[q])
                                               : figure.headings[q]);
  }
  RunTable table(results, figure, std::move(headings));
  std::size_t row = 0;
  for (const std::string& variant : figure.variants) {
    for (const std::string& run : figure.runs) {
      for (const std::int64_t step : columns_of(results, figure, variant)) {
        std::vector<std::string> texts = {fmt::format("{}", step)};
        for (const std::vector<std::string>& column : columns) texts.push_back(column[row]);
        table.add(variant, run, std::move(texts));
        ++row;
      }
    }
  }
  add_statistics({"quantity", "variant", "run", "column"}, "values", cells, content.data);
  content.figure = table_figure(figure, table.rows());
  const std::string before =
      window == 0
          ? ""
          : fmt::format(", each the mean of the looks in the {} steps that end there", window);
  content.figure.description =
      fmt::format("Values at given steps{}: mean over seeds (standard deviation)", before);
  content.text =
      fmt::format("Mean over seeds (sample standard deviation) of values at the step{}.\n\n",
                  before) +
      markdown_table(table.rows());
  compare_with_published(
      results,
      figure,
      [&](const PublishedValue& value, std::size_t variant, std::size_t run) {
        const std::optional<std::size_t> q = index_or_first(figure.quantities, value.quantity);
        const std::int64_t step =
            value.step.value_or(columns_of(results, figure, value.variant).front());
        return q ? statistics(*q, variant, run, step) : SeedStatistics();
      },
      content);
  return content;
}

}  // namespace

ExperimentFigureKind table_kind() {
  return {.name = "table",
          .summary = "quantities at given steps, or at the end: mean and spread over seeds",
          .keys = {{.name = "window",
                    .type = SettingKey::Type::kInteger,
                    .meaning = "number of steps, up to each of the steps, over which recorded "
                               "values are averaged; 0 = the step alone",
                    .minimum = 0,
                    .fallback = SettingValue(std::int64_t{0})}},
          .steps_if_absent = "the last of each variant",
          .takes_quantities = true,
          .takes_headings = true,
          .published = PublishedPlace{.run = PublishedPlace::Run::kOfFigure,
                                      .step = PublishedPlace::Step::kOptional,
                                      .quantities = table_quantities},
          .make = make_table};
}

}  // namespace hesscope::detail
