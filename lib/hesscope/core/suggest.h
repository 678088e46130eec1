// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/core/error.h>

namespace hesscope {

/// The candidate nearest to `word`. If `word` has at least three letters, the first candidate that
/// begins with it is preferred to any that is more than one edit away. Otherwise it is the
/// candidate with the smallest edit distance (insert, delete, replace, swap of neighbours), if that
/// is at most a third of the word's length, rounded up; else the first that contains it as a part
/// between hyphens, underscores or dots, as "tangent-kernel" contains "kernel"; else an empty
/// string.
/// @cost word length x total candidate length.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// " (did you mean 'layers'?)", or an empty string when nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// "'layer' (did you mean 'layers'?); there are layers, heads": the end of a sentence about a name
/// that is not among these.
std::string name_among(std::string_view name, std::span<const std::string> names);

/// "unknown key 'layer' (did you mean 'layers'?); there are layers, heads".
/// @param what  what the names denote: "key".
std::string unknown_name(std::string_view what,
                         std::string_view name,
                         std::span<const std::string> names);

/// The names of a registry's kinds, or of anything else with a member `name`, in their order.
template <typename Kinds>
std::vector<std::string> names_of(const Kinds& kinds) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) names.emplace_back(kind.name);
  return names;
}

/// The element of `kinds` with this name, or nullptr. `kinds` must outlive the answer.
template <typename Kinds>
auto find_or_null(const Kinds& kinds, std::string_view name)
    -> decltype(std::addressof(*std::begin(kinds))) {
  for (const auto& kind : kinds) {
    if (kind.name == name) return std::addressof(kind);
  }
  return nullptr;
}

/// The element of `kinds` with this name. `kinds` must outlive the answer.
/// @param what  what the kinds are called: "figure".
/// @throws ConfigError: unknown_name().
template <typename Kinds>
const auto& find_named(const Kinds& kinds, std::string_view name, std::string_view what) {
  if (const auto* const found = find_or_null(kinds, name)) return *found;
  throw ConfigError(unknown_name(what, name, names_of(kinds)));
}

}  // namespace hesscope
