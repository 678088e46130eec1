// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/landscape/internal/landscape_inputs.h>
#include <hesscope/landscape/landscape.h>

namespace hesscope::detail {

/// The same summary and warnings as when the output of this request, which is there, was made.
/// @throws InputError if it cannot be read.
LandscapeResult read_landscape(const LandscapeRequest& request, const LandscapeInputs& inputs);

}  // namespace hesscope::detail
