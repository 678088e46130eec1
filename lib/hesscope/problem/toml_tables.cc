// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/problem/toml_tables.h>

// toml++ 3.3 asserts what it reports as an error a few lines later ("[!]"): with assertions the
// program would end, and without them clang is told to take it for granted.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace hesscope::detail {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxDots = 500;  // in a line
constexpr int kMaxDepth = 64;

/// Each dot of a key opens a table within a table, which toml++ takes down by recursion: keys of
/// thousands of dots would overflow the stack. A key stands on one line.
void check_dots(std::string_view text, const std::string& name) {
  std::size_t line = 1;
  std::size_t num_dots = 0;
  for (const char character : text) {
    if (character == '\n') {
      ++line;
      num_dots = 0;
    } else if (character == '.' && ++num_dots > kMaxDots) {
      throw ConfigError(fmt::format(
          "{}:{}: the line has more than {} dots; keys nested as deeply are refused, and a list "
          "can go on in the next line",
          name,
          line,
          kMaxDots));
    }
  }
}

std::optional<SettingValue> value_of(const toml::node& node) {
  if (const auto* boolean = node.as_boolean()) return boolean->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* text = node.as_string()) return text->get();
  return std::nullopt;
}

TomlTable table_of(const std::string& path, const toml::table& table, int depth);

// A list of values or of tables; false for a list of anything else.
bool add_list(const std::string& path,
              const std::string& key,
              const toml::array& array,
              int depth,
              TomlTable& result) {
  std::vector<SettingValue> values;
  std::vector<TomlTable> tables;
  for (const toml::node& node : array) {
    if (const toml::table* table = node.as_table()) {
      tables.push_back(table_of(path, *table, depth + 1));
    } else if (const std::optional<SettingValue> value = value_of(node)) {
      values.push_back(*value);
    } else {
      return false;
    }
  }
  if (!tables.empty() && !values.empty()) return false;
  if (tables.empty()) {
    result.lists[key] = std::move(values);
  } else {
    result.table_lists[key] = std::move(tables);
  }
  return true;
}

TomlTable table_of(const std::string& path, const toml::table& table, int depth) {
  TomlTable result;
  result.line = static_cast<int>(table.source().begin.line);
  result.locations[""] =
      result.line > 0 ? fmt::format("{}:{}", path, result.line) : path;  // the file has no line
  if (depth > kMaxDepth) {
    throw ConfigError(
        fmt::format("{}: tables are nested more than {} deep", result.place(), kMaxDepth));
  }
  for (const auto& [toml_key, node] : table) {
    const std::string key(toml_key.str());
    result.locations[key] = fmt::format("{}:{}", path, toml_key.source().begin.line);
    if (const toml::table* inner = node.as_table()) {
      result.tables.emplace(key, table_of(path, *inner, depth + 1));
    } else if (const std::optional<SettingValue> value = value_of(node)) {
      result.values[key] = *value;
    } else if (const toml::array* array = node.as_array();
               array == nullptr || !add_list(path, key, *array, depth, result)) {
      result.others.push_back(key);
    }
  }
  return result;
}

std::string read_text(const std::filesystem::path& path, const std::string& what) {
  std::ifstream in(path, std::ios::binary);
  std::string text;
  std::array<char, 16384> block;
  while (in && text.size() <= kMaxBytes) {
    in.read(block.data(), block.size());
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (!in.is_open() || in.bad()) {
    throw ConfigError(fmt::format("{}: cannot read the {}", path.string(), what));
  }
  if (text.size() > kMaxBytes) {
    throw ConfigError(fmt::format(
        "{}: a {} has at most {} bytes; this has more", path.string(), what, kMaxBytes));
  }
  return text;
}

}  // namespace

[[noreturn]] void refuse(const std::string& place, const std::string& what) {
  throw ConfigError(fmt::format("{}: {}", place, what));
}

const std::string& TomlTable::place(const std::string& key) const {
  const auto found = locations.find(key);
  return found == locations.end() ? place() : found->second;
}

void require_single_values(const TomlTable& table, const std::string& context) {
  for (const auto& [key, place] : table.locations) {
    if (key.empty() || table.values.contains(key)) continue;
    throw ConfigError(fmt::format("{}: '{}' in {} must be a single value", place, key, context));
  }
}

