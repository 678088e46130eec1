// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <hesscope/core/printable.h>
#include <hesscope/core/settings.h>

namespace hesscope::detail {

/// What is wrong with a key whose fallback does not have the key's type: "'NAME' that is a number,
/// with a fallback of another type"; else empty. Fallbacks are not converted, not even from an
/// integer to a real number.
inline std::string fallback_problem(const SettingKey& key) {
  const auto* const fallback = std::get_if<SettingValue>(&key.fallback);
  // Both list the types in the same order.
  if (fallback == nullptr || fallback->index() == static_cast<std::size_t>(key.type)) return {};
  return "'" + key.name + "' that is " + std::string(to_string(key.type)) +
         ", with a fallback of another type";
}

/// What is wrong with a kind that files can name: "has a name that no file can say", "has two keys
/// 'NAME'", where one of the two may be among the reserved keys, or "has a key " and
/// fallback_problem(); else empty.
inline std::string kind_problem(std::string_view name,
                                std::span<const SettingKey> keys,
                                std::set<std::string> taken) {
  if (name.empty() || !is_printable_utf8(name)) return "has a name that no file can say";
  for (const SettingKey& key : keys) {
    if (!taken.insert(key.name).second) return "has two keys '" + key.name + "'";
    const std::string problem = fallback_problem(key);
    if (!problem.empty()) return "has a key " + problem;
  }
  return {};
}

}  // namespace hesscope::detail
