// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace hesscope {

/// Whether the text matches the pattern, in which each '*' stands for any text, possibly empty,
/// each '?' for one UTF-8 character, and "[abc]" for one of these characters, or for itself
/// literally. No other character is special, and the locale has no influence.
/// @cost length of the pattern x length of the text, at worst.
bool matches_wildcard(std::string_view pattern, std::string_view text);

}  // namespace hesscope
