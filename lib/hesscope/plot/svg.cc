// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/plot/internal/drawing.h>
#include <hesscope/plot/internal/legend.h>
#include <hesscope/plot/internal/series_data.h>
#include <hesscope/plot/internal/table_layout.h>
#include <hesscope/plot/internal/text.h>
#include <hesscope/plot/markup.h>
#include <hesscope/plot/svg.h>

namespace hesscope::plot {
namespace {

constexpr double kFigureTitleSize = 10.5;
constexpr double kFigureTitleRoom = 18;
constexpr double kFigureTitleLine = 13;  // each further one
constexpr double kTitleLeft = 8;

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

// Coordinates are rounded: a box with rounded corners contains everything that touches its edge.
void snap(Box& box) {
  const auto snapped = [](double v) { return std::round(v * 4) / 4; };
  box = {snapped(box.left), snapped(box.top), snapped(box.width), snapped(box.height)};
}

// The positions of a figure's panels.
struct Places {
  int columns = 1;
  double cell_width = 0;
  double cell_height = 0;
  double top = 0;  // below the title

  int row(int panel) const { return panel / columns; }

  int column(int panel) const { return panel % columns; }

  Box cell(int panel) const {
    return {column(panel) * cell_width, top + row(panel) * cell_height, cell_width, cell_height};
  }
};

std::string name_of(int panel) { return fmt::format("panel {}", panel); }

// The space that each panel takes around its plot, so that frames of a row and of a column are
// aligned.
std::vector<PanelRoom> rooms_of(const Figure& figure, const Places& places) {
  const auto count = static_cast<int>(figure.panels.size());
  std::vector<PanelRoom> by_row(figure.panels.size());
  std::vector<PanelRoom> by_column(figure.panels.size());
  const auto place = [](int k) { return static_cast<std::size_t>(k); };
  for (int k = 0; k < count; ++k) {
    const Panel& panel = figure.panels[place(k)];
    if (panel.table) continue;
    const PanelRoom own = plan_panel(panel, places.cell(k), figure.notes, name_of(k)).own;
    PanelRoom& row = by_row[place(places.row(k))];
    PanelRoom& column = by_column[place(places.column(k))];
    row = joined(row, own);
    column = joined(column, own);
  }
  std::vector<PanelRoom> rooms;
  for (int k = 0; k < count; ++k) {
    PanelRoom room = by_row[place(places.row(k))];
    room.left = by_column[place(places.column(k))].left;
    room.right = by_column[place(places.column(k))].right;
    rooms.push_back(room);
  }
  return rooms;
}

void draw_panel(Canvas& canvas,
                const Panel& panel,
                const Box& cell,
                bool with_note,
                const std::string& name,
                const PanelRoom& room) {
  if (panel.table) {
    draw_table(canvas, *panel.table, cell, panel.title);
    return;
  }
  PanelPlan plan = plan_panel(panel, cell, with_note, name, room);
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

struct Size {
  double width = 0;
  double height = 0;
};

// For a figure that is a table, from its texts.
Size size_of_table(const Figure& figure) {
  const Panel& panel = figure.panels.front();
  const TablePlan plan = plan_table(*panel.table, panel.title);
  const double title = 2 * kTitleLeft + kBoldWidth * text_width(figure.title, kFigureTitleSize);
  return {std::max(plan.width, title), plan.height};
}

}  // namespace

std::string to_svg(const Figure& figure) {
  const auto count = static_cast<int>(figure.panels.size());
  if (count == 0) throw PreconditionError("to_svg: the figure has no panels");
  const int columns = figure.columns > 0 ? std::min(figure.columns, count) : count;
  const int rows = detail::ceil_div(count, columns);
  constexpr double kWide = 340;    // one panel
  constexpr double kNarrow = 245;  // each of several
  constexpr double kHigh = 215;
  const double magnification = figure.magnification;
  if (!(magnification > 0 && std::isfinite(magnification))) {
    throw PreconditionError(
        fmt::format("to_svg: the magnification must be a positive number, got {}", magnification));
  }
  // Laid out at its size before the magnification.
  Size size{columns == 1 ? kWide : kNarrow * columns, kHigh * rows};
  if (count == 1 && figure.panels.front().table) size = size_of_table(figure);
  const double width = figure.width > 0 ? figure.width / magnification : size.width;
  const std::vector<std::string> title_lines =
      broken_text(figure.title, kFigureTitleSize, (width - 2 * kTitleLeft) / kBoldWidth);
  const auto num_lines = static_cast<double>(title_lines.size());
  const double title_room =
      title_lines.empty() ? 0 : kFigureTitleRoom + kFigureTitleLine * (num_lines - 1);
  const double height =
      figure.height > 0 ? figure.height / magnification : size.height + title_room;
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
  double baseline = 14;
  for (const std::string& line : title_lines) {
    canvas.text({kTitleLeft, baseline}, line, {.size = kFigureTitleSize, .bold = true});
    baseline += kFigureTitleLine;
  }
  const Places places{.columns = columns,
                      .cell_width = width / columns,
                      .cell_height = (height - title_room) / rows,
                      .top = title_room};
  const std::vector<PanelRoom> rooms = rooms_of(figure, places);
  for (int k = 0; k < count; ++k) {
    const auto place = static_cast<std::size_t>(k);
    draw_panel(
        canvas, figure.panels[place], places.cell(k), figure.notes, name_of(k), rooms[place]);
  }
  std::string title = figure.title;
  if (title.empty()) title = figure.panels.front().title;
  return std::move(canvas).finish(title, figure.description);
}

}  // namespace hesscope::plot
