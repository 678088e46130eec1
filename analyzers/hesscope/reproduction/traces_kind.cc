// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/reproduction/internal/experiment_figures.h>
#include <hesscope/reproduction/internal/step_values.h>

namespace hesscope::detail {
namespace {

constexpr std::size_t kMostLines = 40;  // of a panel: so many elements, evenly spaced

std::size_t size_of(const ArraySeries& series) {
  std::size_t size = 1;
  for (const std::size_t extent : series.shape) size *= extent;
  return size;
}

// A line for each element, or for some of them.
plot::Panel panel_of(const ArraySeries& series,
                     const std::string& title,
                     const std::string& label) {
  plot::Panel panel;
  panel.title = title;
  panel.x = {.label = "training step"};
  panel.y = {.label = label};
  panel.legend = plot::Legend::kNone;
  const std::size_t size = size_of(series);
  const std::size_t count = std::min(size, kMostLines);
  for (std::size_t k = 0; k < count; ++k) {
    plot::Line line{.colour = plot::line_colour(0), .width = size == 1 ? 1.25 : 0.5};
    for (const auto& [step, values] : series.values) {
      line.x.push_back(static_cast<double>(step));
      line.y.push_back(values[k * size / count]);
    }
    panel.series.emplace_back(std::move(line));
  }
  if (count < size) panel.note = fmt::format("{} of {}", count, size);
  return panel;
}

// Of one quantity, with dimensions named after it, so that those of two runs may differ.
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
  std::string suffix;  // of names in the file: empty for a single run
  std::string title;
  ArraySeries series;
};

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
                          is_one ? "" : fmt::format("{}, {}", results.variant(variant).title, name),
                          std::move(series)});
      }
    }
  }
  return traces;
}

FigureContent make_traces(const ExperimentResults& results, const ExperimentFigure& figure) {
  const std::vector<std::uint64_t> seeds = results.seeds(figure.variants);
  const std::uint64_t seed = figure.settings.has("seed")
                                 ? static_cast<std::uint64_t>(figure.settings.integer("seed"))
                                 : seeds.front();
  const std::vector<Trace> traces = traces_of(results, figure, seed);
  if (traces.empty()) {
    throw ConfigError(fmt::format(
        "{}: no run is from seed {}; there are {}", figure.location, seed, fmt::join(seeds, ", ")));
  }
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
    content.figure.panels.push_back(panel_of(trace.series, trace.title, name));
    content.figure.panels.back().x.scale = scale_from(figure, "x_scale");
    content.figure.panels.back().y.scale = scale_from(figure, "y_scale");
    rows.push_back({name + (trace.title.empty() ? "" : " (" + trace.title + ")"),
                    mean_text(mean_at_end(trace.series, true)),
                    mean_text(mean_at_end(trace.series, false)),
                    fmt::format("{}", size_of(trace.series))});
  }
  content.figure.columns = static_cast<int>(std::min<std::size_t>(traces.size(), 4));
  content.figure.title = figure.title;
  content.figure.description = fmt::format("Quantities over training steps from seed {}", seed);
  content.text = fmt::format(
                     "From seed {}, a line for each element; mean over elements (standard "
                     "deviation) at the first and the last step.\n\n",
                     seed) +
                 markdown_table(rows);
  return content;
}

}  // namespace

ExperimentFigureKind traces_kind() {
  return {.name = "traces",
          .summary = "quantities step by step from one seed, a line for each of their elements",
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
          .takes_arrays = true,
          .make = make_traces};
}

}  // namespace hesscope::detail
