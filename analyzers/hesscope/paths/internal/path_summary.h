// SPDX-License-Identifier: BSD-3-Clause
//
// What a path's caller gets in addition to the file.
#pragma once

#include <vector>

#include <hesscope/dataset/dataset.h>
#include <hesscope/paths/internal/path_inputs.h>
#include <hesscope/paths/path.h>

namespace hesscope::detail {

/// scalar_quantities() with their values from the records.
Group joined_scalars(const std::vector<const Group*>& records);

/// Takes the numbers from joined_scalars().
void summarize_scalars(const Group& scalars, PathResult& result);

/// Warns of numbers that are unproved, missing without a mathematical reason, or not as they should
/// be. Each such number makes the result inconclusive, except an index of the pass other than 1.
void judge(const Group& scalars, const std::vector<Group>& images, PathResult& result);

/// Reads the summary and warnings of the existing output, the same as when it was made.
/// @throws InputError if it cannot be read.
void read_path(const PathRequest& request, const PathInputs& inputs, PathResult& result);

}  // namespace hesscope::detail
