// SPDX-License-Identifier: BSD-3-Clause
#include <set>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/reproduction/built_in_experiments.h>
#include <hesscope/reproduction/internal/carried_files.h>
#include <hesscope/reproduction/internal/experiment_catalog.h>

namespace hesscope::detail {
namespace {

bool is_path(const std::string& named) {
  return named.find('/') != std::string::npos || named.ends_with(".toml");
}

const BuiltInExperiment& find_built_in(const std::string& name) {
  const auto experiments = built_in_experiments();
  if (const BuiltInExperiment* const found = find_or_null(experiments, name)) return *found;
  throw ConfigError(unknown_name("experiment", name, names_of(experiments)) +
                    "; a file is named by its path, ending in .toml");
}

}  // namespace

std::vector<NamedExperiment> find_experiments(const std::vector<std::string>& named,
                                              const std::string& scale,
                                              const std::vector<std::string>& overrides,
                                              const std::filesystem::path& output) {
  std::vector<std::string> all = named;
  if (all.empty()) {
    for (const BuiltInExperiment& experiment : built_in_experiments()) {
      all.emplace_back(experiment.name);
    }
  }
  std::vector<NamedExperiment> found;
  std::set<std::string> names;
  for (const std::string& given : all) {
    const bool is_carried = !is_path(given);
    const std::string file = is_carried ? given + ".toml" : given;
    TomlTable root = is_carried ? parse_toml(find_built_in(given).text, file)
                                : read_toml(file, "experiment file");
    if (is_carried) place_carried_files(root, given, inputs_of(output, given));
    found.push_back({given,
                     is_carried ? given : "",
                     read_experiment_document(std::move(root), file, scale, overrides)});
    if (!names.insert(found.back().document.name).second) {
      throw ConfigError(
          fmt::format("the experiment '{}' is named twice; both would go into the "
                      "same folder",
                      found.back().document.name));
    }
  }
  return found;
}

std::filesystem::path inputs_of(const std::filesystem::path& output,
                                const std::string& experiment) {
  return output / experiment / kInputsFolder;
}

void write_inputs(const std::filesystem::path& output, const std::vector<NamedExperiment>& all) {
  for (const NamedExperiment& named : all) {
    if (named.carried.empty()) continue;
    write_carried_files(named.carried, inputs_of(output, named.carried));
  }
}

void remove_remnants_of_inputs(const std::filesystem::path& output,
                               const std::vector<NamedExperiment>& all) {
  for (const NamedExperiment& named : all) {
    if (named.carried.empty()) continue;
    remove_remnants_of_carried_files(named.carried, inputs_of(output, named.carried));
  }
}

}  // namespace hesscope::detail
