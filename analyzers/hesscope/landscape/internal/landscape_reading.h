// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/landscape/internal/landscape_inputs.h>
#include <hesscope/landscape/landscape.h>

namespace hesscope::detail {

/// Reads the summary and warnings of the existing output, the same as when it was made.
/// @throws InputError if it cannot be read.
void read_landscape(const LandscapeRequest& request,
                    const LandscapeInputs& inputs,
                    LandscapeResult& result);

}  // namespace hesscope::detail
