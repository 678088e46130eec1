// SPDX-License-Identifier: BSD-3-Clause
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <hesscope/analyzers/checkpoint_inputs.h>
#include <hesscope/core/error.h>
#include <hesscope/core/version.h>
#include <hesscope/io/result_reader.h>
#include <hesscope/io/tensor_file.h>
#include <hesscope/simd/instruction_set.h>

#include "hesscope_revision.h"

namespace hesscope::detail {
namespace {

io::TensorFile open_checkpoint(const std::filesystem::path& path, const std::string& key) {
  if (io::is_result_file(path)) {
    throw InputError(fmt::format("{}: is a hesscope result, not a checkpoint", path.string()));
  }
  return io::open_tensor_file(path).part(key);
}

Problem load(const char* function,
             const std::vector<CheckpointFile>& checkpoints,
             const std::filesystem::path& problem_file,
             const std::string& key,
             int num_threads) {
  if (checkpoints.empty()) throw PreconditionError(fmt::format("{}: no checkpoints", function));
  ProblemFile file = read_problem_file(problem_file);
  return {std::move(file), open_checkpoint(checkpoints.front().path, key), num_threads};
}

}  // namespace

std::string text_of(const SettingValue& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

CheckpointInputs::CheckpointInputs(const char* function,
                                   const std::vector<CheckpointFile>& files,
                                   const std::filesystem::path& problem_file,
                                   std::string key_of_parameters,
                                   int num_threads)
    : checkpoints(files),
      key(std::move(key_of_parameters)),
      problem(load(function, files, problem_file, key, num_threads)) {
  for (const CheckpointFile& checkpoint : checkpoints) {
    const io::TensorFile file = open_checkpoint(checkpoint.path, key);
    points.push_back(problem.read_parameters(file));
    adam_states.push_back(problem.read_adam_state(file));
    digests.push_back(io::sha256_of_file(checkpoint.path));
  }
}

void CheckpointInputs::require_output_apart(const std::filesystem::path& output,
                                            std::span<const std::filesystem::path> others) const {
  std::vector<std::filesystem::path> paths(others.begin(), others.end());
  paths.push_back(problem.file().path);
  const auto& data = problem.file().data_files;
  paths.insert(paths.end(), data.begin(), data.end());
  for (const CheckpointFile& checkpoint : checkpoints) paths.push_back(checkpoint.path);
  for (const std::filesystem::path& path : paths) {
    std::error_code none;  // an output that does not exist yet is no input
    if (std::filesystem::equivalent(path, output, none)) {
      throw ConfigError(
          fmt::format("{}: the output is an input of the same run; name another", output.string()));
    }
  }
}

io::RunConfiguration CheckpointInputs::configuration() const {
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
  all.emplace_back("key", key);
  all.emplace_back("checkpoints", fmt::format("{}", checkpoints.size()));
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    const std::string path = checkpoints[i].path.string();
    all.emplace_back(fmt::format("checkpoint {}", i + 1), path);
    all.emplace_back(fmt::format("sha256 of {}", path), digests[i]);
  }
  return all;
}

}  // namespace hesscope::detail
