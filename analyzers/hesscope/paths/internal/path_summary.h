// SPDX-License-Identifier: BSD-3-Clause
//
// What a path's caller learns from it besides the file.
#pragma once

#include <vector>

#include <hesscope/dataset/dataset.h>
#include <hesscope/paths/internal/path_inputs.h>
#include <hesscope/paths/path.h>

namespace hesscope::detail {

/// scalar_quantities() with what the records say of them.
Group joined_scalars(const std::vector<const Group*>& records);

/// The numbers, of joined_scalars().
void summarize_scalars(const Group& scalars, PathResult& result);

/// Warnings of what is missing for no good reason, unproved, or not what it should be; they make
/// the result inconclusive, except a pass of another index than 1.
void judge(const Group& scalars, const std::vector<Group>& images, PathResult& result);

/// The same summary and warnings as when the output of this request, which is there, was made.
/// @throws InputError if it cannot be read.
PathResult read_path(const PathRequest& request, const PathInputs& inputs);

}  // namespace hesscope::detail
