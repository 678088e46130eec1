// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/settings.h>
#include <hesscope/core/suggest.h>

namespace hesscope {

std::string RealRange::to_string() const {
  using Limits = std::numeric_limits<double>;
  const bool has_maximum = maximum != Limits::max();
  if (minimum == Limits::lowest() && !has_maximum) return "finite";
  if (has_maximum && !excludes_minimum && !excludes_maximum) {
    return fmt::format("between {} and {}", minimum, maximum);
  }
  std::string lower = fmt::format("{} {}", excludes_minimum ? "above" : "at least", minimum);
  if (!has_maximum) return lower;
  return fmt::format("{} and {} {}", lower, excludes_maximum ? "below" : "at most", maximum);
}

std::string_view to_string(SettingKey::Type type) {
  switch (type) {
    case SettingKey::Type::kBoolean:
      return "true or false";
    case SettingKey::Type::kInteger:
      return "an integer";
    case SettingKey::Type::kReal:
      return "a number";
    case SettingKey::Type::kText:
      return "a string";
    case SettingKey::Type::kTexts:
      return "a list of strings";
    case SettingKey::Type::kReals:
      return "a list of numbers";
    case SettingKey::Type::kTable:
      return "a table of strings";
  }
  return "a value";
}

bool is_single_value(SettingKey::Type type) {
  return type != SettingKey::Type::kTexts && type != SettingKey::Type::kReals &&
         type != SettingKey::Type::kTable;
}

namespace {

bool has_type(const SettingValue& value, SettingKey::Type type) {
  switch (type) {
    case SettingKey::Type::kBoolean:
      return std::holds_alternative<bool>(value);
    case SettingKey::Type::kInteger:
      return std::holds_alternative<std::int64_t>(value);
    case SettingKey::Type::kReal:
      return std::holds_alternative<double>(value);
    case SettingKey::Type::kText:
      return std::holds_alternative<std::string>(value);
    case SettingKey::Type::kTexts:
      return std::holds_alternative<std::vector<std::string>>(value);
    case SettingKey::Type::kReals:
      return std::holds_alternative<std::vector<double>>(value);
    case SettingKey::Type::kTable:
      return std::holds_alternative<SettingTable>(value);
  }
  return false;
}

bool is_empty_list(const SettingValue& value) {
  const auto* texts = std::get_if<std::vector<std::string>>(&value);
  const auto* reals = std::get_if<std::vector<double>>(&value);
  return (texts != nullptr && texts->empty()) || (reals != nullptr && reals->empty());
}

void require_in_range(const SettingKey& key, const SettingValue& value, const std::string& where) {
  const auto refuse = [&](const std::string& range, const auto& number) {
    throw ConfigError(fmt::format("{}'{}' must be {}, got {}", where, key.name, range, number));
  };
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    if (*integer >= key.minimum && *integer <= key.maximum) return;
    refuse(key.maximum == INT64_MAX ? fmt::format("at least {}", key.minimum)
           : key.maximum == key.minimum
               ? fmt::format("{}", key.minimum)
               : fmt::format("between {} and {}", key.minimum, key.maximum),
           *integer);
  }
  if (!key.range) return;
  if (const auto* real = std::get_if<double>(&value); real && !key.range->contains(*real)) {
    refuse(key.range->to_string(), *real);
  }
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
    for (const double real : *reals) {
      if (!key.range->contains(real)) refuse("numbers " + key.range->to_string(), real);
    }
  }
}

void require_choice(const SettingKey& key, const std::string& text, const std::string& where) {
  if (key.choices.empty()) return;
  if (std::find(key.choices.begin(), key.choices.end(), text) != key.choices.end()) return;
  throw ConfigError(fmt::format("{}'{}' must be one of {}, got '{}'{}{}{}",
                                where,
                                key.name,
                                fmt::join(key.choices, ", "),
                                text,
                                did_you_mean(text, key.choices),
                                key.choices_note.empty() ? "" : "; ",
                                key.choices_note));
}

