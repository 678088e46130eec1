// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/problem/tensor_map_file.h>

namespace hesscope {
namespace {

using detail::TomlTable;

const std::vector<SettingKey>& rule_keys() {
  static const std::vector<SettingKey> keys = {
      {.name = "name", .meaning = "the tensor's name in the checkpoint"},
      {.name = "transpose",
       .type = SettingKey::Type::kBoolean,
       .meaning = "whether the matrix is stored as (in, out)",
       .fallback = SettingValue(false)}};
  return keys;
}

std::ptrdiff_t num_stars(const std::string& text) {
  return std::count(text.begin(), text.end(), '*');
}

void require_stars(const io::TensorRule& rule) {
  const std::ptrdiff_t ours = num_stars(rule.name);
  if (ours <= 1 && ours == num_stars(rule.source)) return;
  throw ConfigError(fmt::format("{}: '{}' = '{}': one '*' at most, and the same in both names",
                                rule.place,
                                rule.name,
                                rule.source));
}

std::vector<std::string> ignored_names(const TomlTable& root) {
  std::vector<std::string> names;
  const auto list = root.lists.find("ignore");
  if (list == root.lists.end()) return names;
  for (const SettingValue& value : list->second) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr || num_stars(*text) > 1) {
      throw ConfigError(fmt::format("{}: 'ignore' must be a list of names, with one '*' at most",
                                    root.place("ignore")));
    }
    names.push_back(*text);
  }
  return names;
}

io::TensorRule rule_of(const TomlTable& map, const std::string& name) {
  io::TensorRule rule{.name = name, .place = map.place(name)};
  const std::string context = fmt::format("'{}' of [map]", name);
  if (const auto value = map.values.find(name); value != map.values.end()) {
    const auto* text = std::get_if<std::string>(&value->second);
    if (text != nullptr) {
      rule.source = *text;
      return rule;
    }
  }
  const auto table = map.tables.find(name);
  if (table == map.tables.end()) {
    throw ConfigError(fmt::format(
        "{}: {} must be a name or {{ name = ..., transpose = true }}", rule.place, context));
  }
  if (!table->second.tables.empty() && !table->second.values.contains("name")) {
    throw ConfigError(fmt::format("{}: a name that holds dots needs quotes: \"{}.{}...\" = ...",
                                  rule.place,
                                  name,
                                  table->second.tables.begin()->first));
  }
  const Settings settings = detail::checked(table->second, rule_keys(), context);
  rule.source = settings.text("name");
  rule.transpose = settings.boolean("transpose");
  return rule;
}

/// Requires a list or a table, if there is a value of this name.
void require_kind(const TomlTable& root, const std::string& name, bool is_right, const char* kind) {
  if (!root.locations.contains(name) || is_right) return;
  throw ConfigError(fmt::format("{}: '{}' must be {}", root.place(name), name, kind));
}

}  // namespace

io::TensorMap read_tensor_map(const std::filesystem::path& path) {
  TomlTable root = detail::read_toml(path, "map file");
  const std::vector<SettingKey> keys = {{.name = "key",
                                         .meaning = "what the tensors' names begin with",
                                         .fallback = SettingValue(std::string())}};
  const Settings settings = detail::checked(root, keys, "a map file", {"ignore", "map"});
  io::TensorMap result{
      .ignored = ignored_names(root), .key = settings.text("key"), .place = path.string()};
  require_kind(root, "ignore", root.lists.contains("ignore"), "a list of names");
  require_kind(root, "map", root.tables.contains("map"), "a table, [map]");
  const auto map = root.tables.find("map");
  if (map == root.tables.end()) return result;
  for (const auto& [name, place] : map->second.locations) {
    if (name.empty()) continue;
    result.rules.push_back(rule_of(map->second, name));
    require_stars(result.rules.back());
  }
  return result;
}

std::string resolved_toml(const io::TensorMap& map) {
  std::string text;
  if (!map.key.empty()) text += fmt::format("key = {}\n", detail::toml_text(map.key));
  if (!map.ignored.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : map.ignored) names.push_back(detail::toml_text(name));
    text += fmt::format("ignore = [{}]\n", fmt::join(names, ", "));
  }
  text += "[map]\n";
  for (const io::TensorRule& rule : map.rules) {
    const std::string source = detail::toml_text(rule.source);
    text += fmt::format(
        "{} = {}\n",
        detail::toml_text(rule.name),
        rule.transpose ? fmt::format("{{ name = {}, transpose = true }}", source) : source);
  }
  return text;
}

}  // namespace hesscope
