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

/// The candidate nearest to `word` in edit distance (insert, delete, replace, swap of neighbours),
/// but the first that begins with it, in at least three letters, before any that is more than
/// one edit away; when none is within a third of the word's length, rounded up, the first that has
/// it as a part between hyphens, underscores or dots, as "tangent-kernel" has "kernel"; else an
/// empty string.
/// @cost word length x total candidate length.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// " (did you mean 'layers'?)", or an empty string when nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// "'layer' (did you mean 'layers'?); there are layers, heads": what ends a sentence on a name that
/// is none of these.
std::string name_among(std::string_view name, std::span<const std::string> names);

/// "unknown key 'layer' (did you mean 'layers'?); there are layers, heads".
/// @param what  what the names are of: "key".
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

/// The one of `kinds`, which must outlive the answer, with this name, or nullptr.
template <typename Kinds>
auto find_or_null(const Kinds& kinds, std::string_view name)
    -> decltype(std::addressof(*std::begin(kinds))) {
  for (const auto& kind : kinds) {
    if (kind.name == name) return std::addressof(kind);
  }
  return nullptr;
}

/// The one of `kinds`, which must outlive the answer, with this name.
/// @param what  what they are kinds of: "figure".
/// @throws ConfigError: unknown_name().
template <typename Kinds>
const auto& find_named(const Kinds& kinds, std::string_view name, std::string_view what) {
  if (const auto* const found = find_or_null(kinds, name)) return *found;
  throw ConfigError(unknown_name(what, name, names_of(kinds)));
}

}  // namespace hesscope
