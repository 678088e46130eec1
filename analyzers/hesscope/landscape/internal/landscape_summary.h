// SPDX-License-Identifier: BSD-3-Clause
//
// What a landscape's caller learns from it besides the file.
#pragma once

#include <string>
#include <vector>

#include <hesscope/dataset/dataset.h>
#include <hesscope/landscape/internal/landscape_file.h>
#include <hesscope/landscape/internal/landscape_inputs.h>
#include <hesscope/landscape/landscape.h>

namespace hesscope::detail {

/// What a result file holds of a landscape.
struct LandscapeParts {
  Group surface;     ///< at every point of the grid, alpha fastest; the loss first
  Group trajectory;  ///< trajectory_of()
  Group directions;  ///< those of their kind last
  Group scalars;     ///< the others, in the order in which they are shown
};

/// Quantities of the directions, those of their kind included.
std::vector<Variable> all_direction_quantities(const LandscapeInputs& inputs);

/// The checkpoints and the grid.
/// @param roots  what root_record() says of each.
void summarize_roots(const LandscapeInputs& inputs,
                     const std::vector<Group>& roots,
                     const Grid& grid,
                     LandscapeResult& result);

/// Places of the checkpoints, extremes of the loss on the grid, the number of points where it is
/// not finite, and scalars. A warning for each checkpoint whose loss is not finite, each quantity
/// that failed at some points, each scalar that is unproved or missing for no good reason.
void summarize_landscape(const LandscapeParts& parts, LandscapeResult& result);

}  // namespace hesscope::detail
