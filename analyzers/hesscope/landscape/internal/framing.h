// SPDX-License-Identifier: BSD-3-Clause
//
// Grids that show a trajectory, and the checkpoints that a grid leaves out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/landscape/grid.h>
#include <hesscope/landscape/plane.h>

namespace hesscope::detail {

/// The positions of these points of parameter space on the plane.
std::vector<Plane::Projection> places_on(const Plane& plane,
                                         std::span<const Eigen::VectorXd> points);

/// The grid with as many points as `size` over all of these positions, with a margin of a tenth of
/// their extent on each side (of 1 if they have no extent). Axes of one point stay as they are.
/// Positions that are not finite (or beyond 1e99) are ignored; if none is left, `size` is returned.
Grid framed(const Grid& size, std::span<const Plane::Projection> places);

/// Says how many positions are outside of the grid, and which span would contain them; empty if
/// there are none. Axes of one point leave nothing out.
std::string left_out_text(const Grid& grid, std::span<const Plane::Projection> places);

}  // namespace hesscope::detail
