// SPDX-License-Identifier: BSD-3-Clause
//
// Dimensions that several analyzers have, with what lies along them.
#pragma once

#include <cstdint>
#include <string>

#include <hesscope/analyzers/analyzer.h>
#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// A dimension along which numbers are sorted.
/// @param order  what comes first, in words.
Dimension rank_dimension(const std::string& name,
                         std::int64_t size,
                         const std::string& order = "ascending");

/// A dimension along the parameter tensors, other than the root's `block`.
Dimension block_dimension(const std::string& name, const Objective& objective);

}  // namespace hesscope::detail
