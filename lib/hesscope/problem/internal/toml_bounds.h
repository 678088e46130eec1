// SPDX-License-Identifier: BSD-3-Clause
//
// Limits on configuration files.
#pragma once

#include <string>
#include <string_view>

namespace hesscope::detail {

inline constexpr int kMaxTomlDepth = 64;  ///< of tables within tables

/// Checks a text without parsing it: toml++ takes some hundred bytes for each key and value, and
/// processes nested tables by recursion, so that thousands of levels would overflow the stack.
/// Whether the text is valid TOML is left to the parser.
/// @param name  of the file, for messages.
/// @throws ConfigError "NAME:LINE: ..." for more than 50,000 keys and values, keys with more than
///         kMaxTomlDepth dots, lists and inline tables nested more than 16 deep.
void check_toml_bounds(std::string_view text, const std::string& name);

}  // namespace hesscope::detail
