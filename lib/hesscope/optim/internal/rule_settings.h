// SPDX-License-Identifier: BSD-3-Clause
//
// Keys of update rules and their ranges.
#pragma once

#include <string>

#include <hesscope/core/constants.h>
#include <hesscope/core/settings.h>

namespace hesscope::detail {

inline SettingKey real_key(const std::string& name, double fallback, const std::string& meaning) {
  return {.name = name,
          .type = SettingKey::Type::kReal,
          .meaning = meaning,
          .fallback = SettingValue(fallback)};
}

inline SettingKey flag_key(const std::string& name, bool fallback, const std::string& meaning) {
  return {.name = name,
          .type = SettingKey::Type::kBoolean,
          .meaning = meaning,
          .fallback = SettingValue(fallback)};
}

/// A real setting in [lower, upper). @throws ConfigError naming key, range and value otherwise.
double real_from(const Settings& settings, const std::string& key, double lower, double upper);

/// In [0, 1): a decay of averages.
inline double decay_from(const Settings& settings, const std::string& key) {
  return real_from(settings, key, 0, 1);
}

/// In [0, infinity).
inline double weight_from(const Settings& settings, const std::string& key) {
  return real_from(settings, key, 0, kInfinity);
}

}  // namespace hesscope::detail
