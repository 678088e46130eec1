// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include <hesscope/plot/internal/contour.h>
#include <hesscope/plot/internal/drawing.h>
#include <hesscope/plot/internal/paths.h>
#include <hesscope/plot/internal/refined_field.h>
#include <hesscope/plot/internal/text.h>

namespace hesscope::plot {
namespace {

Box overlap(const Box& a, const Box& b) {
  const double left = std::max(a.left, b.left);
  const double top = std::max(a.top, b.top);
  return {left,
          top,
          std::max(0.0, std::min(a.right(), b.right()) - left),
          std::max(0.0, std::min(a.bottom(), b.bottom()) - top)};
}

std::vector<Polyline> clipped(const std::vector<Polyline>& polygons, const Box& box) {
  std::vector<Polyline> result;
  for (const Polyline& polygon : polygons) {
    Polyline part = clip_polygon(polygon, box);
    if (part.size() > 2) result.push_back(std::move(part));
  }
  return result;
}

constexpr int kDigits = 3;

bool numbers_fit(const PanelPlan& plan,
                 const HeatMap& map,
                 const std::vector<double>& x,
                 const std::vector<double>& y) {
  double widest = 0;
  for (const double value : map.grid.values) {
    widest = std::max(widest, text_width(short_number(value, kDigits), kSmallSize));
  }
  const Axes& axes = plan.axes;
  for (std::size_t j = 0; j + 1 < x.size(); ++j) {
    if (std::abs(axes.x_at(x[j]) - axes.x_at(x[j + 1])) < widest + 2) return false;
  }
  for (std::size_t i = 0; i + 1 < y.size(); ++i) {
    if (std::abs(axes.y_at(y[i]) - axes.y_at(y[i + 1])) < kSmallSize + 2) return false;
  }
  return true;
}

// In all cells or in none.
void draw_numbers(Canvas& canvas, const Panel& panel, const PanelPlan& plan, const HeatMap& map) {
  const Axes& axes = plan.axes;
  const Grid& grid = map.grid;
  if (!numbers_fit(
          plan, map, cell_edges(grid.x, axes.x.kind()), cell_edges(grid.y, axes.y.kind()))) {
    return;
  }
  for (std::size_t i = 0; i < grid.y.size(); ++i) {
    for (std::size_t j = 0; j < grid.x.size(); ++j) {
      const double value = grid.values[i * grid.x.size() + j];
      const Point centre = axes.at(grid.x[j], grid.y[i]);
      if (!std::isfinite(value) || !axes.box.contains(centre)) continue;
      const bool on_dark = is_drawable(plan.colour_scale->kind(), value) &&
                           to_oklab(colour_of(panel, plan, value)).lightness < 0.62;
      canvas.text(
          {centre.x, centre.y + 0.35 * kSmallSize},
          short_number(value, kDigits),
          {.size = kSmallSize, .anchor = Anchor::kMiddle, .colour = on_dark ? kWhite : kInk});
    }
  }
}

constexpr double kSeam = 0.25;

// Neighbouring cells of a row with the same colour become one rectangle.
void draw(Canvas& canvas, const Panel& panel, const PanelPlan& plan, const HeatMap& map) {
  const Axes& axes = plan.axes;
  const Grid& grid = map.grid;
  const std::vector<double> x = cell_edges(grid.x, axes.x.kind());
  const std::vector<double> y = cell_edges(grid.y, axes.y.kind());
  const std::size_t columns = grid.x.size();
  for (std::size_t i = 0; i < grid.y.size(); ++i) {
    const double top = std::min(axes.y_at(y[i]), axes.y_at(y[i + 1]));
    const double height = std::abs(axes.y_at(y[i]) - axes.y_at(y[i + 1]));
    for (std::size_t j = 0; j < columns;) {
      const auto value = [&](std::size_t column) { return grid.values[i * columns + column]; };
      const auto is_there = [&](std::size_t column) {
        return is_drawable(plan.colour_scale->kind(), value(column));
      };
      if (!is_there(j)) {
        ++j;
        continue;
      }
      const Colour colour = colour_of(panel, plan, value(j));
      std::size_t end = j + 1;
      while (end < columns && is_there(end) && colour_of(panel, plan, value(end)) == colour) ++end;
      const double from = axes.x_at(x[j]);
      const double to = axes.x_at(x[end]);
      // Slightly too large, and partly covered by the next one: no seams.
      const Box cell =
          overlap({std::min(from, to), top, std::abs(to - from) + kSeam, height + kSeam}, axes.box);
      if (cell.width > 0 && cell.height > 0) canvas.rectangle(cell, colour, 1, true);
      j = end;
    }
  }
  if (map.numbers) draw_numbers(canvas, panel, plan, map);
}

// From the lowest level up, each area on top of the one below: no seams between them.
void draw(Canvas& canvas, const Panel& panel, const PanelPlan& plan, const FilledContours& c) {
  const Field field = smooth_field_of(c.grid, plan.axes, *plan.colour_scale);
  const Box& box = plan.axes.box;
  const double everything = -std::numeric_limits<double>::max();
  canvas.area(clipped(superlevel_area(field, everything), box), colour_between(panel, plan, 0));
  for (std::size_t k = 0; k < plan.levels.size(); ++k) {
    canvas.area(clipped(superlevel_area(field, plan.colour_scale->place(plan.levels[k])), box),
                colour_between(panel, plan, k + 1));
  }
  if (!c.lines) return;
  std::vector<Polyline> lines;
  for (const double level : plan.levels) {
    for (const Polyline& line : contour_lines(field, plan.colour_scale->place(level))) {
      for (Polyline& part : clip_line(line, box)) lines.push_back(std::move(part));
    }
  }
  canvas.lines(lines, {.colour = kWhite, .width = 0.35, .dash = Dash::kSolid});
}

}  // namespace

bool is_field(const Series& series) {
  return std::holds_alternative<HeatMap>(series) || std::holds_alternative<FilledContours>(series);
}

Field field_of(const Grid& grid, const Axes& axes, const Scale& values) {
  Field field;
  for (const double x : grid.x) field.x.push_back(axes.x_at(x));
  for (const double y : grid.y) field.y.push_back(axes.y_at(y));
  for (const double value : grid.values) field.values.push_back(values.place(value));
  return field;
}

Field smooth_field_of(const Grid& grid, const Axes& axes, const Scale& values) {
  constexpr double kLargestCell = 3;  // points
  return refined(field_of(grid, axes, values), kLargestCell);
}

Colour colour_of(const Panel& panel, const PanelPlan& plan, double value) {
  return colour_at(panel.colour_bar->map, plan.colour_scale->place(value));
}

Colour colour_between(const Panel& panel, const PanelPlan& plan, std::size_t index) {
  const auto edge = [&](std::size_t k, double outside) {
    return k < plan.levels.size() ? plan.colour_scale->place(plan.levels[k]) : outside;
  };
  const double low = index == 0 ? 0 : edge(index - 1, 0);
  return colour_at(panel.colour_bar->map, (low + edge(index, 1)) / 2);
}

void draw_field(Canvas& canvas, const Panel& panel, const PanelPlan& plan, std::size_t series) {
  if (const auto* map = std::get_if<HeatMap>(&panel.series[series])) {
    draw(canvas, panel, plan, *map);
  } else {
    draw(canvas, panel, plan, std::get<FilledContours>(panel.series[series]));
  }
}

}  // namespace hesscope::plot