std::string take_kind(TomlTable& table,
                      const std::string& context,
                      const std::vector<std::string>& names,
                      const std::string& key) {
  const std::vector<SettingKey> keys = {
      {.name = key, .meaning = fmt::format("one of {}", fmt::join(names, ", ")), .choices = names}};
  std::map<std::string, SettingValue> taken;
  if (auto node = table.values.extract(key)) taken.insert(std::move(node));
  const std::string kind = Settings::checked(taken, keys, context, table.locations).text(key);
  table.locations.erase(key);
  return kind;
}

TomlTable read_toml(const std::filesystem::path& path, const std::string& what) {
  return parse_toml(read_text(path, what), path.string());
}

TomlTable parse_toml(std::string_view text, const std::string& name) {
  check_dots(text, name);
  try {
    TomlTable root = table_of(name, toml::parse(text, std::string_view(name)), 0);
    root.locations[""] = name;
    return root;
  } catch (const toml::parse_error& error) {
    throw ConfigError(fmt::format("{}:{}:{}: {}",
                                  name,
                                  error.source().begin.line,
                                  error.source().begin.column,
                                  error.description()));
  }
}

Settings checked(const TomlTable& table,
                 std::span<const SettingKey> keys,
                 const std::string& context,
                 const std::vector<std::string>& other_keys) {
  std::vector<std::string> single;
  for (const SettingKey& key : keys) single.push_back(key.name);
  std::vector<std::string> all = single;
  all.insert(all.end(), other_keys.begin(), other_keys.end());
  const auto contains = [](const auto& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const auto& [key, place] : table.locations) {
    if (key.empty()) continue;
    if (!contains(all, key)) {
      throw ConfigError(fmt::format("{}: unknown key '{}' in {}{}; it takes {}",
                                    place,
                                    key,
                                    context,
                                    did_you_mean(key, all),
                                    fmt::join(all, ", ")));
    }
    if (contains(single, key) && !table.values.contains(key)) {
      throw ConfigError(fmt::format("{}: '{}' in {} must be a single value", place, key, context));
    }
  }
  std::map<std::string, SettingValue> values = table.values;
  for (const std::string& key : other_keys) values.erase(key);
  return Settings::checked(values, keys, context, table.locations);
}

std::vector<std::string> text_list(const TomlTable& table, const std::string& key) {
  std::vector<std::string> texts;
  const auto found = table.lists.find(key);
  if (found == table.lists.end()) {
    if (!table.locations.contains(key)) return texts;
    throw ConfigError(fmt::format("{}: '{}' must be a list of text", table.place(key), key));
  }
  for (const SettingValue& value : found->second) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) {
      throw ConfigError(fmt::format("{}: '{}' must hold text", table.place(key), key));
    }
    texts.push_back(*text);
  }
  return texts;
}

std::vector<std::int64_t> number_list(const TomlTable& table, const std::string& key) {
  std::vector<std::int64_t> numbers;
  const auto found = table.lists.find(key);
  const bool is_list = found != table.lists.end();
  if (!is_list && !table.locations.contains(key)) return numbers;
  const auto is_fine = [](const SettingValue& value) {
    const auto* number = std::get_if<std::int64_t>(&value);
    return number != nullptr && *number >= 0;
  };
  if (!is_list || !std::all_of(found->second.begin(), found->second.end(), is_fine)) {
    throw ConfigError(
        fmt::format("{}: '{}' must be a list of whole numbers from 0 on", table.place(key), key));
  }
  for (const SettingValue& value : found->second) {
    numbers.push_back(std::get<std::int64_t>(value));
  }
  return numbers;
}

void require_file_name(const std::string& name, const std::string& what, const std::string& place) {
  const auto is_fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '+';
  };
  if (!name.empty() && name[0] != '.' && std::all_of(name.begin(), name.end(), is_fine)) return;
  refuse(place,
         fmt::format("the name of {}, '{}', must consist of letters, digits, '-', '_', '+' and "
                     "'.', the first not being '.'",
                     what,
                     name));
}

std::string toml_text(const SettingValue& value) {
  std::ostringstream out;
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* text = std::get_if<std::string>(&value)) {
    out << toml::value<std::string>(*text);
  } else {
    out << toml::value<double>(std::get<double>(value));
  }
  return out.str();
}

}  // namespace hesscope::detail
