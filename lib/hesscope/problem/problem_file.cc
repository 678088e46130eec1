// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/parse_number.h>
#include <hesscope/core/suggest.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/problem/internal/data_file.h>
#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/sampling/sampler_registry.h>

namespace hesscope {
namespace {

using detail::TomlTable;

const std::vector<SettingKey>& file_keys() {
  static const std::vector<SettingKey> keys = {
      {.name = "file",
       .meaning =
           "a data file in any checkpoint format, relative to the problem file; or 'kind', a "
           "sampler, and its keys",
       .is_path = true},
  };
  return keys;
}

// Keys of [data] with a sampler; results contain all of them.
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

double checked_loss(const SettingValue& value, const std::string& place) {
  const auto* real = std::get_if<double>(&value);
  const auto* integer = std::get_if<std::int64_t>(&value);
  const double loss = real != nullptr      ? *real
                      : integer != nullptr ? static_cast<double>(*integer)
                                           : std::nan("");
  if (!std::isfinite(loss)) detail::refuse(place, "'loss' in [check] must be a finite number");
  return loss;
}

void read_check(const TomlTable& root, ProblemFile& problem) {
  if (!root.locations.contains("check")) return;
  const auto found = root.tables.find("check");
  if (found == root.tables.end()) {
    detail::refuse(root.place("check"), "'check' must be a table, [check]");
  }
  const TomlTable& check = found->second;
  const std::vector<SettingKey> none;
  detail::checked(check, none, "[check]", {"loss"});
  problem.check_place = check.place("loss");
  if (const auto value = check.values.find("loss"); value != check.values.end()) {
    problem.expected_loss = checked_loss(value->second, check.place("loss"));
    return;
  }
  const auto by_step = check.tables.find("loss");
  if (by_step == check.tables.end()) {
    detail::refuse(check.place("loss"),
                   "[check] takes 'loss', a number, or { STEP = NUMBER, ... } by the steps of "
                   "checkpoints");
  }
  detail::require_single_values(by_step->second, "'loss' of [check]");
  if (by_step->second.values.empty()) {
    detail::refuse(check.place("loss"), "'loss' in [check] names no step");
  }
  for (const auto& [key, value] : by_step->second.values) {
    const std::string& place = by_step->second.place(key);
    const auto step = parse_number<std::int64_t>(key);
    if (!step) {
      detail::refuse(place, fmt::format("'{}' in 'loss' of [check] must be a step", key));
    }
    const double loss = checked_loss(value, place);
    if (!problem.expected_losses.emplace(*step, loss).second) {
      detail::refuse(place, fmt::format("'loss' of [check] has step {} twice", *step));
    }
  }
}

void read_data(TomlTable data, ProblemFile& problem) {
  const std::filesystem::path folder = problem.path.parent_path();
  if (!data.values.contains("kind")) {
    problem.data_arrays = detail::take_arrays(data);
    problem.data = detail::checked(data, file_keys(), "[data]");
    problem.data_path = folder / problem.data.text("file");
    problem.data_files = {problem.data_path};
    return;
  }
  const std::string place = data.place("kind");  // removed together with it
  problem.sampler_kind = detail::take_kind(data, "[data]", names_of(sampler_kinds()));
  const SamplerKind& kind = *find_sampler_kind(problem.sampler_kind);
  data.values["kind"] = kind.name;
  data.locations["kind"] = place;
  problem.data =
      detail::checked(data, sampler_keys(kind), fmt::format("[data] of kind '{}'", kind.name));
  problem.data_files = kind.files(problem.data, folder);
}

}  // namespace

std::string ProblemFile::resolved_toml() const {
  std::vector<std::pair<std::string, SettingValue>> of_model = {{"kind", model_kind}};
  of_model.insert(of_model.end(), model.values().begin(), model.values().end());
  std::string text = detail::toml_section("model", of_model);
  text += "\n" + detail::toml_section("data", {data.values().begin(), data.values().end()});
  text += detail::arrays_toml(data_arrays);
  if (expected_loss) {
    text += fmt::format("\n[check]\nloss = {}\n", detail::toml_text(*expected_loss));
  } else if (!expected_losses.empty()) {
    text += "\n[check.loss]\n";
    for (const auto& [step, loss] : expected_losses) {
      text += fmt::format("{} = {}\n", step, detail::toml_text(loss));
    }
  }
  return text;
}

ProblemFile read_problem_file(const std::filesystem::path& path) {
  const TomlTable root = detail::read_toml(path, "problem file");
  static const std::vector<std::string> kTables = {"model", "data", "check"};
  for (const auto& [name, place] : root.locations) {
    if (name.empty() || std::find(kTables.begin(), kTables.end(), name) != kTables.end()) continue;
    throw ConfigError(fmt::format(
        "{}: unknown {} '{}'{}; a problem file has [model] and [data], and perhaps [check]",
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
    return found->second;
  };

  TomlTable model = table("model");
  TomlTable data = table("data");
  ProblemFile problem;
  problem.path = path;

  problem.model_place = model.place();
  problem.model_kind = detail::take_kind(model, "[model]", names_of(model_kinds()));
  const ModelKind& kind = *find_model_kind(problem.model_kind);
  problem.model = detail::checked(model, kind.keys, fmt::format("[model] of kind '{}'", kind.name));
  read_data(std::move(data), problem);
  read_check(root, problem);
  return problem;
}

}  // namespace hesscope
