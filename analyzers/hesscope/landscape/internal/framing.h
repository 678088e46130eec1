// SPDX-License-Identifier: BSD-3-Clause
//
// Grids that show a trajectory, and what a grid leaves out of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/landscape/grid.h>
#include <hesscope/landscape/plane.h>

namespace hesscope::detail {

/// Where these points of parameter space are on the plane.
std::vector<Plane::Projection> places_on(const Plane& plane,
                                         std::span<const Eigen::VectorXd> points);

/// The grid of as many points as `size` over all of these places, with a margin of a tenth of their
/// extent on each side (of 1 where they have none). Axes of one point stay as they are; places that
/// are not finite (or beyond 1e99) are left out, and `size` is returned where none is left.
Grid framed(const Grid& size, std::span<const Plane::Projection> places);

/// Says of places outside of the grid how many there are, and which span would contain them; empty
/// where there are none. Axes of one point leave nothing out.
std::string left_out_text(const Grid& grid, std::span<const Plane::Projection> places);

}  // namespace hesscope::detail
