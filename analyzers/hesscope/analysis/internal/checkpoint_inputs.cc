// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <memory>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analysis/internal/checkpoint_inputs.h>
#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/core/ascii.h>
#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/version.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/problem/tensor_map_file.h>
#include <hesscope/problem/training_counters.h>
#include <hesscope/simd/instruction_set.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/sha256.h>
#include <hesscope/tensors/format_registry.h>
#include <hesscope/tensors/tensor_file.h>

#include "hesscope_revision.h"

namespace hesscope::detail {

void require_utf8_name(const std::filesystem::path& path) {
  if (is_utf8(path.string())) return;
  throw ConfigError(
      fmt::format("{}: its name is not UTF-8, as the result that would name it must be; "
                  "rename it",
                  path.string()));
}

namespace {

std::optional<io::TensorMap> read_map(const std::filesystem::path& path) {
  if (path.empty()) return std::nullopt;
  require_utf8_name(path);
  return read_tensor_map(path);
}

// One for each checkpoint, in lower case; empty if any digest will do.
std::vector<std::string> expected_digests(std::vector<std::string> expected,
                                          std::size_t num_checkpoints) {
  if (expected.empty()) return std::vector<std::string>(num_checkpoints);
  if (expected.size() != num_checkpoints) {
    throw ConfigError(fmt::format(
        "`expected_sha256`: {} digests for {} checkpoints; give one for each, in their order",
        expected.size(),
        num_checkpoints));
  }
  for (std::string& digest : expected) {
    constexpr std::size_t kDigits = 64;
    if (digest.size() != kDigits ||
        digest.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
      throw ConfigError(fmt::format(
          "`expected_sha256`: '{}' is no SHA-256, which has 64 hexadecimal digits", digest));
    }
    digest = lower_case(digest);
  }
  return expected;
}

struct OpenCheckpoint {
  io::TensorFile file;  // the part that is taken, under our names
  std::string digest;   // if one is expected; otherwise it is taken after reading
  std::map<std::string, double> counters;
  std::optional<double> loss;  // stored in the checkpoint
};

// Candidates for the step: all counters in the file, or the one asked for.
std::map<std::string, double> counters_of(const io::TensorFile& whole,
                                          const std::string& key,
                                          const std::string& step_key) {
  std::map<std::string, double> counters;
  if (step_key.empty()) counters = training_counters(whole, key);
  const std::string further = step_key.empty() ? kOptimizerStep : step_key;
  if (const auto number = training_number(whole, key, further)) counters[further] = *number;
  return counters;
}

// The key of a part of a part.
std::string joined(const std::string& outer, const std::string& inner) {
  return outer.empty() || inner.empty() ? outer + inner : outer + '.' + inner;
}

// If a digest is expected, a file with another digest is not read any further. Otherwise hashing
// can wait: a checkpoint that does not fit is refused however large it is.
OpenCheckpoint open_checkpoint(const std::filesystem::path& path,
                               const std::string& expected_sha256,
                               const CheckpointReading& reading,
                               const std::optional<io::TensorMap>& map,
                               const std::stop_token& stop) {
  const auto file = std::make_shared<io::InputFile>(path, io::InputFile::kCheckpoint, stop);
  std::string digest;
  const auto take_expected = [&](std::string found) {
    if (found != expected_sha256) {
      throw InputError(
          fmt::format("{}: has SHA-256 {}; expected {}", path.string(), found, expected_sha256));
    }
    digest = std::move(found);
  };
  const io::FormatKind* const format = io::recognised_format(*file);
  const bool names_files = format != nullptr && format->names_files;  // the digest covers them, too
  if (!expected_sha256.empty() && !names_files) take_expected(io::sha256_of(*file));
  if (io::is_result_file(*file)) {
    throw InputError(fmt::format("{}: is a hesscope result, not a checkpoint", path.string()));
  }
  const io::TensorFile whole = io::open_tensor_file(file);
  if (!expected_sha256.empty() && names_files) take_expected(io::sha256_of(whole));
  const io::TensorFile part = whole.part(reading.key);
  const std::string key = map ? joined(reading.key, map->key) : reading.key;
  return {map ? io::mapped(part, *map) : part,
          std::move(digest),
          counters_of(whole, key, reading.step_key),
          training_number(whole, key, "loss")};
}

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// A remark that holds for several files is made once, by the first file.
class FileRemarks {
 public:
  void add(const std::filesystem::path& file, const std::string& remark) {
    const auto known = std::ranges::find(all_, remark, &Remark::text);
    if (known == all_.end()) {
      all_.push_back({remark, file});
    } else {
      ++known->num_others;
    }
  }