// Whole numbers as text, separated by commas; nothing if there are other numbers.
std::optional<std::string> comma_text(const std::vector<double>& numbers) {
  std::vector<std::int64_t> whole;
  for (const double number : numbers) {
    if (number != std::trunc(number) || !(std::abs(number) <= 0x1p53)) return std::nullopt;
    whole.push_back(static_cast<std::int64_t>(number));
  }
  return fmt::format("{}", fmt::join(whole, ","));
}

// Accepts an integer as a real number, an empty list as one of any type, and the conversions that
// the key declares; nothing else is converted.
SettingValue converted(const SettingKey& key, SettingValue value, const std::string& where) {
  using Type = SettingKey::Type;
  if (key.type == Type::kReal && std::holds_alternative<std::int64_t>(value)) {
    value = static_cast<double>(std::get<std::int64_t>(value));
  }
  if (key.type == Type::kTexts && is_empty_list(value)) value = std::vector<std::string>();
  if (key.type == Type::kReals && is_empty_list(value)) value = std::vector<double>();
  if (key.takes_one && std::holds_alternative<std::int64_t>(value)) {
    value = static_cast<double>(std::get<std::int64_t>(value));
  }
  if (key.takes_one && std::holds_alternative<double>(value)) {
    value = std::vector<double>{std::get<double>(value)};
  }
  if (key.takes_numbers && is_empty_list(value)) value = std::string();
  if (const auto* numbers = std::get_if<std::vector<double>>(&value);
      numbers != nullptr && key.takes_numbers) {
    if (std::optional<std::string> text = comma_text(*numbers)) value = *std::move(text);
  }
  if (!has_type(value, key.type)) {
    throw ConfigError(fmt::format("{}'{}' must be {}", where, key.name, to_string(key.type)));
  }
  require_in_range(key, value, where);
  if (key.type == Type::kText) require_choice(key, std::get<std::string>(value), where);
  if (key.is_path && std::get<std::string>(value).empty()) {
    throw ConfigError(fmt::format("{}'{}' must not be empty", where, key.name));
  }
  if (key.type == Type::kTexts) {
    for (const std::string& text : std::get<std::vector<std::string>>(value)) {
      require_choice(key, text, where);
    }
  }
  return value;
}

}  // namespace

bool SettingKey::Company::is_in(const std::map<std::string, SettingValue>& settings) const {
  const auto found = settings.find(key);
  const std::string* const text =
      found == settings.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text != nullptr && std::ranges::find(values, *text) != values.end();
}

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
      throw ConfigError(
          fmt::format("{}unknown key '{}' in {}{}; it takes {}",
                      where(name),
                      name,
                      context,
                      did_you_mean(name, names),
                      names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    }
  }
  Settings settings;
  settings.locations_ = locations;
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
  for (const SettingKey& key : keys) {
    if (!key.only_with || !values.contains(key.name)) continue;
    if (key.only_with->is_in(settings.values_)) continue;
    throw ConfigError(fmt::format("{}'{}' in {} goes with '{}' {} alone",
                                  where(key.name),
                                  key.name,
                                  context,
                                  key.only_with->key,
                                  fmt::join(key.only_with->values, " or ")));
  }
  return settings;
}

void Settings::refuse(const std::string& key, const std::string& what) const {
  auto found = locations_.find(key);
  if (found == locations_.end()) found = locations_.find("");
  throw ConfigError(found == locations_.end() ? what : found->second + ": " + what);
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

const std::vector<std::string>& Settings::texts(const std::string& key) const {
  return get<std::vector<std::string>>(key);
}

const std::vector<double>& Settings::reals(const std::string& key) const {
  return get<std::vector<double>>(key);
}

const SettingTable& Settings::table(const std::string& key) const { return get<SettingTable>(key); }

std::vector<std::filesystem::path> files_named(const Settings& settings,
                                               std::span<const SettingKey> keys,
                                               const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const SettingKey& key : keys) {
    if (!key.is_path || !settings.has(key.name)) continue;
    files.push_back(folder / settings.text(key.name));
  }
  return files;
}

}  // namespace hesscope
