// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/problem/problem_file.h>

namespace hesscope {
namespace {

// A table of the file as plain values, with the place of each key for messages. The key "" holds
// the place of the table itself.
struct Table {
  std::map<std::string, SettingValue> values;
  std::map<std::string, std::string> locations;
};

std::string place(const std::filesystem::path& path, const toml::node& node) {
  return fmt::format("{}:{}", path.string(), node.source().begin.line);
}

Table flatten(const std::filesystem::path& path,
              const std::string& name,
              const toml::table& table) {
  Table result;
  result.locations[""] = place(path, table);
  for (const auto& [key, node] : table) {
    const std::string text(key.str());
    result.locations[text] = fmt::format("{}:{}", path.string(), key.source().begin.line);
    if (const auto* boolean = node.as_boolean()) {
      result.values[text] = boolean->get();
    } else if (const auto* integer = node.as_integer()) {
      result.values[text] = integer->get();
    } else if (const auto* real = node.as_floating_point()) {
      result.values[text] = real->get();
    } else if (const auto* string = node.as_string()) {
      result.values[text] = string->get();
    } else {
      throw ConfigError(fmt::format(
          "{}: '{}' in [{}] must be a single value", result.locations[text], text, name));
    }
  }
  return result;
}

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

std::string written(const SettingValue& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* text = std::get_if<std::string>(&value)) return quoted(*text);
  std::ostringstream out;
  out << toml::value<double>(std::get<double>(value));
  return out.str();
}

const std::vector<SettingKey>& data_keys() {
  static const std::vector<SettingKey> keys = {
      {.name = "file",
       .meaning = "a data file in any checkpoint format, relative to the problem file"},
  };
  return keys;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  // An empty file is read, though inserting nothing counts as a failure.
  const bool empty = in.peek() == std::ifstream::traits_type::eof() && !in.bad();
  if (!in.is_open() || in.bad() || (!empty && !(text << in.rdbuf()))) {
    throw ConfigError(fmt::format("{}: cannot read the problem file", path.string()));
  }
  return text.str();
}

}  // namespace

std::string ProblemFile::resolved_toml() const {
  std::string text = fmt::format("[model]\nkind = {}\n", quoted(model_kind));
  for (const auto& [key, value] : model.values())
    text += fmt::format("{} = {}\n", key, written(value));
  text += "\n[data]\n";
  for (const auto& [key, value] : data.values())
    text += fmt::format("{} = {}\n", key, written(value));
  return text;
}

ProblemFile read_problem_file(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  toml::table root;
  try {
    root = toml::parse(text, std::string_view(path.native()));
  } catch (const toml::parse_error& error) {
    throw ConfigError(fmt::format("{}:{}:{}: {}",
                                  path.string(),
                                  error.source().begin.line,
                                  error.source().begin.column,
                                  error.description()));
  }

  static const std::vector<std::string> kTables = {"model", "data"};
  for (const auto& [key, node] : root) {
    const std::string name(key.str());
    if (std::find(kTables.begin(), kTables.end(), name) == kTables.end()) {
      throw ConfigError(
          fmt::format("{}:{}: unknown {} '{}'{}; a problem file has [model] and [data]",
                      path.string(),
                      key.source().begin.line,
                      node.is_table() ? "table" : "key",
                      name,
                      did_you_mean(name, kTables)));
    }
  }
  const auto table = [&](const std::string& name) {
    const toml::node* found = root.get(name);
    if (found == nullptr || !found->is_table()) {
      throw ConfigError(fmt::format(
          "{}: needs a table [{}]", found == nullptr ? path.string() : place(path, *found), name));
    }
    return flatten(path, name, *found->as_table());
  };

  Table model = table("model");
  const Table data = table("data");
  ProblemFile problem;
  problem.path = path;

  std::vector<std::string> kinds;
  for (const ModelKind& kind : model_kinds()) kinds.push_back(kind.name);
  const std::vector<SettingKey> kind_key = {
      {.name = "kind",
       .meaning = fmt::format("one of {}", fmt::join(kinds, ", ")),
       .choices = kinds}};
  std::map<std::string, SettingValue> only_kind;
  if (const auto found = model.values.find("kind"); found != model.values.end()) {
    only_kind.insert(*found);
    model.values.erase(found);
  }
  problem.model_kind =
      Settings::checked(only_kind, kind_key, "[model]", model.locations).text("kind");
  const ModelKind& kind = *find_model_kind(problem.model_kind);
  problem.model = Settings::checked(
      model.values, kind.keys, fmt::format("[model] of kind '{}'", kind.name), model.locations);
  problem.data = Settings::checked(data.values, data_keys(), "[data]", data.locations);
  problem.data_path = path.parent_path() / problem.data.text("file");
  return problem;
}

}  // namespace hesscope
