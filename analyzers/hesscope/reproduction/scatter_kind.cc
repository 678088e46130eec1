// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/step_values.h>
#include <hesscope/statistics/least_squares.h>

namespace hesscope::detail {
namespace {

// The least-squares line of log y over log x.
struct LogFit {
  std::size_t count = 0;  ///< of points with both numbers above zero
  std::size_t left_out = 0;
  double slope = kNaN;
  double correlation = kNaN;
};

LogFit fit(const std::vector<double>& x, const std::vector<double>& y) {
  LogFit found;
  std::vector<double> log_x;
  std::vector<double> log_y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    if (x[i] > 0 && y[i] > 0) {
      log_x.push_back(std::log(x[i]));
      log_y.push_back(std::log(y[i]));
    } else {
      ++found.left_out;
    }
  }
  found.count = log_x.size();
  if (found.count == 0) return found;
  const auto size = static_cast<Eigen::Index>(found.count);
  const LineFit line = fit_line(Eigen::Map<const Eigen::VectorXd>(log_x.data(), size),
                                Eigen::Map<const Eigen::VectorXd>(log_y.data(), size));
  found.slope = line.slope.value;
  found.correlation = line.correlation.value;
  return found;
}

std::string label_of(const ExperimentFigure& figure,
                     const char* key,
                     const std::string& otherwise) {
  return figure.settings.has(key) ? figure.settings.text(key) : otherwise;
}

// Coloured by step if there are several. Many points are smaller and transparent, so that covered
// ones show.
void add_points(plot::Scatter points, plot::Panel& panel) {
  constexpr std::size_t kMany = 300;
  const bool are_many = points.x.size() > kMany;
  points.radius = are_many ? 1.2 : 2;
  points.opacity = are_many ? 0.6 : 1;
  const auto [first, last] = std::ranges::minmax_element(points.values);
  if (first == last || *first == *last) {
    if (first != points.values.end()) panel.note = fmt::format("step {}", *first);
    points.values.clear();
  } else {
    panel.colour_bar = plot::ColourBar{.label = "training step", .whole_numbers = true};
  }
  panel.series.emplace_back(std::move(points));
}

FigureContent make_scatter(const ExperimentResults& results, const ExperimentFigure& figure) {
  const std::string x_name = results.long_name(figure.settings.text("x"));
  const std::string y_name = results.long_name(figure.settings.text("y"));
  const StepValues x = step_values(results, figure, figure.settings.text("x"));
  const StepValues y = step_values(results, figure, figure.settings.text("y"));
  FigureContent content;
  std::vector<double> paired;  // y at the steps of x
  RunTable table(
      results, figure, {"points", "not above 0", "slope of logarithms", "correlation of them"});
  std::vector<double> slopes;
  std::vector<double> correlations;
  for (std::size_t v = 0; v < figure.variants.size(); ++v) {
    for (std::size_t run = 0; run < figure.runs.size(); ++run) {
      plot::Panel panel;
      plot::Scatter points;
      for (std::size_t seed = 0; seed < x.seeds.size(); ++seed) {
        for (std::size_t k = 0; k < x.steps.size(); ++k) {
          paired.push_back(y.at_step(v, run, seed, x.steps[k]));
          if (std::isnan(paired.back()) || std::isnan(x.at(v, run, seed, k))) continue;
          points.x.push_back(x.at(v, run, seed, k));
          points.y.push_back(paired.back());
          points.values.push_back(static_cast<double>(x.steps[k]));
        }
      }
      const LogFit found = fit(points.x, points.y);
      slopes.push_back(found.slope);
      correlations.push_back(found.correlation);
      table.add(figure.variants[v],
                figure.runs[run],
                {fmt::format("{}", found.count),
                 fmt::format("{}", found.left_out),
                 digits_text(found.slope),
                 digits_text(found.correlation)});
      panel.title = panel_title(results, figure, figure.variants[v], figure.runs[run]);
      panel.x = {.label = label_of(figure, "x_label", x_name),
                 .scale = scale_from(figure, "x_scale")};
      panel.y = {.label = label_of(figure, "y_label", y_name),
                 .scale = scale_from(figure, "y_scale")};
      add_points(std::move(points), panel);
      content.figure.panels.push_back(std::move(panel));
    }
  }
  content.data.dimensions = {variant_dimension(figure),
                             run_dimension(figure),
                             seed_dimension(x.seeds),
                             x.step_dimension()};
  const std::vector<std::string> all = {"variant", "run", "seed", "step"};
  content.data.variables = {{.name = "x",
                             .dimensions = all,
                             .long_name = x_name,
                             .definition = figure.settings.text("x"),
                             .values = x.values},
                            {.name = "y",
                             .dimensions = all,
                             .long_name = y_name,
                             .definition = figure.settings.text("y"),
                             .values = std::move(paired)},
                            {.name = "log_slope",
                             .dimensions = {"variant", "run"},
                             .long_name = "slope of log y over log x",
                             .definition = "least squares over points with x > 0 and y > 0",
                             .values = std::move(slopes)},
                            {.name = "log_correlation",
                             .dimensions = {"variant", "run"},
                             .long_name = "correlation of log x and log y",
                             .definition = "of the same points",
                             .values = std::move(correlations)}};
  const auto num_panels = static_cast<int>(content.figure.panels.size());
  content.figure.columns = num_panels == 4 ? 2 : std::min(num_panels, 3);
  content.figure.title = figure.title;
  content.figure.description = fmt::format("{} against {}, coloured by step", y_name, x_name);
  content.text =
      fmt::format(
          "{} against {}, a point for each step at which both were measured.\n\n", y_name, x_name) +
      markdown_table(table.rows());
  return content;
}

}  // namespace

ExperimentFigureKind scatter_kind() {
  return {.name = "scatter",
          .summary = "two quantities against each other, coloured by step",
          .keys = {quantity_key("x"),
                   quantity_key("y"),
                   scale_key("x_scale", "log"),
                   scale_key("y_scale", "log"),
                   {.name = "x_label", .meaning = "of the axis", .is_optional = true},
                   {.name = "y_label", .meaning = "of the axis", .is_optional = true}},
          .has_equal_axes = true,
          .make = make_scatter};
}

}  // namespace hesscope::detail
