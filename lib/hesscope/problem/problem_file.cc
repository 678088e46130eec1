// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/problem/toml_tables.h>
#include <hesscope/sampling/sampler_registry.h>

namespace hesscope {
namespace {

using detail::TomlTable;

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

void read_data(TomlTable data, ProblemFile& problem) {
  const std::filesystem::path folder = problem.path.parent_path();
  if (!data.values.contains("kind")) {
    problem.data = Settings::checked(data.values, file_keys(), "[data]", data.locations);
    problem.data_path = folder / problem.data.text("file");
    problem.data_files = {problem.data_path};
    return;
  }
  problem.sampler_kind = detail::take_kind(data, "[data]", names_of(sampler_kinds()));
  const SamplerKind& kind = *find_sampler_kind(problem.sampler_kind);
  data.values["kind"] = kind.name;
  problem.data = Settings::checked(data.values,
                                   sampler_keys(kind),
                                   fmt::format("[data] of kind '{}'", kind.name),
                                   data.locations);
  problem.data_files = kind.files(problem.data, folder);
}

}  // namespace

std::string ProblemFile::resolved_toml() const {
  std::string text = fmt::format("[model]\nkind = {}\n", detail::toml_text(model_kind));
  for (const auto& [key, value] : model.values())
    text += fmt::format("{} = {}\n", key, detail::toml_text(value));
  text += "\n[data]\n";
  for (const auto& [key, value] : data.values())
    text += fmt::format("{} = {}\n", key, detail::toml_text(value));
  return text;
}

ProblemFile read_problem_file(const std::filesystem::path& path) {
  const TomlTable root = detail::read_toml(path, "problem file");
  static const std::vector<std::string> kTables = {"model", "data"};
  for (const auto& [name, place] : root.locations) {
    if (name.empty() || std::find(kTables.begin(), kTables.end(), name) != kTables.end()) continue;
    throw ConfigError(fmt::format("{}: unknown {} '{}'{}; a problem file has [model] and [data]",
                                  place,
                                  root.tables.contains(name) ? "table" : "key",
                                  name,
                                  did_you_mean(name, kTables)));
  }
  const auto table = [&](const std::string& name) {
    const auto found = root.tables.find(name);
    if (found == root.tables.end()) {
      throw ConfigError(fmt::format("{}: needs a table [{}]", root.place(name), name));
    }
    detail::require_single_values(found->second, fmt::format("[{}]", name));
    return found->second;
  };

  TomlTable model = table("model");
  TomlTable data = table("data");
  ProblemFile problem;
  problem.path = path;

  problem.model_kind = detail::take_kind(model, "[model]", names_of(model_kinds()));
  const ModelKind& kind = *find_model_kind(problem.model_kind);
  problem.model = Settings::checked(
      model.values, kind.keys, fmt::format("[model] of kind '{}'", kind.name), model.locations);
  read_data(std::move(data), problem);
  return problem;
}

}  // namespace hesscope
