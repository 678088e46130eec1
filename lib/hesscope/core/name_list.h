// SPDX-License-Identifier: BSD-3-Clause
//
// Long lists of names, shortened for messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace hesscope {

/// What follows the first of many names: " and 5 more"; empty for 0.
std::string and_more(std::size_t num_others);

/// The first `most` of these names, and the number of the others: "a, b and 5 more".
std::string first_names(std::span<const std::string> names, std::size_t most);

/// The same in quotes: "'a', 'b' and 5 more".
std::string first_quoted(std::span<const std::string> names, std::size_t most);

}  // namespace hesscope
