// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/landscape/internal/landscape_inputs.h>
#include <hesscope/landscape/landscape.h>

namespace hesscope::detail {

/// The summary and warnings of the existing output of this request, the same as when it was made.
/// @throws InputError if it cannot be read.
LandscapeResult read_landscape(const LandscapeRequest& request, const LandscapeInputs& inputs);

}  // namespace hesscope::detail
