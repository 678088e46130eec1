// SPDX-License-Identifier: BSD-3-Clause
//
// Lines and areas made fit to be drawn: cut at a box, and freed of what nobody can see.
#pragma once

#include <vector>

#include <hesscope/plot/internal/canvas.h>

namespace hesscope::plot {

/// The parts of a polyline within a box. A lone point within is kept as a separate part.
std::vector<Polyline> clip_line(const Polyline& line, const Box& box);

/// A polygon cut at a box.
Polyline clip_polygon(const Polyline& polygon, const Box& box);

/// A polyline that looks the same: of more than four consecutive points in one column of half a
/// point's width, the first, the lowest, the highest and the last remain, in their order.
/// @cost linear.
Polyline thinned(const Polyline& line);

}  // namespace hesscope::plot
