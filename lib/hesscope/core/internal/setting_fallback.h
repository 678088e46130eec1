// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include <hesscope/core/settings.h>

namespace hesscope::detail {

/// What is wrong with a key whose fallback, if it has one, is not of the type of the key: "'NAME'
/// that is a number, with a fallback of another type"; else empty. No value is converted there, not
/// even an integer to a real number.
inline std::string fallback_problem(const SettingKey& key) {
  const auto* const fallback = std::get_if<SettingValue>(&key.fallback);
  // Both list the types in the same order.
  if (fallback == nullptr || fallback->index() == static_cast<std::size_t>(key.type)) return {};
  return "'" + key.name + "' that is " + std::string(to_string(key.type)) +
         ", with a fallback of another type";
}

}  // namespace hesscope::detail
