// SPDX-License-Identifier: BSD-3-Clause
//
// What a landscape's caller gets in addition to the file.
#pragma once

#include <vector>

#include <hesscope/dataset/dataset.h>
#include <hesscope/landscape/internal/landscape_inputs.h>
#include <hesscope/landscape/internal/landscape_view.h>
#include <hesscope/landscape/landscape.h>

namespace hesscope::detail {

/// Summarizes the checkpoints and the grid.
/// @param roots  the root_record() of each checkpoint.
void summarize_roots(const LandscapeInputs& inputs,
                     const std::vector<Group>& roots,
                     const Grid& grid,
                     LandscapeResult& result);

/// Summarizes the positions of the checkpoints, the extremes of the loss on the grid, the number of
/// points where it is not finite, and scalars. Adds a warning for each checkpoint whose loss is not
/// finite, each quantity that failed at some points, and each scalar that is unproved or missing
/// without a mathematical reason.
void summarize_landscape(const LandscapeParts& parts, LandscapeResult& result);

}  // namespace hesscope::detail
