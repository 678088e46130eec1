// SPDX-License-Identifier: BSD-3-Clause
//
// What a landscape's caller learns from it besides the file.
#pragma once

#include <vector>

#include <hesscope/dataset/dataset.h>
#include <hesscope/landscape/internal/landscape_inputs.h>
#include <hesscope/landscape/internal/landscape_view.h>
#include <hesscope/landscape/landscape.h>

namespace hesscope::detail {

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
