// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analysis/internal/checkpoint_inputs.h>
#include <hesscope/analysis/internal/chosen_analyzers.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>

namespace hesscope::detail {

ChosenAnalyzer chosen_with(const AnalyzerKind& kind,
                           const std::map<std::string, SettingValue>& options) {
  std::map<std::string, SettingValue> own;
  for (const SettingKey& key : kind.options) {
    if (const auto given = options.find(key.name); given != options.end()) own.insert(*given);
  }
  Settings settings = Settings::checked(own, kind.options, fmt::format("analyzer '{}'", kind.name));
  std::unique_ptr<Analyzer> analyzer = create_analyzer(kind, settings);
  return {kind.name, std::move(settings), std::move(analyzer)};
}

std::vector<ChosenAnalyzer> choose_analyzers(const std::vector<std::string>& only,
                                             const std::vector<std::string>& also,
                                             const std::map<std::string, SettingValue>& options) {
  std::set<std::string> wanted;
  for (const std::string& name : only) wanted.insert(find_analyzer_kind(name).name);
  for (const std::string& name : also) wanted.insert(find_analyzer_kind(name).name);
  std::map<std::string, SettingValue> unclaimed = options;
  std::vector<std::string> option_names;
  std::vector<ChosenAnalyzer> chosen;
  for (const AnalyzerKind& entry : analyzer_kinds()) {
    std::map<std::string, SettingValue> given;
    for (const SettingKey& key : entry.options) {
      option_names.push_back(key.name);
      if (auto node = unclaimed.extract(key.name)) given.insert(std::move(node));
    }
    const bool is_default = entry.by_default && only.empty();
    if (is_default || !given.empty() || wanted.contains(entry.name)) {
      chosen.push_back(chosen_with(entry, given));
    }
  }
  if (!unclaimed.empty()) {
    const std::string& name = unclaimed.begin()->first;
    throw ConfigError(
        fmt::format("no analyzer has an option '{}'{}", name, did_you_mean(name, option_names)));
  }
  return chosen;
}

bool need_full_proof(std::span<const ChosenAnalyzer> analyzers, SpectrumMethod method) {
  const bool is_needed = std::ranges::any_of(
      analyzers, [](const ChosenAnalyzer& chosen) { return chosen.analyzer->needs_full_proof(); });
  if (is_needed && method != SpectrumMethod::kDistributed) {
    throw ConfigError("`prove` full goes with `method` distributed alone");
  }
  return is_needed;
}

void require_matrix(std::span<const ChosenAnalyzer> analyzers,
                    SpectrumMethod method,
                    Eigen::Index num_parameters) {
  const SpectrumMethod taken = resolved(method, num_parameters);
  if (is_assembled(taken)) return;
  for (const ChosenAnalyzer& chosen : analyzers) {
    const std::string option = chosen.analyzer->needs_matrix();
    if (option.empty()) continue;
    throw ConfigError(fmt::format(
        "`{}` takes the matrix, which `method` {} does not assemble{}; use dense or iterative",
        option,
        name_of(taken),
        taken == method ? std::string()
                        : fmt::format(" (that is what {} means for more than {} parameters)",
                                      name_of(method),
                                      kLargestAssembled)));
  }
}

GivenSettings given_settings(std::span<const ChosenAnalyzer> analyzers) {
  for (const ChosenAnalyzer& chosen : analyzers) {
    const GivenSettings given = chosen.analyzer->given_settings();
    if (given != GivenSettings()) return given;
  }
  return {};
}

std::vector<std::string> remarks_of(std::span<const ChosenAnalyzer> analyzers,
                                    std::span<const OptimizerState> optimizers,
                                    const Objective& objective) {
  const GivenSettings given = given_settings(analyzers);
  const std::span<const ParameterBlock> blocks = objective.parameter_blocks();
  std::vector<std::string> all;
  const auto add = [&](std::vector<std::string> remarks) {
    for (std::string& remark : remarks) {
      if (std::ranges::find(all, remark) == all.end()) all.push_back(std::move(remark));
    }
  };
  for (const ChosenAnalyzer& chosen : analyzers) {
    add(chosen.analyzer->remarks_on(optimizers, blocks, given));
    add(chosen.analyzer->remarks_on_samples(objective));
  }
  return all;
}

io::RunConfiguration configuration_of(const std::vector<ChosenAnalyzer>& analyzers,
                                      SpectrumMethod method,
                                      std::uint64_t seed) {
  io::RunConfiguration all;
  all.emplace_back("analyzers", fmt::format("{}", fmt::join(names_of(analyzers), ",")));
  for (const ChosenAnalyzer& chosen : analyzers) {
    for (const auto& [name, value] : chosen.settings.values()) {
      all.emplace_back(name, text_of(value));
    }
  }
  all.emplace_back("method", name_of(method));
  all.emplace_back("seed", fmt::format("{}", seed));
  return all;
}

}  // namespace hesscope::detail
