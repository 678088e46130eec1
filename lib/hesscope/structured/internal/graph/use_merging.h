// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/structured/internal/graph/parameter_uses.h>

namespace hesscope::detail {

/// Whether a parameter stands twice in ParameterUse::theta, which products cannot have: they take
/// each pair of its numbers once.
bool has_repeats(std::vector<int> theta);

/// The uses with fewer of them: those of the same parameters are one at more positions, and a bias
/// is one more input, 1, of the product it is added to, unless it is of numbers of its weights.
std::vector<ParameterUse> merged(std::vector<ParameterUse> uses);

}  // namespace hesscope::detail
