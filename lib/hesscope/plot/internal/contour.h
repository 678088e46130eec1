// SPDX-License-Identifier: BSD-3-Clause
//
// Contours of numbers on a grid, by marching squares: linear between neighbours; saddle cells are
// resolved by the mean of their corners.
#pragma once

#include <cstddef>
#include <vector>

#include <hesscope/plot/internal/canvas.h>

namespace hesscope::plot {

/// Numbers at the crossings of columns and rows; entry (row i, column j) at [i * x.size() + j], NaN
/// if missing.
struct Field {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> values;
};

/// Where the field crosses the level, as lines that end at the edge of the field or of a hole in
/// it, or are closed (last point = first).
std::vector<Polyline> contour_lines(const Field& field, double level);

/// The boundaries of the region where the field is at least the level, including the field's own
/// edge: closed polygons, to be filled by the even-odd rule.
std::vector<Polyline> superlevel_area(const Field& field, double level);

}  // namespace hesscope::plot
