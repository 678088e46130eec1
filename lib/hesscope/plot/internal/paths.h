// SPDX-License-Identifier: BSD-3-Clause
//
// Prepares lines and areas for drawing: clips them to a box, and removes invisible detail.
#pragma once

#include <vector>

#include <hesscope/plot/internal/canvas.h>

namespace hesscope::plot {

/// The parts of a polyline within a box. A single point within it is kept as a separate part.
std::vector<Polyline> clip_line(const Polyline& line, const Box& box);

/// A polygon clipped to a box.
Polyline clip_polygon(const Polyline& polygon, const Box& box);

/// A polyline that looks the same: of more than four consecutive points within a column of half a
/// point's width, only the first, the lowest, the highest and the last are kept, in their order.
/// @cost linear.
Polyline thinned(const Polyline& line);

}  // namespace hesscope::plot
