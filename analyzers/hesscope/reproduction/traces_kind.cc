// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

std::size_t size_of(const ArraySeries& series) {
  std::size_t size = 1;
  for (const std::size_t extent : series.shape) size *= extent;
  return size;
}

// Elements of a quantity that are shown together: those that end on the same side of zero.
struct Side {
  std::string name;
  std::size_t colour = 0;
  std::vector<std::size_t> elements{};
};

// Elements that end above zero, and those that end below; without names if there is only one kind.
std::vector<Side> sides_of(const ArraySeries& series, std::size_t size) {
  Side above{.name = "end above 0", .colour = 0};
  Side below{.name = "end below 0", .colour = 1};
  for (std::size_t k = 0; k < size; ++k) {
    const bool is_above = series.values.empty() || !(series.values.rbegin()->second[k] < 0);
    (is_above ? above : below).elements.push_back(k);
  }
  std::vector<Side> sides;
  for (Side& side : {std::ref(above), std::ref(below)}) {
    if (!side.elements.empty()) sides.push_back(std::move(side));
  }
  if (sides.size() == 1) sides.front().name.clear();
  return sides;
}

// Thin lines for some elements; if there are many, also their median in the band of the middle
// eight in ten.
void add_side(const ArraySeries& series, const Side& side, std::size_t size, plot::Panel& panel) {
  constexpr std::size_t kMostLines = 8;
  constexpr double kOuter = 0.1;  // outside of the band on each side
  const plot::Colour colour = plot::line_colour(side.colour);
  const std::size_t num_elements = side.elements.size();
  const bool are_many = num_elements > kMostLines;
  const std::size_t num_lines = are_many ? kMostLines - 2 : num_elements;
  plot::Band band{.colour = colour};
  plot::Line median{.colour = colour, .width = 1.6};
  if (!side.name.empty()) median.label = fmt::format("{}: {} of {}", side.name, num_elements, size);
  for (const auto& [step, values] : series.values) {
    std::vector<double> sorted;
    for (const std::size_t element : side.elements) {
      if (std::isfinite(values[element])) sorted.push_back(values[element]);
    }
    std::ranges::sort(sorted);
    band.x.push_back(static_cast<double>(step));
    band.low.push_back(quantile(sorted, kOuter));
    band.high.push_back(quantile(sorted, 1 - kOuter));
    median.y.push_back(quantile(sorted, 0.5));
  }
  median.x = band.x;
  if (are_many) panel.series.emplace_back(std::move(band));
  for (std::size_t k = 0; k < num_lines; ++k) {
    const std::size_t element = side.elements[k * num_elements / num_lines];
    plot::Line line{.x = median.x, .colour = plot::tinted(colour, 0.45), .width = 0.5};
    for (const auto& [step, values] : series.values) line.y.push_back(values[element]);
    if (size == 1) line.colour = colour;
    if (size == 1) line.width = median.width;
    panel.series.emplace_back(std::move(line));
  }
  // If there are only a few, there is no median, and the first line gets the label.
  if (are_many) {
    panel.series.emplace_back(std::move(median));
  } else {
    std::get<plot::Line>(panel.series[panel.series.size() - num_lines]).label = median.label;
  }
}

plot::Panel panel_of(const ExperimentFigure& figure,
                     const ArraySeries& series,
                     const std::string& title,
                     const std::string& label) {
  plot::Panel panel;
  panel.title = title;
  panel.x = {.label = "training step", .scale = scale_from(figure, "x_scale")};
  panel.y = {.label = label, .scale = scale_from(figure, "y_scale")};
  panel.legend = plot::Legend::kInside;
  const std::size_t size = size_of(series);
  for (const Side& side : sides_of(series, size)) add_side(series, side, size, panel);
  add_marks(figure, panel);
  return panel;
}

// One quantity, with dimensions named after it, because they may differ between runs.
void add_variable(const std::string& quantity,
                  const std::string& suffix,
                  const std::vector<std::int64_t>& steps,
                  const ArraySeries& series,
                  const std::string& long_name,
                  Group& data) {
  const std::size_t slash = quantity.find('/');
  Variable variable{.name = quantity.substr(slash + 1) + suffix,
                    .dimensions = {"step"},
                    .long_name = long_name,
                    .definition = quantity + " of one run from one seed"};
  if (data.find(variable.name) != nullptr) {
    variable.name = quantity.substr(0, slash) + "_" + variable.name;
  }
  for (std::size_t i = 0; i < series.shape.size(); ++i) {
    const std::string name = series.dimensions[i] + suffix;
    variable.dimensions.push_back(name);
    if (std::ranges::find(data.dimensions, name, &Dimension::name) == data.dimensions.end()) {
      data.dimensions.push_back({.name = name, .size = static_cast<std::int64_t>(series.shape[i])});
    }
  }
  std::vector<double> all;
  const std::vector<double> none(size_of(series), kNaN);
  for (const std::int64_t step : steps) {
    const auto found = series.values.find(step);
    const std::vector<double>& values = found == series.values.end() ? none : found->second;
    all.insert(all.end(), values.begin(), values.end());
  }
  variable.values = std::move(all);
  data.add(std::move(variable));
}

