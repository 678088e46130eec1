// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/plot/internal/drawing.h>
#include <hesscope/plot/internal/legend.h>
#include <hesscope/plot/internal/series_data.h>
#include <hesscope/plot/markup.h>
#include <hesscope/plot/svg.h>

namespace hesscope::plot {
namespace {

constexpr double kFigureTitleSize = 10.5;
constexpr double kFigureTitleRoom = 18;

std::vector<std::pair<std::string, std::string>> panel_attributes(const PanelPlan& plan) {
  const Axes& axes = plan.axes;
  std::vector<std::pair<std::string, std::string>> attributes = {
      {"class", "panel"},
      {"data-left", coordinate(axes.box.left)},
      {"data-top", coordinate(axes.box.top)},
      {"data-width", coordinate(axes.box.width)},
      {"data-height", coordinate(axes.box.height)}};
  const auto describe = [&](const std::string& name, const Scale& scale) {
    attributes.emplace_back("data-" + name + "-scale", std::string(to_string(scale.kind())));
    attributes.emplace_back("data-" + name + "-lower", exact_number(scale.lower()));
    attributes.emplace_back("data-" + name + "-upper", exact_number(scale.upper()));
    if (scale.kind() == ScaleKind::kSignedLog) {
      attributes.emplace_back("data-" + name + "-threshold", exact_number(scale.threshold()));
    }
  };
  describe("x", axes.x);
  describe("y", axes.y);
  return attributes;
}

// Coordinates are rounded: a box on rounded places keeps what touches its edge within it.
void snap(Box& box) {
  const auto snapped = [](double v) { return std::round(v * 4) / 4; };
  box = {snapped(box.left), snapped(box.top), snapped(box.width), snapped(box.height)};
}

void draw_panel(
    Canvas& canvas, const Panel& panel, const Box& cell, bool with_note, const std::string& name) {
  if (panel.table) {
    draw_table(canvas, *panel.table, cell, panel.title);
    return;
  }
  PanelPlan plan = plan_panel(panel, cell, with_note, name);
  snap(plan.axes.box);
  place_direct(panel, plan);
  canvas.open(panel_attributes(plan));
  const auto draw_where = [&](auto&& chosen, auto&& draw) {
    for (std::size_t i = 0; i < panel.series.size(); ++i) {
      if (!chosen(panel.series[i])) continue;
      canvas.open({{"class", kind_name(panel.series[i])},
                   {"data-label", without_markup(label_of(panel.series[i]))}});
      draw(canvas, panel, plan, i);
      canvas.close();
    }
  };
  const auto is_band = [](const Series& s) { return std::holds_alternative<Band>(s); };
  if (plan.has_values) {
    draw_where(is_field, draw_field);
    draw_grid(canvas, panel, plan);
    draw_where(is_band, draw_series);
    draw_where([&](const Series& s) { return !is_field(s) && !is_band(s); }, draw_series);
    draw_colour_bar(canvas, panel, plan);
  }
  draw_axes(canvas, panel, plan);
  if (plan.has_values) draw_legend(canvas, panel, plan);
  canvas.close();
}

}  // namespace

std::string to_svg(const Figure& figure) {
  const auto count = static_cast<int>(figure.panels.size());
  if (count == 0) throw PreconditionError("to_svg: the figure has no panels");
  const int columns = figure.columns > 0 ? std::min(figure.columns, count) : count;
  const int rows = (count + columns - 1) / columns;
  constexpr double kWide = 340;    // one panel
  constexpr double kNarrow = 245;  // each of several
  constexpr double kHigh = 215;
  const double title_room = figure.title.empty() ? 0 : kFigureTitleRoom;
  const double magnification = figure.magnification;
  if (!(magnification > 0 && std::isfinite(magnification))) {
    throw PreconditionError(
        fmt::format("to_svg: the magnification must be a positive number, got {}", magnification));
  }
  // Laid out as it is before the magnification.
  const double width = figure.width > 0 ? figure.width / magnification
                       : columns == 1   ? kWide
                                        : kNarrow * columns;
  const double height =
      figure.height > 0 ? figure.height / magnification : kHigh * rows + title_room;
  constexpr double kLargest = 10'000;
  if (!(width * magnification <= kLargest && height * magnification <= kLargest)) {
    throw PreconditionError(
        fmt::format("to_svg: width and height must be at most {} points, got {} and {}",
                    kLargest,
                    width * magnification,
                    height * magnification));
  }
  Canvas canvas(width, height, magnification);
  canvas.rectangle({0, 0, width, height}, {255, 255, 255});
  canvas.text({8, 14}, figure.title, {.size = kFigureTitleSize, .bold = true});
  for (int k = 0; k < count; ++k) {
    const double cell_width = width / columns;
    const double cell_height = (height - title_room) / rows;
    draw_panel(canvas,
               figure.panels[static_cast<std::size_t>(k)],
               {k % columns * cell_width,
                title_room + static_cast<double>(k / columns) * cell_height,
                cell_width,
                cell_height},
               figure.notes,
               fmt::format("panel {}", k));
  }
  std::string title = figure.title;
  if (title.empty()) title = figure.panels.front().title;
  return std::move(canvas).finish(title, figure.description);
}

}  // namespace hesscope::plot
