// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analyzers/analysis_inputs.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>

namespace hesscope::detail {
namespace {

// The analyzers asked for, in the registry's order whatever the order asked in.
std::vector<ChosenAnalyzer> chosen_analyzers(const AnalysisRequest& request) {
  std::set<std::string> wanted;
  for (const std::string& name : request.only) wanted.insert(find_analyzer(name).name);
  for (const std::string& name : request.also) wanted.insert(find_analyzer(name).name);
  std::map<std::string, SettingValue> unclaimed = request.options;
  std::vector<std::string> option_names;
  std::vector<ChosenAnalyzer> chosen;
  for (const AnalyzerEntry& entry : analyzer_registry()) {
    std::map<std::string, SettingValue> given;
    for (const SettingKey& key : entry.options) {
      option_names.push_back(key.name);
      if (auto node = unclaimed.extract(key.name)) given.insert(std::move(node));
    }
    const bool is_default = entry.by_default && request.only.empty();
    if (is_default || !given.empty() || wanted.contains(entry.name)) {
      Settings settings =
          Settings::checked(given, entry.options, fmt::format("analyzer '{}'", entry.name));
      std::unique_ptr<Analyzer> analyzer = entry.create(settings);
      chosen.push_back({entry.name, std::move(settings), std::move(analyzer)});
    }
  }
  if (!unclaimed.empty()) {
    const std::string& name = unclaimed.begin()->first;
    throw ConfigError(
        fmt::format("no analyzer has an option '{}'{}", name, did_you_mean(name, option_names)));
  }
  return chosen;
}

// @throws InputError if a checkpoint's cannot be assigned to the parameters.
void require_adam_states(const CheckpointInputs& inputs) {
  for (const auto& state : inputs.adam_states) {
    if (!state || state->obstacle.empty()) continue;
    throw InputError(state->obstacle + "; do without it by --preconditioner none");
  }
}

}  // namespace

AnalysisInputs open_inputs(const AnalysisRequest& request) {
  std::vector<ChosenAnalyzer> analyzers = chosen_analyzers(request);
  AnalysisInputs inputs{open_inputs("run_analysis",
                                    request.checkpoints,
                                    request.reading,
                                    request.problem,
                                    request.num_threads),
                        std::move(analyzers)};
  inputs.require_output_apart(request.output);
  const Problem& problem = inputs.problem;
  for (const ChosenAnalyzer& each : inputs.analyzers) {
    if (each.analyzer->needs_adam_state()) require_adam_states(inputs);
    const std::string option = each.analyzer->needs_fresh_samples();
    if (option.empty() || problem.fresh_samples() != nullptr) continue;
    throw ConfigError(fmt::format(
        "{}: {} draws new samples, but the data are those of a file ({}); give [data] a "
        "'kind', a sampler",
        problem.file().path.string(),
        option,
        problem.file().data_path.string()));
  }
  return inputs;
}

io::RunConfiguration AnalysisInputs::configuration(const AnalysisRequest& request) const {
  io::RunConfiguration all = CheckpointInputs::configuration();
  std::vector<std::string> names;
  for (const ChosenAnalyzer& chosen : analyzers) names.push_back(chosen.name);
  all.emplace_back("analyzers", fmt::format("{}", fmt::join(names, ",")));
  for (const ChosenAnalyzer& chosen : analyzers) {
    for (const auto& [name, value] : chosen.settings.values()) {
      all.emplace_back(name, text_of(value));
    }
  }
  all.emplace_back("method", fmt::format("{}", static_cast<int>(request.method)));
  all.emplace_back("seed", fmt::format("{}", request.seed));
  return all;
}

}  // namespace hesscope::detail
