// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>

#include <hesscope/plot/internal/legend.h>
#include <hesscope/plot/internal/series_data.h>
#include <hesscope/plot/internal/text.h>

namespace hesscope::plot {
namespace {

constexpr double kRow = 10;
constexpr double kClosestRow = 8.5;  // of names next to lines
constexpr double kSwatch = 14;
constexpr double kSwatchGap = 4;
constexpr double kPad = 4;
constexpr double kBesideGap = 6;  // between the plot and names next to it

bool has_points(const Series& series, const Axes& axes) {
  return std::visit(
      [&](const auto& s) {
        using T = std::decay_t<decltype(s)>;
        if constexpr (std::is_same_v<T, Line> || std::is_same_v<T, Scatter>) {
          for (std::size_t i = 0; i < s.x.size(); ++i) {
            if (axes.has_place(s.x[i], s.y[i])) return true;
          }
          return false;
        } else {
          return true;
        }
      },
      series);
}

bool is_vertical(const Series& series) {
  const auto* reference = std::get_if<Reference>(&series);
  return reference != nullptr && reference->kind == Reference::Kind::kVertical;
}

// Where a line leaves the plot; NaN without points.
double end_of(const Series& series, const Axes& axes) {
  if (const auto* line = std::get_if<Line>(&series)) {
    for (std::size_t i = line->x.size(); i-- > 0;) {
      if (axes.has_place(line->x[i], line->y[i])) return axes.y_at(line->y[i]);
    }
    return std::nan("");
  }
  const auto& reference = std::get<Reference>(series);
  const double edge = axes.x_reversed ? axes.x.lower() : axes.x.upper();
  const bool is_sloped = reference.kind == Reference::Kind::kSloped;
  return axes.y_at(reference.intercept + (is_sloped ? reference.slope * edge : 0));
}

void draw_swatch(Canvas& canvas, const Series& series, Colour colour, const Point& left) {
  const Point right{left.x + kSwatch, left.y};
  std::visit(
      [&](const auto& s) {
        using T = std::decay_t<decltype(s)>;
        if constexpr (std::is_same_v<T, Line>) {
          canvas.lines({{left, right}}, {colour, s.width, s.dash});
          if (s.markers) canvas.circle({left.x + kSwatch / 2, left.y}, 1.8, colour);
        } else if constexpr (std::is_same_v<T, Reference>) {
          canvas.lines({{left, right}}, {colour, 0.9, s.dash});
        } else if constexpr (std::is_same_v<T, ContourLines>) {
          canvas.lines({{left, right}}, {colour, 0.8, Dash::kSolid});
        } else if constexpr (std::is_same_v<T, Marks>) {
          canvas.text({left.x + kSwatch / 2, left.y + 2.5},
                      "\u00d7",
                      {.size = kTickSize, .anchor = Anchor::kMiddle, .colour = colour});
        } else if constexpr (std::is_same_v<T, Scatter>) {
          canvas.circle(
              {left.x + kSwatch / 2, left.y}, s.radius, s.values.empty() ? colour : kGrey);
        } else {
          canvas.rectangle({left.x, left.y - 3, kSwatch, 6},
                           tinted(colour, std::is_same_v<T, Band> ? 0.75 : 0.5));
        }
      },
      series);
}

// All points of a panel on the canvas, lines also between their points.
std::vector<Point> occupied(const Panel& panel, const Axes& axes) {
  std::vector<Point> points;
  const auto add = [&](double x, double y) {
    if (axes.has_place(x, y)) points.push_back(axes.at(x, y));
  };
  for (const Series& series : panel.series) {
    std::visit(
        [&](const auto& s) {
          using T = std::decay_t<decltype(s)>;
          if constexpr (std::is_same_v<T, Line>) {
            const std::size_t first = points.size();
            for (std::size_t i = 0; i < s.x.size(); ++i) add(s.x[i], s.y[i]);
            const std::size_t last = points.size();
            for (std::size_t i = first + 1; i < last; ++i) {
              const Point a = points[i - 1];
              const Point b = points[i];
              for (int k = 1; k < 8; ++k) {
                points.push_back({a.x + k * (b.x - a.x) / 8, a.y + k * (b.y - a.y) / 8});
              }
            }
          } else if constexpr (std::is_same_v<T, Scatter>) {
            for (std::size_t i = 0; i < s.x.size(); ++i) add(s.x[i], s.y[i]);
          } else if constexpr (std::is_same_v<T, Reference>) {
            if (s.kind == Reference::Kind::kVertical) return;
            for (int k = 0; k <= 32; ++k) {
              const double x = axes.x.value(k / 32.0);
              const bool is_sloped = s.kind == Reference::Kind::kSloped;
              add(x, s.intercept + (is_sloped ? s.slope * x : 0));
            }
          } else if constexpr (std::is_same_v<T, Bars>) {
            for (std::size_t i = 0; i < s.heights.size(); ++i) {
              const double x = axes.x_at(s.edges[i] / 2 + s.edges[i + 1] / 2);
              const double top = std::max(axes.y_at(s.heights[i]), axes.box.top);
              for (double y = top; y < axes.box.bottom(); y += 5) points.push_back({x, y});
            }
          }
        },
        series);
  }
  return points;
}

Box emptiest_corner(const Panel& panel, const Axes& axes, double width, double height) {
  const Box& box = axes.box;
  const double inset = 4;
  const double right = box.right() - inset - width;
  const double left = box.left + inset;
  const double top = box.top + inset;
  const double bottom = box.bottom() - inset - height;
  const std::array<Box, 4> corners = {{{right, top, width, height},
                                       {left, top, width, height},
                                       {right, bottom, width, height},
                                       {left, bottom, width, height}}};
  const std::vector<Point> points = occupied(panel, axes);
  std::size_t best = 0;
  std::size_t fewest = points.size() + 1;
  for (std::size_t c = 0; c < corners.size(); ++c) {
    const auto inside = static_cast<std::size_t>(std::count_if(
        points.begin(), points.end(), [&](const Point& p) { return corners[c].contains(p); }));
    if (inside < fewest) {
      fewest = inside;
      best = c;
    }
  }
  return corners[best];
}

std::string rest_text(std::size_t count) { return fmt::format("+{} more", count); }

// Leaves as many entries as rows have room, and returns what the last row then says: how many
// entries have none. Empty if all have.
std::string cut(std::vector<const LegendEntry*>& entries, double room, double row) {
  const auto rows = static_cast<std::size_t>(std::max(1.0, room / row));
  if (entries.size() <= rows) return {};
  const std::string rest = rest_text(entries.size() - (rows - 1));
  entries.resize(rows - 1);
  return rest;
}

void draw_rest(Canvas& canvas, const Point& at, const std::string& rest) {
  canvas.text(at, rest, {.size = kTickSize, .colour = kGrey});
}

// Swatches and names, one below the other.
void draw_rows(Canvas& canvas,
               const Panel& panel,
               const PanelPlan& plan,
               const std::vector<const LegendEntry*>& entries,
               const std::string& rest,
               const Point& top_left) {
  double y = top_left.y + kRow / 2;
  for (const LegendEntry* entry : entries) {
    draw_swatch(canvas, panel.series[entry->series], plan.colours[entry->series], {top_left.x, y});
    canvas.text({top_left.x + kSwatch + kSwatchGap, y + 0.35 * kTickSize},
                entry->text,
                {.size = kTickSize});
    y += kRow;
  }
  draw_rest(canvas, {top_left.x + kSwatch + kSwatchGap, y + 0.35 * kTickSize}, rest);
}

void draw_beside(Canvas& canvas,
                 const Panel& panel,
                 const PanelPlan& plan,
                 std::vector<const LegendEntry*> entries) {
  const Box& box = plan.axes.box;
  const std::string rest = cut(entries, box.height, kRow);
  draw_rows(canvas, panel, plan, entries, rest, {box.right() + kBesideGap, box.top});
}

void draw_list(Canvas& canvas,
               const Panel& panel,
               const PanelPlan& plan,
               std::vector<const LegendEntry*> entries) {
  const Box& box = plan.axes.box;
  const std::string rest = cut(entries, box.height - 2 * kPad - 8, kRow);
  double width = text_width(rest, kTickSize);
  for (const LegendEntry* entry : entries) {
    width = std::max(width, text_width(entry->text, kTickSize));
  }
  width = std::min(width + kSwatch + kSwatchGap + 2 * kPad, box.width - 8);
  const std::size_t num_rows = entries.size() + (rest.empty() ? 0 : 1);
  const double height = kRow * static_cast<double>(num_rows) + 2 * kPad - 2;
  const Box place = emptiest_corner(panel, plan.axes, width, height);
  canvas.rectangle(place, kWhite, 0.85);
  draw_rows(canvas, panel, plan, entries, rest, {place.left + kPad, place.top + kPad - 1});
}

void draw_direct(Canvas& canvas, const PanelPlan& plan, std::vector<const LegendEntry*> entries) {
  const Box& box = plan.axes.box;
  const std::string rest = cut(entries, box.height, kClosestRow);
  std::stable_sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) {
    return a->wanted_y < b->wanted_y;
  });
  const std::size_t num_rows = entries.size() + (rest.empty() ? 0 : 1);
  const double row = std::min(kRow, box.height / static_cast<double>(num_rows));
  std::vector<double> places;
  for (const LegendEntry* entry : entries) {
    const double free_from = places.empty() ? box.top : places.back() + row;
    places.push_back(std::max(free_from, entry->wanted_y));
  }
  double free_until = box.bottom() - (rest.empty() ? 0 : row);
  for (std::size_t i = places.size(); i-- > 0;) {
    places[i] = std::min(places[i], free_until);
    free_until = places[i] - row;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    canvas.text({box.right() + kBesideGap, places[i] + 0.35 * kTickSize},
                entries[i]->text,
                {.size = kTickSize, .colour = plan.colours[entries[i]->series]});
  }
  draw_rest(canvas, {box.right() + kBesideGap, box.bottom() + 0.35 * kTickSize}, rest);
}

}  // namespace