  std::vector<std::string> sentences() const {
    std::vector<std::string> sentences;
    for (const auto& [text, file, num_others] : all_) {
      sentences.push_back(
          fmt::format("{}{}: {}",
                      file.string(),
                      num_others > 0 ? fmt::format(" and {} others", num_others) : std::string(),
                      text));
    }
    return sentences;
  }

 private:
  struct Remark {
    std::string text;
    std::filesystem::path file;  // the first
    std::size_t num_others = 0;
  };

  std::vector<Remark> all_;
};

template <typename T>
void permute(const std::vector<std::size_t>& order, std::vector<T>& values) {
  std::vector<T> permuted;
  for (const std::size_t i : order) permuted.push_back(std::move(values[i]));
  values = std::move(permuted);
}

// Reorders what was read in the order given.
void put_in_order(CheckpointSequence sequence,
                  const std::vector<CheckpointEvidence>& given,
                  CheckpointInputs& inputs) {
  for (std::size_t k = 0; k < given.size(); ++k) {
    inputs.checkpoints.push_back({given[sequence.order[k]].file.path, sequence.steps[k]});
  }
  permute(sequence.order, inputs.digests);
  permute(sequence.order, inputs.points);
  permute(sequence.order, inputs.buffers);
  permute(sequence.order, inputs.optimizers);
  inputs.step_definition = sequence.step_definition();
  inputs.step_unit = sequence.step_unit();
  inputs.runs = std::move(sequence.runs);
  append(inputs.warnings, sequence.warnings);
}

// Warns once, at the first checkpoint whose weight decay differs from that of the problem file's
// loss.
void warn_of_weight_decay(CheckpointInputs& inputs) {
  for (const OptimizerState& optimizer : inputs.optimizers) {
    for (const OptimizerSettings& group : optimizer.groups) {
      const double of_loss = inputs.problem.model().weight_decay;
      if (group.weight_decay.value_or(0) == 0 || group.weight_decay == of_loss) continue;
      inputs.warnings.push_back(fmt::format(
          "{}: the optimiser's weight_decay ({}{}, under '{}') is not in the loss analyzed{}",
          optimizer.file,
          *group.weight_decay,
          optimizer.groups.size() > 1 ? " in one of its groups" : "",
          optimizer.prefix,
          of_loss == 0 ? "" : fmt::format(", whose weight_decay is {}", of_loss)));
      return;
    }
  }
}

// Warns if no checkpoint has any of the steps for which [check] gives losses.
void warn_of_losses_of_other_steps(std::span<const std::optional<std::int64_t>> steps,
                                   CheckpointInputs& inputs) {
  const auto& expected = inputs.problem.file().expected_losses;
  const auto is_compared = [&](const std::optional<std::int64_t>& step) {
    return step && expected.contains(*step);
  };
  if (expected.empty() || std::ranges::any_of(steps, is_compared)) return;
  inputs.warnings.push_back(fmt::format(
      "{}: [check] expects losses, but of no step that a checkpoint is of (the first is "
      "of step {}), so that none of them was compared",
      inputs.problem.file().path.string(),
      steps.front() ? std::to_string(*steps.front()) : std::string("unknown")));
}

// Refuses what can be refused without reading before the first of many files is read.
void require_files(const std::vector<CheckpointFile>& files) {
  for (const CheckpointFile& file : files) {
    if (io::InputFile(file.path).size() > 0) continue;
    throw InputError(fmt::format("{}: the file is empty", file.path.string()));
  }
}

}  // namespace

std::string text_of(const SettingValue& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

CheckpointInputs open_inputs(const char* function,
                             const CheckpointRunRequest& request,
                             int num_threads,
                             const std::stop_token& stop) {
  const std::vector<CheckpointFile>& files = request.checkpoints;
  const CheckpointReading& reading = request.reading;
  if (files.empty()) throw PreconditionError(fmt::format("{}: no checkpoints", function));
  require_utf8_name(request.problem);
  ProblemFile problem = read_problem_file(request.problem);
  const std::optional<io::TensorMap> map = read_map(reading.map);
  const std::vector<std::string> expected = expected_digests(reading.expected_sha256, files.size());
  for (const CheckpointFile& file : files) require_utf8_name(file.path);
  require_files(files);
  OpenCheckpoint checkpoint =
      open_checkpoint(files.front().path, expected.front(), reading, map, stop);
  CheckpointInputs inputs{
      .order = reading.order,
      .step_key = reading.step_key,
      .key = reading.key,
      .map_file = reading.map,
      .tensor_map = map,
      .problem = Problem(std::move(problem), checkpoint.file, num_threads, stop, request.team),
      .warnings = reading.remarks};
  std::vector<CheckpointEvidence> evidence;
  std::vector<std::optional<double>> losses;
  FileRemarks remarks;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (i > 0) checkpoint = open_checkpoint(files[i].path, expected[i], reading, map, stop);
    evidence.push_back({files[i], checkpoint.counters});
    losses.push_back(checkpoint.loss);
    inputs.points.push_back(inputs.problem.read_parameters(checkpoint.file));
    inputs.buffers.push_back(inputs.problem.read_buffers(checkpoint.file));
    inputs.optimizers.push_back(inputs.problem.read_optimizer_state(checkpoint.file));
    inputs.digests.push_back(checkpoint.digest.empty() ? io::sha256_of(checkpoint.file)
                                                       : checkpoint.digest);
    for (const std::string& remark : inputs.problem.remarks_on(checkpoint.file)) {
      remarks.add(files[i].path, remark);
    }
    for (const std::string& remark : inputs.problem.remarks_on(inputs.optimizers.back())) {
      remarks.add(files[i].path, remark);
    }
    const std::vector<std::filesystem::path> others = checkpoint.file.other_files();
    inputs.shards.insert(inputs.shards.end(), others.begin(), others.end());
  }
  append(inputs.warnings, inputs.problem.remarks());
  append(inputs.warnings, remarks.sentences());
  append(inputs.warnings, inputs.problem.remarks_on(inputs.points));
  warn_of_weight_decay(inputs);
  CheckpointSequence sequence = order_checkpoints(evidence, reading.order, reading.step_key);
  require_clear_losses(inputs.problem.file(), reading, files.size(), sequence.runs.size());
  for (std::size_t k = 0; k < files.size(); ++k) {
    const std::size_t i = sequence.order[k];
    const auto asked =
        reading.expected_losses.empty() ? std::nullopt : std::optional(reading.expected_losses[i]);
    inputs.expected_losses.push_back(
        expected_loss(inputs.problem.file(), sequence.steps[k], asked, losses[i]));
  }
  warn_of_losses_of_other_steps(sequence.steps, inputs);
  put_in_order(std::move(sequence), evidence, inputs);
  return inputs;
}

void CheckpointInputs::require_output_apart(const std::filesystem::path& output,
                                            std::span<const std::filesystem::path> others) const {
  std::vector<std::filesystem::path> paths(others.begin(), others.end());
  paths.push_back(problem.file().path);
  const auto& data = problem.file().data_files;
  paths.insert(paths.end(), data.begin(), data.end());
  for (const ModelFile& file : problem.model().files) paths.emplace_back(file.path);
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

io::RunConfiguration program_configuration() {
  return {{"hesscope", fmt::format("{} (revision {})", kVersion, HESSCOPE_REVISION)},
          {"instruction set", std::string(name_of(best_instruction_set()))}};
}

io::RunConfiguration CheckpointInputs::configuration() const {
  io::RunConfiguration all = program_configuration();
  all.emplace_back("model.kind", problem.file().model_kind);
  for (const auto& [name, value] : problem.file().model.values()) {
    all.emplace_back("model." + name, text_of(value));
  }
  for (const auto& [name, value] : problem.file().data.values()) {
    all.emplace_back("data." + name, text_of(value));
  }
  for (const io::TensorRule& rule : problem.file().data_arrays.rules) {
    all.emplace_back("data.arrays." + rule.name, rule.source);
  }
  all.emplace_back("data_sha256", problem.data_sha256());
  if (const std::string digest = problem.model_sha256(); !digest.empty()) {
    all.emplace_back("model_sha256", digest);
  }
  all.emplace_back("key", key);
  all.emplace_back("map", tensor_map ? io::sha256_of_text(map_text()) : "none");
  all.emplace_back(kOrderKey, order == CheckpointOrder::kGiven ? kOrderGiven : kOrderByStep);
  all.emplace_back("step_key", step_key);
  all.emplace_back("checkpoints", fmt::format("{}", checkpoints.size()));
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    const std::string path = checkpoints[i].path.string();
    all.emplace_back(fmt::format("checkpoint {}", i + 1), path);
    all.emplace_back(fmt::format("sha256 of {}", path), digests[i]);
    if (expected_losses[i].source == LossSource::kNobody) continue;
    all.emplace_back(fmt::format("expected loss of {}", path),
                     fmt::format("{}", expected_losses[i].value));
  }
  return all;
}

}  // namespace hesscope::detail
