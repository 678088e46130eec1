// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace hesscope {

/// Whether the text is the pattern, in which each '*' stands for any text, or for none, each '?'
/// for one character of UTF-8, and "[abc]" for one of these, or for itself. No other character has
/// a meaning, nor a locale.
/// @cost length of the pattern x length of the text, at worst.
bool matches_wildcard(std::string_view pattern, std::string_view text);

}  // namespace hesscope
