// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/sampling/sampler_registry.h>

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

// Removes [table].kind and returns it, one of `names`.
std::string take_kind(Table& table,
                      const std::string& context,
                      const std::vector<std::string>& names) {
  const std::vector<SettingKey> keys = {
      {.name = "kind",
       .meaning = fmt::format("one of {}", fmt::join(names, ", ")),
       .choices = names}};
  std::map<std::string, SettingValue> only_kind;
  if (auto node = table.values.extract("kind")) only_kind.insert(std::move(node));
  return Settings::checked(only_kind, keys, context, table.locations).text("kind");
}

template <typename Kinds>
std::vector<std::string> names_of(const Kinds& kinds) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) names.push_back(kind.name);
  return names;
}

const std::vector<SettingKey>& file_keys() {
  static const std::vector<SettingKey> keys = {
      {.name = "file",
       .meaning =
           "a data file in any checkpoint format, relative to the problem file; or 'kind', a "
           "sampler, and its keys"},
  };
  return keys;
}

// Keys of [data] with a sampler: the result has all of them.
std::vector<SettingKey> sampler_keys(const SamplerKind& kind) {
  std::vector<SettingKey> keys = {{.name = "kind", .meaning = "the sampler"},
                                  {.name = "samples",
                                   .type = SettingKey::Type::kInteger,
                                   .meaning = "how many samples to draw",
                                   .minimum = 1,
                                   .maximum = 1'000'000'000},
                                  {.name = "seed",
                                   .type = SettingKey::Type::kInteger,
                                   .meaning = "seed of the samples",
                                   .minimum = 0,
                                   .fallback = SettingValue(std::int64_t{0})}};
  keys.insert(keys.end(), kind.keys.begin(), kind.keys.end());
  return keys;
}

void read_data(Table data, ProblemFile& problem) {
  const std::filesystem::path folder = problem.path.parent_path();
  if (!data.values.contains("kind")) {
    problem.data = Settings::checked(data.values, file_keys(), "[data]", data.locations);
    problem.data_path = folder / problem.data.text("file");
    problem.data_files = {problem.data_path};
    return;
  }
  problem.sampler_kind = take_kind(data, "[data]", names_of(sampler_kinds()));
  const SamplerKind& kind = *find_sampler_kind(problem.sampler_kind);
  data.values["kind"] = kind.name;
  problem.data = Settings::checked(data.values,
                                   sampler_keys(kind),
                                   fmt::format("[data] of kind '{}'", kind.name),
                                   data.locations);
  for (const SettingKey& key : kind.keys) {
    // Samplers have no other free text.
    const bool is_file = key.type == SettingKey::Type::kText && key.choices.empty();
    if (is_file && problem.data.has(key.name))
      problem.data_files.push_back(folder / problem.data.text(key.name));
  }
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
  Table data = table("data");
  ProblemFile problem;
  problem.path = path;

  problem.model_kind = take_kind(model, "[model]", names_of(model_kinds()));
  const ModelKind& kind = *find_model_kind(problem.model_kind);
  problem.model = Settings::checked(
      model.values, kind.keys, fmt::format("[model] of kind '{}'", kind.name), model.locations);
  read_data(std::move(data), problem);
  return problem;
}

}  // namespace hesscope
