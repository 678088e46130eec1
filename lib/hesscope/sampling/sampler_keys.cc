// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/sampling/sampler_keys.h>

namespace hesscope::detail {

SettingKey count_key(const std::string& name, const std::string& meaning, std::int64_t maximum) {
  return {.name = name,
          .type = SettingKey::Type::kInteger,
          .meaning = meaning,
          .minimum = 1,
          .maximum = maximum};
}

double positive_from(const Settings& settings, const std::string& key) {
  const double value = settings.real(key);
  if (value > 0 && value < std::numeric_limits<double>::infinity()) return value;
  throw ConfigError(fmt::format("'{}' must be positive and finite, got {}", key, value));
}

void require_record(const Sampler& sampler, std::span<const double> record) {
  if (static_cast<std::int64_t>(record.size()) == sampler.record_size()) return;
  throw PreconditionError(fmt::format(
      "Sampler::draw: record must have {} entries, got {}", sampler.record_size(), record.size()));
}

}  // namespace hesscope::detail
