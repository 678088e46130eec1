// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analyzers/analysis_inputs.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/core/version.h>
#include <hesscope/io/result_reader.h>
#include <hesscope/io/tensor_file.h>
#include <hesscope/simd/instruction_set.h>

#include "hesscope_revision.h"

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

// Replacing an input by the result would destroy what the result is about.
void require_output_apart(const AnalysisRequest& request, const ProblemFile& problem) {
  std::vector<std::filesystem::path> paths = {problem.path, problem.data_path};
  for (const CheckpointFile& checkpoint : request.checkpoints) paths.push_back(checkpoint.path);
  for (const std::filesystem::path& path : paths) {
    std::error_code none;  // an output that does not exist yet is no input
    if (std::filesystem::equivalent(path, request.output, none)) {
      throw ConfigError(fmt::format("{}: the output is an input of the same run; name another",
                                    request.output.string()));
    }
  }
}

io::TensorFile open_checkpoint(const std::filesystem::path& path) {
  if (io::is_result_file(path)) {
    throw InputError(fmt::format("{}: is a hesscope result, not a checkpoint", path.string()));
  }
  return io::open_tensor_file(path);
}

Problem load(const AnalysisRequest& request) {
  if (request.checkpoints.empty()) throw PreconditionError("run_analysis: no checkpoints");
  ProblemFile file = read_problem_file(request.problem);
  return {std::move(file), open_checkpoint(request.checkpoints.front().path), request.num_threads};
}

std::string text_of(const SettingValue& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

}  // namespace

AnalysisInputs::AnalysisInputs(const AnalysisRequest& request)
    : analyzers(chosen_analyzers(request)), problem(load(request)) {
  for (const CheckpointFile& checkpoint : request.checkpoints) {
    const io::TensorFile file = open_checkpoint(checkpoint.path);
    points.push_back(problem.read_parameters(file));
    adam_states.push_back(problem.read_adam_state(file));
    digests.push_back(io::sha256_of_file(checkpoint.path));
  }
  require_output_apart(request, problem.file());
}

io::RunConfiguration AnalysisInputs::configuration(const AnalysisRequest& request) const {
  io::RunConfiguration all = {
      {"hesscope", fmt::format("{} (revision {})", kVersion, HESSCOPE_REVISION)},
      {"instruction set", std::string(name_of(best_instruction_set()))},
      {"model.kind", problem.file().model_kind}};
  for (const auto& [name, value] : problem.file().model.values()) {
    all.emplace_back("model." + name, text_of(value));
  }
  for (const auto& [name, value] : problem.file().data.values()) {
    all.emplace_back("data." + name, text_of(value));
  }
  all.emplace_back("data_sha256", problem.data_sha256());
  all.emplace_back("checkpoints", fmt::format("{}", request.checkpoints.size()));
  for (std::size_t i = 0; i < request.checkpoints.size(); ++i) {
    const std::string path = request.checkpoints[i].path.string();
    all.emplace_back(fmt::format("checkpoint {}", i + 1), path);
    all.emplace_back(fmt::format("sha256 of {}", path), digests[i]);
  }
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
