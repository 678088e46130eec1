// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/settings.h>
#include <hesscope/core/suggest.h>

namespace hesscope {
namespace {

const char* name_of(SettingKey::Type type) {
  switch (type) {
    case SettingKey::Type::kBoolean:
      return "true or false";
    case SettingKey::Type::kInteger:
      return "an integer";
    case SettingKey::Type::kReal:
      return "a number";
    case SettingKey::Type::kText:
      return "a string";
  }
  return "a value";
}

// An integer is accepted where a real number is asked for; nothing else converts.
SettingValue converted(const SettingKey& key, const SettingValue& value, const std::string& where) {
  using Type = SettingKey::Type;
  if (key.type == Type::kReal && std::holds_alternative<std::int64_t>(value)) {
    return static_cast<double>(std::get<std::int64_t>(value));
  }
  const bool fits = (key.type == Type::kBoolean && std::holds_alternative<bool>(value)) ||
                    (key.type == Type::kInteger && std::holds_alternative<std::int64_t>(value)) ||
                    (key.type == Type::kReal && std::holds_alternative<double>(value)) ||
                    (key.type == Type::kText && std::holds_alternative<std::string>(value));
  if (!fits)
    throw ConfigError(fmt::format("{}'{}' must be {}", where, key.name, name_of(key.type)));
  if (key.type == Type::kInteger) {
    const std::int64_t number = std::get<std::int64_t>(value);
    if (number < key.minimum || number > key.maximum) {
      const std::string range = key.maximum == INT64_MAX
                                    ? fmt::format("at least {}", key.minimum)
                                    : fmt::format("between {} and {}", key.minimum, key.maximum);
      throw ConfigError(fmt::format("{}'{}' must be {}, got {}", where, key.name, range, number));
    }
  }
  if (key.type == Type::kText && !key.choices.empty()) {
    const auto& text = std::get<std::string>(value);
    if (std::find(key.choices.begin(), key.choices.end(), text) == key.choices.end()) {
      throw ConfigError(fmt::format("{}'{}' must be one of {}, got '{}'{}",
                                    where,
                                    key.name,
                                    fmt::join(key.choices, ", "),
                                    text,
                                    did_you_mean(text, key.choices)));
    }
  }
  return value;
}

}  // namespace

SettingKey size_key(std::string name, std::string meaning, std::int64_t maximum) {
  return {.name = std::move(name),
          .type = SettingKey::Type::kInteger,
          .meaning = std::move(meaning),
          .minimum = 1,
          .maximum = maximum};
}

Settings Settings::checked(const std::map<std::string, SettingValue>& values,
                           std::span<const SettingKey> keys,
                           const std::string& context,
                           const std::map<std::string, std::string>& locations) {
  const auto where = [&](const std::string& key) {
    const auto found = locations.find(key);
    return found == locations.end() ? std::string() : found->second + ": ";
  };
  const std::vector<std::string> names = names_of(keys);
  for (const auto& [name, value] : values) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw ConfigError(fmt::format("{}unknown key '{}' in {}{}; it takes {}",
                                    where(name),
                                    name,
                                    context,
                                    did_you_mean(name, names),
                                    fmt::join(names, ", ")));
    }
  }
  Settings settings;
  for (const SettingKey& key : keys) {
    if (const auto found = values.find(key.name); found != values.end()) {
      settings.values_[key.name] = converted(key, found->second, where(key.name));
    } else if (const auto* fallback = std::get_if<SettingValue>(&key.fallback)) {
      settings.values_[key.name] = *fallback;
    } else if (!key.is_optional) {
      throw ConfigError(
          fmt::format("{}{} needs the key '{}' ({})", where(""), context, key.name, key.meaning));
    }
  }
  return settings;
}

template <typename T>
const T& Settings::get(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) throw PreconditionError("Settings: no key '" + key + "'");
  const T* value = std::get_if<T>(&found->second);
  if (value == nullptr) throw PreconditionError("Settings: key '" + key + "' has another type");
  return *value;
}

std::int64_t Settings::integer(const std::string& key) const { return get<std::int64_t>(key); }

double Settings::real(const std::string& key) const { return get<double>(key); }

bool Settings::boolean(const std::string& key) const { return get<bool>(key); }

const std::string& Settings::text(const std::string& key) const { return get<std::string>(key); }

}  // namespace hesscope
