// SPDX-License-Identifier: BSD-3-Clause
//
// What /noise stores. Private.
#pragma once

#include <vector>

#include <hesscope/dataset/dataset.h>

namespace hesscope::detail {

/// @param  has_ladder  whether further batch sizes are summed up.
std::vector<Variable> noise_quantities(bool has_ladder);

}  // namespace hesscope::detail
