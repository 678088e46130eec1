// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <variant>

#include <hesscope/core/settings.h>

namespace hesscope::detail {

/// Whether the fallback of a key, if it has one, is of the type of the key: no value is converted
/// there, not even an integer to a real number.
inline bool has_fitting_fallback(const SettingKey& key) {
  const auto* const fallback = std::get_if<SettingValue>(&key.fallback);
  // Both list the types in the same order.
  return fallback == nullptr || fallback->index() == static_cast<std::size_t>(key.type);
}

}  // namespace hesscope::detail
