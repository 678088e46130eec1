// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/plot/internal/layout.h>
#include <hesscope/plot/internal/legend.h>
#include <hesscope/plot/internal/series_data.h>
#include <hesscope/plot/internal/text.h>

namespace hesscope::plot {
namespace {

constexpr double kMargin = 4;     // around everything
constexpr double kXPerTick = 38;  // points of an axis that a labelled tick wants
constexpr double kXPerDecade = 24;
constexpr double kYPerTick = 24;
constexpr double kSmallestPlot = 30;

double widest(const Ticks& ticks) {
  double width = 0;
  for (const Tick& tick : ticks.ticks) width = std::max(width, text_width(tick.label, kTickSize));
  return width;
}

Scale axis_scale(const Axis& axis,
                 const std::vector<double>& values,
                 double margin,
                 bool from_zero,
                 const std::string& name) {
  // A limit at one end must not leave room there for what it cuts off.
  std::vector<double> within;
  for (const double value : values) {
    if (value >= axis.lower.value_or(value) && value <= axis.upper.value_or(value)) {
      within.push_back(value);
    }
  }
  const Scale scale =
      enclosing_scale(axis.scale, within.empty() ? values : within, margin, axis.threshold);
  double lower = axis.lower.value_or(scale.lower());
  double upper = axis.upper.value_or(scale.upper());
  if (!axis.lower && from_zero && axis.scale == ScaleKind::kLinear && lower < 0 &&
      std::all_of(values.begin(), values.end(), [](double v) { return v >= 0; })) {
    lower = 0;
  }
  // A limit given may lie beyond all numbers.
  if (axis.lower && !axis.upper && !(lower < upper)) {
    upper = axis.scale == ScaleKind::kLog ? lower * 10 : lower + std::max(1.0, std::abs(lower));
  } else if (axis.upper && !axis.lower && !(lower < upper)) {
    lower = axis.scale == ScaleKind::kLog ? upper / 10 : upper - std::max(1.0, std::abs(upper));
  }
  if (!is_drawable(axis.scale, lower) || !is_drawable(axis.scale, upper) || !(lower < upper)) {
    throw PreconditionError(fmt::format("to_svg: {}: an axis from {} to {} cannot be drawn{}",
                                        name,
                                        lower,
                                        upper,
                                        axis.scale == ScaleKind::kLog ? " logarithmically" : ""));
  }
  return {axis.scale, lower, upper, scale.threshold()};
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

std::string missing_text(const SeriesData& data) {
  const auto counted = [](std::size_t count, const char* what) {
    return fmt::format("{} value{} {}", count, count == 1 ? "" : "s", what);
  };
  std::string text;
  if (data.num_missing > 0) text = counted(data.num_missing, "missing");
  if (data.num_not_positive > 0) {
    if (!text.empty()) text += ", ";
    text += counted(data.num_not_positive, "\u2264 0 not shown");
  }
  return text;
}

Scale colour_scale_of(const ColourBar& bar, std::vector<double> values, const std::string& name) {
  if (bar.symmetric) {
    const std::size_t count = values.size();
    for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  }
  Axis axis;
  axis.scale = bar.scale;
  axis.lower = bar.lower;
  axis.upper = bar.upper;
  axis.threshold = bar.threshold;
  return axis_scale(axis, values, 0, false, name);
}

// Levels of filled contours: about a dozen, at round numbers or parts of decades.
std::vector<double> contour_levels(const Scale& scale) {
  std::vector<double> levels;
  constexpr std::size_t kTarget = 16;
  if (scale.kind() == ScaleKind::kLog) {
    const double low = std::log10(scale.lower());
    const double high = std::log10(scale.upper());
    double step = 0.05;
    for (const double candidate : {0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0}) {
      if ((high - low) / step <= kTarget) break;
      step = candidate;
    }
    for (double k = std::floor(low / step) + 1; k * step < high; k += 1) {
      levels.push_back(std::pow(10.0, k * step));
    }
  } else if (scale.kind() == ScaleKind::kSignedLog) {
    constexpr int kBands = 14;  // even: zero in the middle parts two of them
    for (int k = 1; k < kBands; ++k) {
      levels.push_back(2 * k == kBands && scale.lower() == -scale.upper()
                           ? 0
                           : scale.value(static_cast<double>(k) / kBands));
    }
  } else {
    for (const Tick& tick : choose_ticks(scale, kTarget).ticks) levels.push_back(tick.value);
  }
  std::erase_if(levels,
                [&](double level) { return !(level > scale.lower() && level < scale.upper()); });
  return levels;
}

std::vector<Colour> series_colours(const Panel& panel) {
  std::vector<Colour> colours(panel.series.size(), kInk);
  std::size_t next = 0;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    std::visit(
        [&](const auto& s) {
          using T = std::decay_t<decltype(s)>;
          if constexpr (std::is_same_v<T, Reference>) {
            colours[i] = s.colour.value_or(kGrey);
          } else if constexpr (std::is_same_v<T, Band>) {
            colours[i] = s.colour.value_or(line_colour(next));
          } else if constexpr (requires { s.colour; }) {
            colours[i] = s.colour ? *s.colour : line_colour(next++);
          }
        },
        panel.series[i]);
  }
  return colours;
}

}  // namespace

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

PanelPlan plan_panel(const Panel& panel, const Box& cell, const std::string& name) {
  const SeriesData data = collect(panel, name);
  constexpr double kXMargin = 0.02;
  constexpr double kYMargin = 0.05;
  const Scale x = axis_scale(panel.x, data.x, data.has_field ? 0 : kXMargin, false, name);
  const Scale y = axis_scale(panel.y, data.y, data.has_field ? 0 : kYMargin, data.has_bars, name);
  PanelPlan plan{
      .axes = {cell, x, y, panel.x.reversed, panel.y.reversed},
      .x_ticks = {},
      .y_ticks = {},
      .has_values = !data.x.empty() && (!data.has_field || !data.colour.empty()),
      .has_field = data.has_field,
      .note = panel.note,
      .colours = series_colours(panel),
      .legend = {},
      .colour_scale = {},
      .colour_ticks = {},
      .levels = {},
  };
  if (plan.has_values) {
    const std::string missing = missing_text(data);
    if (!plan.note.empty() && !missing.empty()) plan.note += "; ";
    plan.note += missing;
  }

  // Heights first: ticks of the y axis give the width left for the x axis.
  const double above_box = kMargin + (panel.title.empty() ? 0 : kTitleSize + 5);
  double top = cell.top + above_box;
  double bottom = cell.bottom() - kMargin - kTickLength - kGap - kTickSize -
                  (panel.x.label.empty() ? 0 : kGap + kLabelSize);
  plan.y_ticks = vertical_ticks(panel.y, y, bottom - top);
  // A remark stands in the line of the title where both fit.
  const double words = text_width(panel.title, kTitleSize) + text_width(plan.note, kSmallSize);
  plan.has_small_line = plan.y_ticks.exponent != 0 ||
                        (!plan.note.empty() && (panel.title.empty() || words > cell.width / 2));
  if (plan.has_small_line) top += kSmallLine;
  const double left = cell.left + kMargin + (panel.y.label.empty() ? 0 : kLabelSize + kGap) +
                      widest(plan.y_ticks) + kGap + kTickLength;

  plan.legend = legend_entries(panel, plan.axes);
  double right_margin = kMargin + 4;
  for (const LegendEntry& entry : plan.legend) {
    if (!entry.is_direct) continue;
    right_margin = std::max(right_margin, text_width(entry.text, kTickSize) + kDirectGap + kMargin);
  }
  if (panel.colour_bar && plan.has_values) {
    plan.colour_scale = colour_scale_of(*panel.colour_bar, data.colour, name);
    const bool has_contours =
        std::any_of(panel.series.begin(), panel.series.end(), [](const Series& s) {
          return std::holds_alternative<FilledContours>(s);
        });
    if (has_contours) plan.levels = contour_levels(*plan.colour_scale);
    Axis bar_axis;
    bar_axis.whole_numbers = panel.colour_bar->whole_numbers;
    plan.colour_ticks = vertical_ticks(bar_axis, *plan.colour_scale, bottom - top);
    if (plan.colour_ticks.exponent != 0 && !plan.has_small_line) {
      plan.has_small_line = true;
      top += kSmallLine;
    }
    const double bar_text = std::max(
        widest(plan.colour_ticks),
        plan.colour_ticks.exponent == 0 ? 0
                                        : text_width("\u00d710^{\u221200}", kTickSize) - kBarWidth);
    right_margin += kBarGap + kBarWidth + kGap + bar_text +
                    (panel.colour_bar->label.empty() ? 0 : kGap + kLabelSize);
  }

  double width = cell.right() - right_margin - left;
  plan.x_ticks = horizontal_ticks(panel.x, x, width);
  plan.x_labels_upright = !panel.x.ticks.empty() && is_crowded(plan.x_ticks, x, width);
  if (plan.x_labels_upright) bottom -= widest(plan.x_ticks) - kTickSize;
  double height = bottom - top;
  if (!(width >= kSmallestPlot && height >= kSmallestPlot)) {
    throw PreconditionError(
        fmt::format("to_svg: {}: {:.0f} x {:.0f} points are too few for its labels and a plot",
                    name,
                    cell.width,
                    cell.height));
  }
  if (panel.square) width = height = std::min(width, height);
  plan.axes.box = {left, top, width, height};
  if (panel.square && panel.x.ticks.empty()) plan.x_ticks = horizontal_ticks(panel.x, x, width);
  place_direct(panel, plan);
  return plan;
}

}  // namespace hesscope::plot
