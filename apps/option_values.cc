// SPDX-License-Identifier: BSD-3-Clause
#include "option_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/parse_number.h>
#include <hesscope/core/shell.h>
#include <hesscope/core/suggest.h>

namespace hesscope::cli {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string parse_real(const SettingKey& key, const std::string& given, double& number) {
  number = parse_number<double>(given).value_or(kNaN);
  if (!std::isfinite(number)) return fmt::format("must be a number, got '{}'", given);
  if (!key.range || key.range->contains(number)) return {};
  return fmt::format("must be {}, got '{}'", key.range->to_string(), given);
}

std::string parse_list(const SettingKey& key, const std::string& given, SettingValue& value) {
  const std::vector<std::string> texts = listed(given);
  std::vector<double> numbers;
  SettingTable table;
  for (const std::string& text : texts) {
    std::string problem;
    if (key.type == SettingKey::Type::kReals) {
      problem = parse_real(key, text, numbers.emplace_back());
    } else if (key.type == SettingKey::Type::kTable) {
      const std::size_t sign = text.find('=');
      if (sign == std::string::npos) return fmt::format("must be NAME=TEXT,..., got '{}'", text);
      table[trimmed(text.substr(0, sign))] = trimmed(text.substr(sign + 1));
    } else if (!key.choices.empty()) {
      problem = choice_problem(key.choices, text);
    }
    if (!problem.empty()) return problem;
  }
  if (key.type == SettingKey::Type::kReals) {
    value = std::move(numbers);
  } else if (key.type == SettingKey::Type::kTable) {
    value = std::move(table);
  } else {
    value = texts;
  }
  return {};
}

}  // namespace

double parse_length(const std::string& given) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"pt", 1}, {"in", 72}, {"cm", 72 / 2.54}, {"mm", 72 / 25.4}}};
  std::string number = given;
  double points = 1;
  for (const auto& [unit, size] : kUnits) {
    if (!given.ends_with(unit)) continue;
    number.resize(given.size() - unit.size());
    points = size;
  }
  return parse_number<double>(number).value_or(kNaN) * points;
}

std::vector<std::string> listed(const std::string& given) {
  std::vector<std::string> texts;
  for (std::size_t first = 0; first <= given.size();) {
    const std::size_t comma = std::min(given.find(',', first), given.size());
    std::string text = trimmed(given.substr(first, comma - first));
    if (!text.empty()) texts.push_back(std::move(text));
    first = comma + 1;
  }
  return texts;
}

std::string choice_problem(const std::vector<std::string>& choices, const std::string& given) {
  if (std::find(choices.begin(), choices.end(), given) != choices.end()) return {};
  return fmt::format("must be one of {}, got '{}'{}",
                     fmt::join(choices, ", "),
                     given,
                     did_you_mean(given, choices));
}

std::string parse_setting(const SettingKey& key, const std::string& given, SettingValue& value) {
  switch (key.type) {
    case SettingKey::Type::kBoolean:
      value = true;
      return {};
    case SettingKey::Type::kInteger: {
      const auto number = parse_number<std::int64_t>(given);
      if (!number || *number < key.minimum || *number > key.maximum) {
        return key.maximum == INT64_MAX
                   ? fmt::format("must be an integer from {} on, got '{}'", key.minimum, given)
                   : fmt::format("must be an integer from {} to {}, got '{}'",
                                 key.minimum,
                                 key.maximum,
                                 given);
      }
      value = *number;
      return {};
    }
    case SettingKey::Type::kReal: {
      double number = 0;
      std::string problem = parse_real(key, given, number);
      if (problem.empty()) value = number;
      return problem;
    }
    case SettingKey::Type::kTexts:
    case SettingKey::Type::kReals:
    case SettingKey::Type::kTable:
      return parse_list(key, given, value);
    case SettingKey::Type::kText:
      break;
  }
  value = given;
  return key.choices.empty() ? std::string() : choice_problem(key.choices, given);
}

std::string value_name_of(const SettingKey& key) {
  if (!key.choices.empty()) return fmt::format("{}", fmt::join(key.choices, "|"));
  switch (key.type) {
    case SettingKey::Type::kBoolean:
      return {};
    case SettingKey::Type::kInteger:
      return "N";
    case SettingKey::Type::kReal:
      return "X";
    case SettingKey::Type::kTexts:
      return "TEXT,...";
    case SettingKey::Type::kReals:
      return "X,...";
    case SettingKey::Type::kTable:
      return "NAME=TEXT,...";
    case SettingKey::Type::kText:
      break;
  }
  return "TEXT";
}

std::string with_remark(std::string help, const std::string& remark) {
  return help.insert(std::min(help.find('\n'), help.size()), " " + remark);
}

std::string help_of(const SettingKey& key) {
  std::string help = capitalized(key.meaning);
  const auto* fallback = std::get_if<SettingValue>(&key.fallback);
  if (fallback == nullptr) return help;
  if (const auto* number = std::get_if<std::int64_t>(fallback)) {
    return with_remark(help, fmt::format("(default: {})", *number));
  }
  if (const auto* real = std::get_if<double>(fallback)) {
    return with_remark(help, fmt::format("(default: {:g})", *real));
  }
  const auto* text = std::get_if<std::string>(fallback);
  if (text != nullptr && !text->empty()) {
    return with_remark(help, fmt::format("(default: {})", *text));
  }
  return help;
}

std::string settings_text(const std::map<std::string, SettingValue>& values) {
  std::string all;
  for (const auto& [name, value] : values) {
    all += " --" + name;
    if (const auto* text = std::get_if<std::string>(&value)) all += " " + shell_word(*text);
    if (const auto* number = std::get_if<std::int64_t>(&value)) all += fmt::format(" {}", *number);
    if (const auto* real = std::get_if<double>(&value)) all += fmt::format(" {}", *real);
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
      all += " " + shell_word(fmt::format("{}", fmt::join(*texts, ",")));
    }
    if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
      all += fmt::format(" {}", fmt::join(*reals, ","));
    }
    if (const auto* table = std::get_if<SettingTable>(&value)) {
      std::vector<std::string> entries;
      for (const auto& [entry, text] : *table) entries.push_back(fmt::format("{}={}", entry, text));
      all += " " + shell_word(fmt::format("{}", fmt::join(entries, ",")));
    }
  }
  return all;
}

}  // namespace hesscope::cli