struct Trace {
  std::string quantity;
  std::string suffix;  // in the names of the file; empty for a single run
  std::string title;
  ArraySeries series;
};

// The seed that is shown: the first one unless the figure names another.
std::uint64_t seed_of(const ExperimentResults& results, const ExperimentFigure& figure) {
  if (figure.settings.has("seed")) {
    return static_cast<std::uint64_t>(figure.settings.integer("seed"));
  }
  const std::vector<std::uint64_t> seeds = results.seeds(figure.variants);
  // If no run exists, the seed that would be shown.
  return seeds.empty() ? results.variant(figure.variants.front()).experiment.seeds.front()
                       : seeds.front();
}

// If no run has this seed, returns traces without steps.
std::vector<Trace> traces_of(const ExperimentResults& results,
                             const ExperimentFigure& figure,
                             std::uint64_t seed) {
  std::vector<Trace> traces;
  const bool is_one = figure.variants.size() * figure.runs.size() == 1;
  for (const std::string& variant : figure.variants) {
    for (const std::string& name : figure.runs) {
      const TrainedRun* run = results.find(variant, name, seed);
      if (run == nullptr) continue;
      for (const std::string& quantity : figure.quantities) {
        ArraySeries series = results.array_series(*run, quantity);
        if (figure.settings.has("until")) {
          const std::int64_t until = figure.settings.integer("until");
          std::erase_if(series.values, [=](const auto& row) { return row.first > until; });
        }
        traces.push_back({quantity,
                          is_one ? "" : fmt::format("_{}_{}", variant, name),
                          panel_title(results, figure, variant, name),
                          std::move(series)});
      }
    }
  }
  if (traces.empty()) {
    for (const std::string& quantity : figure.quantities) traces.push_back({quantity, "", "", {}});
  }
  return traces;
}

FigureContent make_traces(const ExperimentResults& results, const ExperimentFigure& figure) {
  const std::uint64_t seed = seed_of(results, figure);
  const std::vector<Trace> traces = traces_of(results, figure, seed);
  std::set<std::int64_t> all_steps;
  for (const Trace& trace : traces) {
    for (const auto& [step, values] : trace.series.values) all_steps.insert(step);
  }
  const std::vector<std::int64_t> steps(all_steps.begin(), all_steps.end());
  FigureContent content;
  content.data.dimensions = {numbered_dimension("step", steps)};
  std::vector<std::vector<std::string>> rows = {
      {"quantity", "first mean", "last mean", "elements"}};
  const auto mean_at_end = [](const ArraySeries& series, bool is_first) {
    if (series.values.empty()) return SeedStatistics();
    return seed_statistics(is_first ? series.values.begin()->second
                                    : series.values.rbegin()->second);
  };
  for (const Trace& trace : traces) {
    const std::string name = results.long_name(trace.quantity);
    add_variable(trace.quantity, trace.suffix, steps, trace.series, name, content.data);
    content.figure.panels.push_back(panel_of(figure, trace.series, trace.title, name));
    rows.push_back({name + (trace.title.empty() ? "" : " (" + trace.title + ")"),
                    mean_text(mean_at_end(trace.series, true)),
                    mean_text(mean_at_end(trace.series, false)),
                    fmt::format("{}", size_of(trace.series))});
  }
  content.figure.columns = static_cast<int>(std::min<std::size_t>(traces.size(), 3));
  content.figure.title = figure.title;
  content.figure.description = fmt::format("Quantities over training steps from seed {}", seed);
  content.text =
      fmt::format(
          "From seed {}: of many elements the median, the band from the tenth to the "
          "ninetieth percentile and some of them, by the side of zero on which they end. "
          "Mean over elements (standard deviation) at the first and the last step:\n\n",
          seed) +
      markdown_table(rows);
  return content;
}

}  // namespace

ExperimentFigureKind traces_kind() {
  return {
      .name = "traces",
      .summary = "quantities step by step from one seed: of many elements median, band and some",
      .keys = {scale_key("x_scale", "linear"),
               scale_key("y_scale", "linear"),
               {.name = "until",
                .type = SettingKey::Type::kInteger,
                .meaning = "the last step that is shown",
                .minimum = 0,
                .is_optional = true},
               {.name = "seed",
                .type = SettingKey::Type::kInteger,
                .meaning = "of the runs",
                .minimum = 0,
                .is_optional = true}},
      .takes_quantities = true,
      .takes_marks = true,
      .takes_arrays = true,
      .make = make_traces};
}

}  // namespace hesscope::detail
