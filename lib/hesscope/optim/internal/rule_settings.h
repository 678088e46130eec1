// SPDX-License-Identifier: BSD-3-Clause
//
// Keys of update rules.
#pragma once

#include <string>

#include <hesscope/core/settings.h>

namespace hesscope::detail {

inline SettingKey real_key(const std::string& name,
                           double fallback,
                           const std::string& meaning,
                           const RealRange& range) {
  return {.name = name,
          .type = SettingKey::Type::kReal,
          .meaning = meaning,
          .range = range,
          .fallback = SettingValue(fallback)};
}

/// In [0, 1); for averages, for example.
inline SettingKey decay_key(const std::string& name, double fallback, const std::string& meaning) {
  return real_key(name, fallback, meaning, kBelowOne);
}

/// In [0, infinity).
inline SettingKey weight_key(const std::string& name, double fallback, const std::string& meaning) {
  return real_key(name, fallback, meaning, kNonNegative);
}

inline SettingKey flag_key(const std::string& name, bool fallback, const std::string& meaning) {
  return {.name = name,
          .type = SettingKey::Type::kBoolean,
          .meaning = meaning,
          .fallback = SettingValue(fallback)};
}

}  // namespace hesscope::detail
