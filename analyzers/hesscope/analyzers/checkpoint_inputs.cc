// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <hesscope/analyzers/checkpoint_inputs.h>
#include <hesscope/core/error.h>
#include <hesscope/core/version.h>
#include <hesscope/io/result_reader.h>
#include <hesscope/io/tensor_file.h>
#include <hesscope/problem/tensor_map_file.h>
#include <hesscope/simd/instruction_set.h>

#include "hesscope_revision.h"

namespace hesscope::detail {
namespace {

io::TensorFile open_whole(const std::filesystem::path& path) {
  if (io::is_result_file(path)) {
    throw InputError(fmt::format("{}: is a hesscope result, not a checkpoint", path.string()));
  }
  return io::open_tensor_file(path);
}

io::TensorFile open_checkpoint(const std::filesystem::path& path,
                               const std::string& key,
                               const std::optional<io::TensorMap>& map) {
  io::TensorFile part = open_whole(path).part(key);
  return map ? io::mapped(std::move(part), *map) : part;
}

std::optional<io::TensorMap> read_map(const std::filesystem::path& path) {
  return path.empty() ? std::nullopt : std::optional(read_tensor_map(path));
}

void require_digests(const std::vector<std::string>& expected, std::size_t num_checkpoints) {
  if (expected.empty()) return;
  if (expected.size() != num_checkpoints) {
    throw ConfigError(fmt::format(
        "--expect-sha256: {} digests for {} checkpoints; give one for each, in their order",
        expected.size(),
        num_checkpoints));
  }
  for (const std::string& digest : expected) {
    constexpr std::size_t kDigits = 64;
    if (digest.size() != kDigits ||
        digest.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
      throw ConfigError(fmt::format(
          "--expect-sha256: '{}' is no SHA-256, which has 64 hexadecimal digits", digest));
    }
  }
}

// Before a number is read, so that what is not expected is not looked at further.
std::vector<std::string> checked_digests(const std::vector<CheckpointFile>& checkpoints,
                                         const std::vector<std::string>& expected) {
  require_digests(expected, checkpoints.size());
  std::vector<std::string> digests;
  for (const CheckpointFile& checkpoint : checkpoints) {
    digests.push_back(io::sha256_of(open_whole(checkpoint.path)));
    if (expected.empty()) continue;
    std::string wanted = expected[digests.size() - 1];
    std::transform(wanted.begin(), wanted.end(), wanted.begin(), [](unsigned char c) {
      return static_cast<char>(std::tolower(c));
    });
    if (digests.back() != wanted) {
      throw InputError(fmt::format(
          "{}: has SHA-256 {}; expected {}", checkpoint.path.string(), digests.back(), wanted));
    }
  }
  return digests;
}

// The configuration is read before any checkpoint.
ProblemFile read_first(const char* function,
                       const std::vector<CheckpointFile>& checkpoints,
                       const std::filesystem::path& problem_file) {
  if (checkpoints.empty()) throw PreconditionError(fmt::format("{}: no checkpoints", function));
  return read_problem_file(problem_file);
}

}  // namespace

std::string text_of(const SettingValue& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

CheckpointInputs::CheckpointInputs(const char* function,
                                   const std::vector<CheckpointFile>& files,
                                   const CheckpointReading& reading,
                                   const std::filesystem::path& problem_file,
                                   int num_threads)
    : CheckpointInputs(files, reading, read_first(function, files, problem_file), num_threads) {}

CheckpointInputs::CheckpointInputs(const std::vector<CheckpointFile>& files,
                                   const CheckpointReading& reading,
                                   ProblemFile problem_file,
                                   int num_threads)
    : checkpoints(files),
      key(reading.key),
      map_file(reading.map),
      tensor_map(read_map(reading.map)),
      digests(checked_digests(files, reading.expected_sha256)),
      problem(std::move(problem_file),
              open_checkpoint(files.front().path, key, tensor_map),
              num_threads) {
  for (const CheckpointFile& checkpoint : checkpoints) {
    const io::TensorFile file = open_checkpoint(checkpoint.path, key, tensor_map);
    points.push_back(problem.read_parameters(file));
    adam_states.push_back(problem.read_adam_state(file));
    const std::vector<std::filesystem::path> others = file.other_files();
    shards.insert(shards.end(), others.begin(), others.end());
  }
}

void CheckpointInputs::require_output_apart(const std::filesystem::path& output,
                                            std::span<const std::filesystem::path> others) const {
  std::vector<std::filesystem::path> paths(others.begin(), others.end());
  paths.push_back(problem.file().path);
  const auto& data = problem.file().data_files;
  paths.insert(paths.end(), data.begin(), data.end());
  if (tensor_map) paths.push_back(map_file);
  paths.insert(paths.end(), shards.begin(), shards.end());
  for (const CheckpointFile& checkpoint : checkpoints) paths.push_back(checkpoint.path);
  for (const std::filesystem::path& path : paths) {
    std::error_code none;  // an output that does not exist yet is no input
    if (std::filesystem::equivalent(path, output, none)) {
      throw ConfigError(
          fmt::format("{}: the output is an input of the same run; name another", output.string()));
    }
  }
}

std::string CheckpointInputs::map_text() const {
  return tensor_map ? resolved_toml(*tensor_map) : std::string();
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
  all.emplace_back("map", tensor_map ? io::sha256_of_text(map_text()) : "none");
  all.emplace_back("checkpoints", fmt::format("{}", checkpoints.size()));
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    const std::string path = checkpoints[i].path.string();
    all.emplace_back(fmt::format("checkpoint {}", i + 1), path);
    all.emplace_back(fmt::format("sha256 of {}", path), digests[i]);
  }
  return all;
}

}  // namespace hesscope::detail
