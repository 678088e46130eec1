// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/structured/internal/graph/parameter_uses.h>

namespace hesscope::detail {

/// Whether a parameter occurs twice in ParameterUse::theta, which products do not support: they
/// process each pair of parameters once.
bool has_repeats(std::vector<int> theta);

/// Reduces the number of uses: uses of the same parameters become one with more positions, and a
/// bias becomes an additional input, 1, of the product to which it is added, unless its parameters
/// are also among the weights.
std::vector<ParameterUse> merged(std::vector<ParameterUse> uses);

}  // namespace hesscope::detail
