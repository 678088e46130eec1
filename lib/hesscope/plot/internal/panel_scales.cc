// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/plot/internal/panel_scales.h>
#include <hesscope/plot/internal/series_data.h>

namespace hesscope::plot {
namespace {

Scale axis_scale(const Axis& axis,
                 const std::vector<double>& values,
                 double margin,
                 bool from_zero,
                 const std::string& name) {
  // A limit at one end must not leave space there for numbers that it cuts off.
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
  // A given limit may lie beyond all numbers.
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
    constexpr int kBands = 14;  // even: zero is then between two of them
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

PanelScales panel_scales(const Panel& panel, const std::string& name) {
  const SeriesData data = collect(panel, name);
  constexpr double kXMargin = 0.02;
  constexpr double kYMargin = 0.05;
  PanelScales scales{
      .x = axis_scale(panel.x, data.x, data.has_field ? 0 : kXMargin, false, name),
      .y = axis_scale(panel.y, data.y, data.has_field ? 0 : kYMargin, data.has_bars, name),
      .has_values = !data.x.empty() && (!data.has_field || !data.colour.empty()),
      .has_field = data.has_field,
      .note = panel.note,
      .colours = series_colours(panel),
      .colour = {},
  };
  if (!scales.has_values) return scales;
  const std::string missing = missing_text(data);
  if (!scales.note.empty() && !missing.empty()) scales.note += "; ";
  scales.note += missing;
  if (!panel.colour_bar) return scales;
  scales.colour = colour_scale_of(*panel.colour_bar, data.colour, name);
  const bool has_contours =
      std::any_of(panel.series.begin(), panel.series.end(), [](const Series& s) {
        return std::holds_alternative<FilledContours>(s);
      });
  if (has_contours) scales.levels = contour_levels(*scales.colour);
  return scales;
}

}  // namespace hesscope::plot
