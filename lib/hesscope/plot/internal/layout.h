// SPDX-License-Identifier: BSD-3-Clause
//
// The layout of a panel: ranges, ticks, margins, colours.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/plot/internal/canvas.h>
#include <hesscope/plot/scale.h>

namespace hesscope::plot {

inline constexpr double kTitleSize = 9;
inline constexpr double kLabelSize = 8.5;
inline constexpr double kTickSize = 7.5;
inline constexpr double kSmallSize = 6.5;
inline constexpr double kSmallLine = kTickSize + 4;  // its height
inline constexpr double kMarkRow = 7;                ///< height of a row of marks above the frame
inline constexpr double kTickLength = 3;
inline constexpr double kGap = 3;       ///< between tick labels and ticks, and axis labels
inline constexpr double kBarGap = 9;    // between plot and colour bar
inline constexpr double kBarWidth = 8;  // of a colour bar

/// The position of a plot and its two scales.
struct Axes {
  Box box;
  Scale x;
  Scale y;
  bool x_reversed = false;
  bool y_reversed = false;

  double x_at(double value) const;
  double y_at(double value) const;

  Point at(double x_value, double y_value) const { return {x_at(x_value), y_at(y_value)}; }

  bool has_place(double x_value, double y_value) const {
    return is_drawable(x.kind(), x_value) && is_drawable(y.kind(), y_value);
  }
};

/// The text of a series in a legend.
struct LegendEntry {
  std::size_t series = 0;
  std::string text;
  bool is_direct = false;  ///< next to the end of its line
  double wanted_y = 0;     ///< of a direct entry: where its line ends
};

/// The space that a panel takes around its plot. Panels in a row or a column get the largest space
/// that any of them needs, so that their frames are aligned.
struct PanelRoom {
  double left = 0;  ///< in points
  double right = 0;
  double below = 0;
  bool has_title = false;
  bool has_small_line = false;    ///< between title and plot, for exponents and remarks
  std::size_t num_mark_rows = 0;  ///< between that line and the plot

  double height_of_marks() const { return kMarkRow * static_cast<double>(num_mark_rows); }
};

/// The larger of both needs.
PanelRoom joined(const PanelRoom& a, const PanelRoom& b);

struct PanelPlan {
  Axes axes;
  Ticks x_ticks;
  Ticks y_ticks;
  bool x_labels_upright = false;  ///< turned by 90 degrees
  bool has_values = false;        ///< there is something to draw
  bool has_field = false;         ///< the plot is filled to its edges
  PanelRoom own;                  ///< what the panel needs
  PanelRoom room;                 ///< what it gets
  std::string note;               ///< the panel's own, and about missing numbers
  std::vector<Colour> colours;    ///< of each series
  std::vector<LegendEntry> legend;
  std::optional<Scale> colour_scale;
  Ticks colour_ticks;
  std::vector<double> levels;  ///< of filled contours, ascending
};

/// @param name  the panel's in messages.
/// @param least  minimum space to take, if enough is left for a plot.
/// @throws PreconditionError as to_svg().
PanelPlan plan_panel(const Panel& panel,
                     const Box& cell,
                     bool with_note,
                     const std::string& name,
                     const PanelRoom& least = {});

/// Edges of the cells around the points of an axis: halfway, on the scale, between neighbours.
std::vector<double> cell_edges(const std::vector<double>& points, ScaleKind kind);

}  // namespace hesscope::plot
