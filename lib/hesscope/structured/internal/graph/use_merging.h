// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/structured/internal/graph/parameter_uses.h>

namespace hesscope::detail {

/// The uses with fewer of them: those of the same parameters are one at more positions, and a bias is
/// one more input, 1, of the product it is added to.
std::vector<ParameterUse> merged(std::vector<ParameterUse> uses);

}  // namespace hesscope::detail
