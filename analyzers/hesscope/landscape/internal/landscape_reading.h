// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/dataset/dataset.h>
#include <hesscope/landscape/internal/landscape_inputs.h>
#include <hesscope/landscape/landscape.h>

namespace hesscope::detail {

/// The same summary and warnings as when the output of this request, which is there, was made.
/// @param scalars  those other than the directions', in the order wanted.
/// @throws InputError if it cannot be read.
LandscapeResult read_landscape(const LandscapeRequest& request,
                               const LandscapeInputs& inputs,
                               const std::vector<Variable>& scalars);

}  // namespace hesscope::detail
