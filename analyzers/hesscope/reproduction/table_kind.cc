// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

// Steps of a variant's columns: those asked for, or the last of its training.
std::vector<std::int64_t> columns_of(const ExperimentResults& results,
                                     const ExperimentFigure& figure,
                                     const std::string& variant) {
  if (!figure.steps.empty()) return figure.steps;
  return {results.variant(variant).experiment.num_steps};
}

FigureContent make_table(const ExperimentResults& results, const ExperimentFigure& figure) {
  const std::size_t num_columns = figure.steps.empty() ? 1 : figure.steps.size();
  std::vector<StepValues> all;
  for (const std::string& quantity : figure.quantities) {
    all.push_back(step_values(results, figure, quantity));
  }
  const auto statistics = [&](std::size_t q, std::size_t v, std::size_t run, std::int64_t step) {
    const std::size_t k = all[q].find(step);
    return k < all[q].steps.size() ? all[q].statistics(v, run, k) : SeedStatistics();
  };
  FigureContent content;
  const std::vector<std::string> dimensions = {"quantity", "variant", "run", "column"};
  content.dimensions = {{.name = "quantity", .size = all.size(), .labels = figure.quantities},
                        variant_dimension(figure),
                        run_dimension(figure),
                        {.name = "column", .size = num_columns}};
  content.variables = {{.name = "at_step",
                        .dimensions = {"variant", "column"},
                        .values = {},
                        .long_name = "training step",
                        .definition = "number of updates made"},
                       {.name = "count",
                        .dimensions = dimensions,
                        .values = {},
                        .long_name = "number of seeds",
                        .definition = "of finite values"},
                       {.name = "mean",
                        .dimensions = dimensions,
                        .values = {},
                        .long_name = "mean over seeds",
                        .definition = "mean of the finite values"},
                       {.name = "standard_deviation",
                        .dimensions = dimensions,
                        .values = {},
                        .long_name = "standard deviation over seeds",
                        .definition = "of the finite values, with count - 1 in the denominator"}};
  for (const std::string& variant : figure.variants) {
    for (const std::int64_t step : columns_of(results, figure, variant)) {
      content.variables[0].values.push_back(static_cast<double>(step));
    }
  }
  std::vector<std::vector<std::string>> rows = {{"variant", "run", "step"}};
  for (const std::string& quantity : figure.quantities) rows[0].push_back(quantity);
  for (std::size_t v = 0; v < figure.variants.size(); ++v) {
    for (std::size_t run = 0; run < figure.runs.size(); ++run) {
      for (const std::int64_t step : columns_of(results, figure, figure.variants[v])) {
        const std::string title = panel_title(results, figure, figure.variants[v]);
        rows.push_back({title.empty() ? figure.variants[v] : title,
                        figure.runs[run],
                        fmt::format("{}", step)});
        for (std::size_t q = 0; q < all.size(); ++q) {
          rows.back().push_back(mean_text(statistics(q, v, run, step)));
        }
      }
    }
  }
  for (std::size_t q = 0; q < all.size(); ++q) {
    for (std::size_t v = 0; v < figure.variants.size(); ++v) {
      for (std::size_t run = 0; run < figure.runs.size(); ++run) {
        for (const std::int64_t step : columns_of(results, figure, figure.variants[v])) {
          const SeedStatistics found = statistics(q, v, run, step);
          content.variables[1].values.push_back(static_cast<double>(found.count));
          content.variables[2].values.push_back(found.mean);
          content.variables[3].values.push_back(found.deviation);
        }
      }
    }
  }
  content.figure = table_figure(figure, rows);
  content.figure.description = "Values at given steps: mean over seeds (standard deviation)";
  content.text = "Mean over seeds (sample standard deviation).\n\n" + markdown_table(rows);
  compare_with_published(
      results,
      figure,
      [&](const PublishedValue& value) {
        const std::size_t q =
            value.quantity.empty() ? 0 : place_of(figure.quantities, value.quantity);
        const std::size_t run = value.run.empty() ? 0 : place_of(figure.runs, value.run);
        if (q == figure.quantities.size()) return SeedStatistics();
        const std::int64_t step =
            value.step ? *value.step : columns_of(results, figure, value.variant).front();
        return statistics(q, place_of(figure.variants, value.variant), run, step);
      },
      content);
  return content;
}

}  // namespace

ExperimentFigureKind table_kind() {
  return {.name = "table",
          .summary = "quantities at given steps, or at the end: mean and spread over seeds",
          .keys = {},
          .takes_steps = true,
          .takes_quantities = true,
          .make = make_table};
}

}  // namespace hesscope::detail
