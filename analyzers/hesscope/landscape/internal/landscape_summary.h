// SPDX-License-Identifier: BSD-3-Clause
//
// What a landscape's caller learns from it besides the file.
#pragma once

#include <string>
#include <vector>

#include <hesscope/analyzers/record.h>
#include <hesscope/landscape/internal/landscape_file.h>
#include <hesscope/landscape/internal/landscape_inputs.h>
#include <hesscope/landscape/landscape.h>

namespace hesscope::detail {

/// What a result file holds of a landscape.
struct LandscapeParts {
  std::vector<SurfaceValues> surface;  ///< the loss first
  std::vector<TrajectoryPoint> trajectory;
  Record directions;
  Record scalars;
};

/// Quantities of the directions, those of their kind included.
std::vector<Quantity> all_direction_quantities(const LandscapeInputs& inputs);

/// The checkpoints and the grid.
/// @param roots  what root_record() says of each.
void summarize_roots(const LandscapeInputs& inputs,
                     const std::vector<Record>& roots,
                     const Grid& grid,
                     LandscapeResult& result);

/// Places of the checkpoints, extremes of the loss on the grid, the number of points where it is
/// not finite, and scalars. A warning for each checkpoint whose loss is not finite, each quantity
/// that failed at some points, each scalar that is unproved or missing for no good reason.
/// @param scalars  those other than the directions', in the order wanted.
void summarize_landscape(const LandscapeParts& parts,
                         const std::vector<Quantity>& directions,
                         const std::vector<Quantity>& scalars,
                         LandscapeResult& result);

}  // namespace hesscope::detail
