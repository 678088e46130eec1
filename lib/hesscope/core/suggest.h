// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hesscope {

/// The candidate nearest to `word` in edit distance (insert, delete, replace, swap of neighbours),
/// or an empty string when none is within a third of the word's length, rounded up.
/// @cost word length x total candidate length.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// " (did you mean 'layers'?)", or an empty string when nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace hesscope
