// SPDX-License-Identifier: BSD-3-Clause
//
// What a configuration file may hold at most.
#pragma once

#include <string>
#include <string_view>

namespace hesscope::detail {

inline constexpr int kMaxTomlDepth = 64;  ///< of tables within tables

/// Looks at a text without parsing it: toml++ makes some hundred bytes of each key and value, and
/// takes tables within tables down by recursion, which thousands of them would overflow the stack
/// of. What the text is if it is no TOML, the parser says.
/// @param name  of the file it is of, for messages.
/// @throws ConfigError "NAME:LINE: ..." for more than 50,000 keys and values, keys of more than
///         kMaxTomlDepth dots, lists and inline tables more than 16 deep.
void check_toml_bounds(std::string_view text, const std::string& name);

}  // namespace hesscope::detail
