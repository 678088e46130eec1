// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/optim/internal/rule_settings.h>

namespace hesscope::detail {

double real_from(const Settings& settings, const std::string& key, double lower, double upper) {
  const double value = settings.real(key);
  if (value >= lower && value < upper) return value;
  throw ConfigError(fmt::format("'{}' must be in [{}, {}), got {}", key, lower, upper, value));
}

}  // namespace hesscope::detail