std::vector<LegendEntry> legend_entries(const Panel& panel, const Axes& axes) {
  std::vector<LegendEntry> entries;
  if (panel.legend == Legend::kNone) return entries;
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const Series& series = panel.series[i];
    const std::string& label = label_of(series);
    if (label.empty() || is_vertical(series)) continue;
    const bool is_line =
        std::holds_alternative<Line>(series) || std::holds_alternative<Reference>(series);
    entries.push_back({.series = i,
                       .text = has_points(series, axes) ? label : label + " (no values)",
                       .is_direct = is_line && panel.legend == Legend::kDirect});
  }
  return entries;
}

double room_beside(const Panel& panel, const LegendEntry& entry) {
  const double name = kBesideGap + text_width(entry.text, kTickSize);
  if (panel.legend == Legend::kBeside) return name + kSwatch + kSwatchGap;
  return entry.is_direct ? name : 0;
}

double room_for_rest(const Panel& panel, const PanelPlan& plan, double height) {
  const double row = panel.legend == Legend::kBeside ? kRow : kClosestRow;
  const auto count = static_cast<double>(plan.legend.size());
  if (panel.legend == Legend::kInside || count * row <= height) return 0;
  return kBesideGap + kSwatch + kSwatchGap + text_width(rest_text(plan.legend.size()), kTickSize);
}

void place_direct(const Panel& panel, PanelPlan& plan) {
  const Box& box = plan.axes.box;
  for (LegendEntry& entry : plan.legend) {
    if (!entry.is_direct) continue;
    const double end = end_of(panel.series[entry.series], plan.axes);
    entry.wanted_y = std::isnan(end) ? box.bottom() : std::clamp(end, box.top, box.bottom());
  }
}

void draw_legend(Canvas& canvas, const Panel& panel, const PanelPlan& plan) {
  std::vector<const LegendEntry*> direct;
  std::vector<const LegendEntry*> listed;
  for (const LegendEntry& entry : plan.legend)
    (entry.is_direct ? direct : listed).push_back(&entry);
  if (direct.empty() && listed.empty()) return;
  canvas.open({{"class", "legend"}});
  if (!direct.empty()) draw_direct(canvas, plan, std::move(direct));
  if (!listed.empty()) {
    (panel.legend == Legend::kBeside ? draw_beside : draw_list)(
        canvas, panel, plan, std::move(listed));
  }
  canvas.close();
}

}  // namespace hesscope::plot
