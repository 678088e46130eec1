// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/plot/internal/layout.h>
#include <hesscope/plot/internal/legend.h>
#include <hesscope/plot/internal/panel_scales.h>
#include <hesscope/plot/internal/text.h>

namespace hesscope::plot {
namespace {

constexpr double kMargin = 4;     // around everything
constexpr double kXPerTick = 38;  // points of an axis per labelled tick
constexpr double kXPerDecade = 24;
constexpr double kYPerTick = 24;
constexpr double kSmallestPlot = 30;

double widest(const Ticks& ticks) {
  double width = 0;
  for (const Tick& tick : ticks.ticks) width = std::max(width, text_width(tick.label, kTickSize));
  return width;
}

Ticks given_ticks(const Axis& axis, const Scale& scale) {
  Ticks ticks;
  for (const auto& [value, label] : axis.ticks) {
    const double place = scale.place(value);
    if (place >= 0 && place <= 1) ticks.ticks.push_back({value, label});
  }
  return ticks;
}

// Whether neighbouring labels along a horizontal axis would touch.
bool is_crowded(const Ticks& ticks, const Scale& scale, double length) {
  double free_from = -1e9;
  std::vector<const Tick*> order;
  for (const Tick& tick : ticks.ticks) order.push_back(&tick);
  std::sort(
      order.begin(), order.end(), [](const Tick* a, const Tick* b) { return a->value < b->value; });
  for (const Tick* tick : order) {
    if (tick->label.empty()) continue;
    const double half = text_width(tick->label, kTickSize) / 2;
    const double centre = scale.place(tick->value) * length;
    if (centre - half < free_from) return true;
    free_from = centre + half + 5;
  }
  return false;
}

Ticks horizontal_ticks(const Axis& axis, const Scale& scale, double length) {
  if (!axis.ticks.empty()) return given_ticks(axis, scale);
  const double wanted = axis.scale == ScaleKind::kLog ? kXPerDecade : kXPerTick;
  auto target = static_cast<std::size_t>(std::max(2.0, length / wanted));
  Ticks ticks = choose_ticks(scale, target, axis.whole_numbers);
  while (target > 1 && is_crowded(ticks, scale, length)) {
    ticks = choose_ticks(scale, --target, axis.whole_numbers);
  }
  return ticks;
}

Ticks vertical_ticks(const Axis& axis, const Scale& scale, double length) {
  if (!axis.ticks.empty()) return given_ticks(axis, scale);
  const auto target = static_cast<std::size_t>(std::max(2.0, length / kYPerTick));
  return choose_ticks(scale, target, axis.whole_numbers);
}

std::size_t num_mark_rows(const Panel& panel) {
  return static_cast<std::size_t>(
      std::count_if(panel.series.begin(), panel.series.end(), [](const Series& series) {
        return std::holds_alternative<Marks>(series);
      }));
}

double room_above(const PanelRoom& room) {
  return kMargin + (room.has_title ? kTitleSize + 5 : 0) + (room.has_small_line ? kSmallLine : 0) +
         room.height_of_marks();
}

}  // namespace

PanelRoom joined(const PanelRoom& a, const PanelRoom& b) {
  return {.left = std::max(a.left, b.left),
          .right = std::max(a.right, b.right),
          .below = std::max(a.below, b.below),
          .has_title = a.has_title || b.has_title,
          .has_small_line = a.has_small_line || b.has_small_line,
          .num_mark_rows = std::max(a.num_mark_rows, b.num_mark_rows)};
}

double Axes::x_at(double value) const {
  const double place = x.place(value);
  return box.left + box.width * (x_reversed ? 1 - place : place);
}

double Axes::y_at(double value) const {
  const double place = y.place(value);
  return box.bottom() - box.height * (y_reversed ? 1 - place : place);
}

std::vector<double> cell_edges(const std::vector<double>& points, ScaleKind kind) {
  const bool is_log = kind == ScaleKind::kLog;
  const auto middle = [&](double a, double b) {
    return is_log ? std::sqrt(a) * std::sqrt(b) : a / 2 + b / 2;
  };
  const auto mirrored = [&](double centre, double edge) {
    return is_log ? centre / edge * centre : centre + (centre - edge);
  };
  std::vector<double> edges;
  if (points.size() == 1) {
    return is_log ? std::vector{points[0] / 2, points[0] * 2}
                  : std::vector{points[0] - 0.5, points[0] + 0.5};
  }
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    edges.push_back(middle(points[i], points[i + 1]));
  }
  if (edges.empty()) return edges;
  edges.insert(edges.begin(), mirrored(points.front(), edges.front()));
  edges.push_back(mirrored(points.back(), edges.back()));
  return edges;
}

