// SPDX-License-Identifier: BSD-3-Clause
//
// A figure as a plain description: what to draw, not how. to_svg() (svg.h) draws it.
//
//   plot::Panel panel;
//   panel.x.label = "step";
//   panel.y = {.label = "loss", .scale = plot::ScaleKind::kLog};
//   panel.series.push_back(plot::Line{.x = steps, .y = losses, .label = "Adam"});
//   std::string svg = plot::to_svg({.panels = {panel}});
//
// Text may contain ^{...} and _{...}: superscripts and subscripts, as in "10^{-3}" or "L_{0}". Text
// is UTF-8; invalid bytes become U+FFFD. Numbers that are NaN, infinite or, on a logarithmic axis,
// not positive leave gaps, and the panel says how many there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <hesscope/plot/colour.h>

namespace hesscope::plot {

enum class ScaleKind : std::uint8_t {
  kLinear,
  kLog,        ///< base 10
  kSignedLog,  ///< asinh(v / (2 threshold)): logarithmic on both sides, linear around zero
};

struct Axis {
  std::string label{};
  ScaleKind scale = ScaleKind::kLinear;
  std::optional<double> lower{};  ///< in data units; by default as the series need
  std::optional<double> upper{};
  double threshold = 0;  ///< of kSignedLog, > 0; 0: a thousandth of the largest magnitude
  std::vector<std::pair<double, std::string>> ticks{};  ///< instead of automatic ones
  bool reversed = false;                                ///< growing to the left or downwards
  bool whole_numbers = false;                           ///< ticks at whole numbers only
  bool grid = true;
};

enum class Dash : std::uint8_t { kSolid, kDashed, kDotted };

/// Points joined in their order; a missing point interrupts the line.
struct Line {
  std::vector<double> x{};
  std::vector<double> y{};
  std::string label{};             ///< "" = not in the legend
  std::optional<Colour> colour{};  ///< by default line_colour() of its place among the labelled
  double width = 1.25;             ///< in points, 1/72 inch
  Dash dash = Dash::kSolid;
  bool markers = false;  ///< a dot at each point
  bool steps = false;    ///< y holds from its x to the next
  /// Empty, or for each point whether its value is uncertain: shown as an open ring.
  std::vector<bool> uncertain{};
};

/// The area between two curves, behind all lines: a spread over seeds, a confidence interval.
struct Band {
  std::vector<double> x{};
  std::vector<double> low{};
  std::vector<double> high{};
  std::string label{};
  std::optional<Colour> colour{};  ///< by default that of the Line that follows it
};

struct Scatter {
  std::vector<double> x{};
  std::vector<double> y{};
  std::vector<double> values{};  ///< empty, or a number per point, read off the panel's colour bar
  std::string label{};
  std::optional<Colour> colour{};  ///< of points without values
  double radius = 2.0;             ///< in points
  double opacity = 1;              ///< 0 .. 1: below 1, overlapping points look darker
};

/// Crosses above the frame, for events at x without a value of y. Each such series has its own row.
struct Marks {
  std::vector<double> x{};
  std::string label{};
  std::optional<Colour> colour{};
};

/// Rectangles that reach from the axis (from its lower end if logarithmic) to the heights.
struct Bars {
  std::vector<double> edges{};  ///< one more than heights, ascending
  std::vector<double> heights{};
  std::string label{};
  std::optional<Colour> colour{};
};

/// Numbers on a grid; entry (i, j), at y[i] and x[j], is at [i * x.size() + j]. Missing ones are
/// left blank.
struct Grid {
  std::vector<double> x{};  ///< ascending
  std::vector<double> y{};  ///< ascending
  std::vector<double> values{};
};

/// A cell of uniform colour around each point of a grid, extending halfway to its neighbours.
struct HeatMap {
  Grid grid{};
  bool numbers = false;  ///< written into the cells if there is room in all
};

/// Uniform colours between levels, which are chosen from the colour bar's range, and lines at the
/// levels. Between points, the position on the colour bar's scale is interpolated linearly.
struct FilledContours {
  Grid grid{};
  bool lines = true;
};

struct ContourLines {
  Grid grid{};
  std::vector<double> levels{};
  std::optional<Colour> colour{};
  std::string label{};
};

/// A line across the panel.
struct Reference {
  enum class Kind : std::uint8_t {
    kHorizontal,  ///< y = intercept
    kVertical,    ///< x = intercept
    kSloped,      ///< y = intercept + slope x
  };

  Kind kind = Kind::kHorizontal;
  double intercept = 0;
  double slope = 0;
  std::string label{};
  std::optional<Colour> colour{};
  Dash dash = Dash::kDashed;
  /// Whether the axis is extended to include a horizontal reference; other kinds never change the
  /// range of an axis.
  bool is_in_range = false;
};

using Series = std::
    variant<Line, Band, Scatter, Bars, HeatMap, FilledContours, ContourLines, Reference, Marks>;

/// What the colours of a panel mean.
struct ColourBar {
  std::string label{};
  ScaleKind scale = ScaleKind::kLinear;
  ColourMap map = ColourMap::kViridis;
  std::optional<double> lower{};
  std::optional<double> upper{};
  double threshold = 0;    ///< as Axis::threshold
  bool symmetric = false;  ///< zero in the middle of the map
  bool whole_numbers = false;
};

enum class Legend : std::uint8_t {
  kDirect,  ///< names next to the right ends of the lines
  kInside,  ///< a list in the corner with the fewest points
  kBeside,  ///< a list next to the plot, for series with a meaningful order
  kNone,
};

/// Rows of text instead of a plot. The first is the heading, which is broken at spaces to be about
/// as wide as the rows below it; the first column is left-aligned.
struct Table {
  std::vector<std::vector<std::string>> rows{};
};

struct Panel {
  std::string title{};
  Axis x{};
  Axis y{};
  std::vector<Series> series{};  ///< drawn in this order, bands first
  std::optional<ColourBar> colour_bar{};
  Legend legend = Legend::kDirect;
  bool square = false;  ///< a plot as high as wide
  std::string note{};   ///< a remark in small type above the plot, at its right end
  std::optional<Table> table{};
};

struct Figure {
  std::string title{};
  std::string description{};  ///< for readers who cannot see the figure
  std::vector<Panel> panels = {};
  int columns = 0;           ///< of panels; 0 = all in one row
  double width = 0;          ///< in points; 0 = from the number of panels, or as a table needs
  double height = 0;         ///< in points; 0 = the same
  double magnification = 1;  ///< > 0, of letters, lines and gaps, and of a default size
  bool notes = true;         ///< remarks above the plots: the panels' own, and on missing numbers
};

/// Whether there is anything to draw apart from axes and references: a table, or a number that has
/// a place. @throws PreconditionError as to_svg() if the parts of a series do not fit together.
bool has_numbers(const Figure& figure);

/// Whether a number has no place because its axis or colour bar is logarithmic. @throws as above.
bool has_unplaced_numbers(const Figure& figure);

}  // namespace hesscope::plot
