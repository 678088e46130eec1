// SPDX-License-Identifier: BSD-3-Clause
#include <set>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/reproduction/built_in_experiments.h>
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
                                              const std::vector<std::string>& overrides) {
  std::vector<std::string> all = named;
  if (all.empty()) {
    for (const BuiltInExperiment& experiment : built_in_experiments()) {
      all.emplace_back(experiment.name);
    }
  }
  std::vector<NamedExperiment> found;
  std::set<std::string> names;
  for (const std::string& given : all) {
    const std::string file = is_path(given) ? given : given + ".toml";
    TomlTable root = is_path(given) ? read_toml(file, "experiment file")
                                    : parse_toml(find_built_in(given).text, file);
    found.push_back({given, read_experiment_document(std::move(root), file, scale, overrides)});
    if (!names.insert(found.back().document.name).second) {
      throw ConfigError(
          fmt::format("the experiment '{}' is named twice; both would go into the "
                      "same folder",
                      found.back().document.name));
    }
  }
  return found;
}

}  // namespace hesscope::detail