PanelPlan plan_panel(const Panel& panel,
                     const Box& cell,
                     bool with_note,
                     const std::string& name,
                     const PanelRoom& least) {
  const PanelScales scales = panel_scales(panel, name);
  const Scale& x = scales.x;
  const Scale& y = scales.y;
  PanelPlan plan{
      .axes = {cell, x, y, panel.x.reversed, panel.y.reversed},
      .x_ticks = {},
      .y_ticks = {},
      .has_values = scales.has_values,
      .has_field = scales.has_field,
      .own = {},
      .room = {},
      .note = with_note ? scales.note : "",
      .colours = scales.colours,
      .legend = {},
      .colour_scale = scales.colour,
      .colour_ticks = {},
      .levels = scales.levels,
  };

  // Heights first: the ticks of the y axis determine the width that is left for the x axis.
  PanelRoom& own = plan.own;
  own.has_title = !panel.title.empty();
  own.num_mark_rows = num_mark_rows(panel);
  own.below =
      kMargin + kTickLength + kGap + kTickSize + (panel.x.label.empty() ? 0 : kGap + kLabelSize);
  const auto height_within = [&](const PanelRoom& room) {
    return cell.height - room_above(room) - room.below;
  };
  plan.y_ticks = vertical_ticks(panel.y, y, height_within(own));
  // A remark is put into the line of the title if both fit.
  const double words = text_width(panel.title, kTitleSize) + text_width(plan.note, kSmallSize);
  own.has_small_line = plan.y_ticks.exponent != 0 ||
                       (!plan.note.empty() && (panel.title.empty() || words > cell.width / 2));
  own.left = kMargin + (panel.y.label.empty() ? 0 : kLabelSize + kGap) + widest(plan.y_ticks) +
             kGap + kTickLength;
  plan.legend = legend_entries(panel, plan.axes);
  own.right = kMargin + 4;
  for (const LegendEntry& entry : plan.legend) {
    own.right = std::max(own.right, room_beside(panel, entry) + kMargin);
  }
  own.right = std::max(own.right, room_for_rest(panel, plan, height_within(own)) + kMargin);
  if (plan.colour_scale) {
    Axis bar_axis;
    bar_axis.whole_numbers = panel.colour_bar->whole_numbers;
    plan.colour_ticks = vertical_ticks(bar_axis, *plan.colour_scale, height_within(own));
    own.has_small_line = own.has_small_line || plan.colour_ticks.exponent != 0;
    const double bar_text = std::max(
        widest(plan.colour_ticks),
        plan.colour_ticks.exponent == 0 ? 0
                                        : text_width("\u00d710^{\u221200}", kTickSize) - kBarWidth);
    own.right += kBarGap + kBarWidth + kGap + bar_text +
                 (panel.colour_bar->label.empty() ? 0 : kGap + kLabelSize);
  }

  plan.room = own;
  const PanelRoom wide = joined(own, least);
  if (cell.width - wide.left - wide.right >= kSmallestPlot) {
    plan.room.left = wide.left;
    plan.room.right = wide.right;
  }
  double width = cell.width - plan.room.left - plan.room.right;
  plan.x_ticks = horizontal_ticks(panel.x, x, width);
  const double x_length = panel.square ? std::min(width, height_within(joined(own, least))) : width;
  plan.x_labels_upright = !panel.x.ticks.empty() && is_crowded(plan.x_ticks, x, x_length);
  if (plan.x_labels_upright) own.below += widest(plan.x_ticks) - kTickSize;
  PanelRoom high = joined(own, least);
  if (height_within(high) < kSmallestPlot) high = own;
  high.left = plan.room.left;
  high.right = plan.room.right;
  plan.room = high;
  double height = height_within(plan.room);
  if (!(width >= kSmallestPlot && height >= kSmallestPlot)) {
    throw ConfigError(fmt::format(
        "{}: {:.0f} x {:.0f} points (72 are an inch, 28 a centimetre) are too few for its labels "
        "and a plot; make the figure larger by `width` or `height`",
        name,
        cell.width,
        cell.height));
  }
  if (panel.square) width = height = std::min(width, height);
  plan.axes.box = {cell.left + plan.room.left, cell.top + room_above(plan.room), width, height};
  if (panel.square && panel.x.ticks.empty()) plan.x_ticks = horizontal_ticks(panel.x, x, width);
  place_direct(panel, plan);
  return plan;
}

}  // namespace hesscope::plot
