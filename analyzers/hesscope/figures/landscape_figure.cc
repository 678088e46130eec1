// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/internal/landscape_grid.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>
#include <hesscope/landscape/grid.h>
#include <hesscope/landscape/internal/direction_tools.h>

namespace hesscope::figures {
namespace {

constexpr std::string_view kTensors = "tensors:";  // before the names of the tensors

struct Shown {
  const char* name;
  const char* words;
};

constexpr Shown kShown[] = {
    {"loss", "loss"},
    {"gradient_norm", "gradient norm"},
    {"lambda_min", "\u03bb_{min}"},
    {"lambda_max", "\u03bb_{max}"},
    {"index", "negative eigenvalues"},
};

const Shown& shown(const std::string& quantity) {
  for (const Shown& candidate : kShown) {
    if (quantity == candidate.name) return candidate;
  }
  return kShown[0];
}

std::vector<double> read_axis(const io::ResultReader& result, const char* name) {
  std::vector<double> points = read_numbers(result, io::kLandscapeGroup, name, 1).reals();
  if (points.empty()) {
    throw InputError(fmt::format("{}: variable '{}/{}': has no points; compute the result again",
                                 result.path().string(),
                                 io::kLandscapeGroup,
                                 name));
  }
  const auto bad = first_out_of_order(
      Eigen::Map<const Eigen::VectorXd>(points.data(), static_cast<Eigen::Index>(points.size())));
  if (!bad) return points;
  throw InputError(
      fmt::format("{}: variable '{}/{}': its points must be finite and ascend, but point {} is {}; "
                  "compute the result again",
                  result.path().string(),
                  io::kLandscapeGroup,
                  name,
                  *bad,
                  points[static_cast<std::size_t>(*bad)]));
}

plot::Grid read_grid(const Source& source, const Shown& quantity) {
  const io::ResultReader& result = *source.result;
  if (result.find(io::kLandscapeGroup, quantity.name) == nullptr) {
    throw InputError(fmt::format("{}: has no /landscape/{}; `run_landscape() curvature` stores it",
                                 result.path().string(),
                                 quantity.name));
  }
  plot::Grid grid;
  grid.x = read_axis(result, "alpha");
  grid.y = read_axis(result, "beta");
  grid.values = read_numbers(result, io::kLandscapeGroup, quantity.name, 2).reals();
  io::require_on_grid(result, quantity.name, grid.values.size(), grid.x.size(), grid.y.size());
  return grid;
}

// Logarithmic for values that span decades; signed, around a middle, if both signs occur.
plot::ColourBar colours_for(const std::vector<double>& values, const Shown& quantity) {
  plot::ColourBar bar;
  bar.label = quantity.words;
  double lower = kInfinity;
  double upper = -lower;
  double smallest = lower;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    lower = std::min(lower, value);
    upper = std::max(upper, value);
    if (value != 0) smallest = std::min(smallest, std::abs(value));
  }
  constexpr double kLogFrom = 30;
  constexpr double kSignedLogFrom = 1000;
  const double largest = std::max(-lower, upper);
  if (lower > 0 && upper / lower > kLogFrom) {
    bar.scale = plot::ScaleKind::kLog;
  } else if (lower <= 0 && largest / smallest > kSignedLogFrom) {
    bar.scale = plot::ScaleKind::kSignedLog;
    bar.threshold = largest / kSignedLogFrom;
  }
  if (lower < 0 && upper > 0) {
    bar.map = plot::ColourMap::kDiverging;
    bar.symmetric = true;
  }
  return bar;
}

bool is_inside(const plot::Panel& panel, double x, double y) {
  return x >= *panel.x.lower && x <= *panel.x.upper && y >= *panel.y.lower && y <= *panel.y.upper;
}

// The path of one run, with a white line below it, or points without a known order.
void add_path(plot::Panel& panel, plot::Line path, bool has_markers) {
  if (path.x.size() == 1) {
    panel.series.emplace_back(plot::Scatter{
        .x = path.x, .y = path.y, .colour = plot::Colour{255, 255, 255}, .radius = 2.6});
    panel.series.emplace_back(
        plot::Scatter{.x = path.x, .y = path.y, .colour = plot::kInk, .radius = 1.8});
    return;
  }
  plot::Line halo = path;
  halo.colour = plot::Colour{255, 255, 255};
  halo.width = 2.6;
  path.colour = plot::kInk;
  path.width = 1.1;
  path.markers = has_markers;
  panel.series.emplace_back(std::move(halo));
  panel.series.emplace_back(std::move(path));
}

// "steps 0 to 500" for one path, "2 runs", or words for single or unordered checkpoints.
std::string trajectory_words(const io::LandscapeTrajectory& trajectory,
                             const std::vector<std::vector<std::size_t>>& paths) {
  const auto num_lines =
      std::ranges::count_if(paths, [](const auto& path) { return path.size() > 1; });
  if (num_lines == 0) {
    const bool is_ordered = std::ranges::none_of(
        paths, [&](const auto& path) { return trajectory.runs[path.front()] == kMissingCount; });
    if (!is_ordered) return "checkpoints, in no order";
    return paths.size() == 1 ? "one checkpoint"
                             : fmt::format("one checkpoint of each of {} runs", paths.size());
  }
  if (num_lines > 1) return fmt::format("trajectories of {} runs", num_lines);
  const auto& path = *std::ranges::max_element(paths, {}, &std::vector<std::size_t>::size);
  const std::int64_t first = trajectory.steps[path.front()];
  const std::int64_t last = trajectory.steps[path.back()];
  if (first == kMissingCount || last == kMissingCount) return "trajectory";
  return fmt::format("trajectory: steps {} to {}", first, last);
}

void add_trajectory(plot::Panel& panel, const Source& source) {
  const io::LandscapeTrajectory trajectory = io::read_trajectory(*source.result);
  const std::vector<std::vector<std::size_t>> paths = trajectory.paths();
  if (paths.empty()) return;
  constexpr std::size_t kMostMarkers = 60;
  std::size_t num_outside = 0;
  for (const std::vector<std::size_t>& path : paths) {
    plot::Line line;
    for (const std::size_t i : path) {
      line.x.push_back(trajectory.alpha[i]);
      line.y.push_back(trajectory.beta[i]);
      if (!is_inside(panel, line.x.back(), line.y.back())) ++num_outside;
    }
    add_path(panel, std::move(line), trajectory.size() <= kMostMarkers);
  }
  panel.note = trajectory_words(trajectory, paths);
  if (num_outside > 0) panel.note += fmt::format(", {} checkpoints outside", num_outside);
}

// "layers.0.W^{Q}" for the tensor layers.0.WQ, as papers write it.
std::string tensor_words(std::string name) {
  const std::size_t size = name.size();
  const bool is_weight = size >= 2 && name[size - 2] == 'W' && name[size - 1] >= 'A' &&
                         name[size - 1] <= 'Z' && (size == 2 || name[size - 3] == '.');
  if (is_weight) name = fmt::format("{}^{{{}}}", name.substr(0, size - 1), name.back());
  return name;
}

// The name of a direction: its tensor, or its number.
std::string direction_words(const Source& source, std::size_t direction) {
  std::string number = fmt::format("direction {}", direction + 1);
  const AttributeValue* const found =
      source.result->find_attribute(io::kLandscapeGroup, "directions");
  const auto* const text = found == nullptr ? nullptr : std::get_if<std::string>(found);
  if (text == nullptr || !text->starts_with(kTensors)) return number;
  const std::vector<std::string> names = detail::split_at_commas(text->substr(kTensors.size()));
  return direction < names.size() ? tensor_words(names[direction]) : number;
}

// For principal components, with the share of the trajectory that lies along the direction.
std::string axis_label(const Source& source, const char* letter, int direction) {
  const double share =
      read_number(*source.result, io::kLandscapeGroup, fmt::format("explained_{}", direction));
  std::string label = fmt::format(
      "{}, along {}", letter, direction_words(source, static_cast<std::size_t>(direction - 1)));
  if (std::isfinite(share)) label += fmt::format(" ({:.3g} % of the trajectory)", 100.0 * share);
  return label;
}

plot::Panel plane_panel(const Source& source, plot::Grid grid, const Shown& quantity) {
  plot::Panel panel;
  panel.x.label = axis_label(source, "\u03b1", 1);
  panel.y.label = axis_label(source, "\u03b2", 2);
  panel.colour_bar = colours_for(grid.values, quantity);
  // The axes show the grid, even if the trajectory leaves it.
  panel.x.lower = grid.x.front();
  panel.x.upper = grid.x.back();
  panel.y.lower = grid.y.front();
  panel.y.upper = grid.y.back();
  if (std::string(quantity.name) == "index") {
    panel.colour_bar->whole_numbers = true;
    panel.series.push_back(plot::HeatMap{.grid = std::move(grid)});
  } else {
    panel.series.push_back(plot::FilledContours{.grid = std::move(grid)});
  }
  add_trajectory(panel, source);
  return panel;
}

plot::Figure draw_landscape(std::span<const Source> sources, const FigureRequest& request) {
  const Shown& quantity = shown(request.quantity);
  plot::Panel panel;
  panel.y.label = quantity.words;
  std::vector<double> all;
  for (const Source& source : sources) {
    plot::Grid grid = read_grid(source, quantity);
    const bool is_line = grid.x.size() == 1 || grid.y.size() == 1;
    if (!is_line) {
      if (sources.size() > 1) {
        throw ConfigError(fmt::format(
            "{}: is a plane; the figure 'landscape' lays lines over one another, not planes",
            source.result->path().string()));
      }
      if (request.x_scale || request.y_scale) {
        throw ConfigError("the figure 'landscape' of a plane has fixed scales");
      }
      panel = plane_panel(source, std::move(grid), quantity);
      break;
    }
    const bool is_along_beta = grid.x.size() == 1 && grid.y.size() > 1;
    plot::Line line;
    line.x = is_along_beta ? grid.y : grid.x;
    line.y = grid.values;
    if (sources.size() > 1) line.label = source.label;
    all.insert(all.end(), line.y.begin(), line.y.end());
    const std::string label =
        is_along_beta ? axis_label(source, "\u03b2", 2) : axis_label(source, "\u03b1", 1);
    // If lines are along different directions, the label names none of them.
    panel.x.label = &source == &sources.front() || panel.x.label == label
                        ? label
                        : "\u03b1 or \u03b2, each line along its direction";
    panel.series.push_back(std::move(line));
  }
  if (!all.empty()) {
    const plot::ColourBar bar = colours_for(all, quantity);
    panel.y.scale = bar.scale;
    panel.y.threshold = bar.threshold;
  }
  return {.title = {},
          .description = fmt::format("The loss landscape around a checkpoint: {}", quantity.words),
          .panels = {std::move(panel)}};
}

}  // namespace

FigureKind landscape_figure() {
  FigureKind kind{.name = "landscape",
                  .topic = Topic::kLandscape,
                  .summary = "a plane as filled contours with the trajectory, a line as a curve",
                  .needs = {{io::kLandscapeGroup, "alpha"},
                            {io::kLandscapeGroup, "beta"},
                            {io::kLandscapeGroup, "loss"}},
                  .made_by = "run_landscape()",
                  .takes_several = true,
                  .has_free_scales = true,
                  .draw = draw_landscape};
  kind.quantity_group = io::kLandscapeGroup;
  for (const Shown& quantity : kShown) kind.quantities.emplace_back(quantity.name);
  return kind;
}

}  // namespace hesscope::figures
