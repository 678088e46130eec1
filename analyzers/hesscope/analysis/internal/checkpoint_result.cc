// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <span>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <hesscope/analysis/internal/checkpoint_result.h>
#include <hesscope/analysis/internal/loss_check.h>
#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/core/article.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/core/parse_number.h>
#include <hesscope/core/version.h>

#include "hesscope_revision.h"

namespace hesscope::detail {

namespace {

const char* const kCheckpoint = "checkpoint";
const char* const kBlock = "block";
const char* const kParameterName = "parameter_name";
const char* const kParameterOffset = "parameter_offset";

// The time of the run, or that of SOURCE_DATE_EPOCH if it is set (reproducible-builds.org).
std::string timestamp() {
  std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH")) {
    constexpr std::time_t kEnd = 253402300800;  // of the year 9999
    const auto seconds = parse_number<std::time_t>(epoch);
    if (seconds && *seconds >= 0 && *seconds < kEnd) now = *seconds;
  }
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc);
}

// Variables of each checkpoint; `checkpoint` is not among their dimensions.
std::vector<Variable> checkpoint_quantities(const CheckpointDefinitions& definitions) {
  return {{.name = "step",
           .type = VariableType::kInt64,
           .long_name = definitions.step_unit + " of the checkpoint",
           .definition = definitions.step},
          {.name = "checkpoint_file",
           .type = VariableType::kText,
           .long_name = "checkpoint file",
           .definition = definitions.file},
          {.name = "checkpoint_sha256",
           .type = VariableType::kText,
           .long_name = "SHA-256 of the checkpoint file",
           .definition = definitions.sha256},
          {.name = "loss",
           .long_name = "mean loss over the data set",
           .definition = "L = mean over samples of the model's loss"},
          {.name = "gradient_norm",
           .long_name = "Euclidean norm of the gradient",
           .definition = "|g| = square root of the sum of squared derivatives g_i of the mean "
                         "loss"}};
}

std::vector<std::string> names_of_blocks(std::span<const ParameterBlock> blocks) {
  std::vector<std::string> names;
  for (const ParameterBlock& block : blocks) names.push_back(block.name);
  return names;
}

Variable along_checkpoints(Variable quantity) {
  quantity.dimensions.insert(quantity.dimensions.begin(), kCheckpoint);
  return quantity;
}

}  // namespace

std::vector<Variable> parameter_quantities() {
  return {{.name = kParameterName,
           .type = VariableType::kText,
           .dimensions = {kBlock},
           .long_name = "name of a parameter tensor",
           .definition = "in the order of the flat parameter vector"},
          {.name = kParameterOffset,
           .type = VariableType::kInt64,
           .dimensions = {kBlock},
           .long_name = "first index of a parameter tensor",
           .definition = "in the flat parameter vector; row-major inside the tensor"}};
}

std::vector<Variable> root_quantities() {
  std::vector<Variable> all;
  for (const Variable& each : checkpoint_quantities({})) all.push_back(along_checkpoints(each));
  for (const Variable& each : loss_check_quantities()) all.push_back(along_checkpoints(each));
  for (const Variable& each : parameter_quantities()) all.push_back(each);
  return all;
}

void set_provenance(io::ResultFile& file, const std::string& title, const std::string& command) {
  file.set_attribute("", {"Conventions", std::string("CF-1.8")});
  file.set_attribute("", {kTitle, title});
  file.set_attribute(
      "", {"source", fmt::format("hesscope {} (revision {})", kVersion, HESSCOPE_REVISION)});
  file.set_attribute("", {"history", fmt::format("{} {}", timestamp(), command)});
  file.set_attribute("", {"hesscope_schema_version", std::string(io::kResultSchemaVersion)});
}

void set_configuration(io::ResultFile& file, const io::RunConfiguration& configuration) {
  file.set_attribute("", {kConfiguration, io::text_of(stated(configuration))});
  file.set_attribute("", {kConfigurationDigest, io::digest_of(configuration)});
}

ResultSubject subject_of(const Objective& objective) {
  const auto blocks = objective.parameter_blocks();
  return {.name = "an objective",
          .num_samples = objective.num_samples(),
          .parameter_blocks = {blocks.begin(), blocks.end()}};
}

ResultSubject subject_of(const Problem& problem) {
  ResultSubject subject = subject_of(problem.objective());
  subject.name = with_article(problem.model().kind + " model");
  subject.problem = problem.file().resolved_toml();
  subject.data_sha256 = problem.data_sha256();
  subject.model_sha256 = problem.model_sha256();
  return subject;
}

CheckpointResult::CheckpointResult(const std::filesystem::path& output,
                                   io::Existing existing,
                                   const ResultSubject& subject,
                                   const Provenance& provenance,
                                   const io::RunConfiguration& configuration)
    : quantities_(output, existing), steps_(provenance.steps), blocks_(subject.parameter_blocks) {
  const auto attribute = [&](const char* name, const AttributeValue& value) {
    file().set_attribute("", {name, value});
  };
  set_provenance(file(),
                 fmt::format("hesscope {} of {}", provenance.subject, subject.name),
                 provenance.command);
  if (!subject.problem.empty()) attribute("problem", subject.problem);
  if (!subject.data_sha256.empty()) attribute("data_sha256", subject.data_sha256);
  if (!subject.model_sha256.empty()) attribute("model_sha256", subject.model_sha256);
  if (!provenance.tensor_map.empty()) attribute("tensor_map", provenance.tensor_map);
  attribute("num_samples", static_cast<std::int64_t>(subject.num_samples));
  attribute("seed", static_cast<std::int64_t>(provenance.seed));
  set_configuration(file(), configuration);
  attribute("complete", std::int8_t{1});

  file().define_dimension("", kCheckpoint, provenance.num_checkpoints);
  define_parameters(quantities_, blocks_);

  if (!steps_.empty()) quantities_.name_coordinate("", kCheckpoint, "step");
  for (const Variable& quantity : checkpoint_quantities(provenance.definitions)) {
    if (quantity.type == VariableType::kText) {
      quantities_.define("", along_checkpoints(quantity));
    } else {
      define("", quantity);
    }
  }
  for (const Variable& quantity : provenance.quantities) define("", quantity);
  add_parameter_tensors(quantities_, blocks_);
}

void CheckpointResult::add_group(const std::string& group,
                                 const Group& of_checkpoints,
                                 const Group& of_run,
                                 const std::vector<Dimension>& dimensions) {
  quantities_.define_dimensions(group, dimensions);
  if (!steps_.empty()) {
    quantities_.add_coordinate(group,
                               {.name = "step",
                                .type = VariableType::kInt64,
                                .dimensions = {kCheckpoint},
                                .long_name = "step of the checkpoint",
                                .definition = "as /step",
                                .values = steps_});
  }
  add_block_names(quantities_, group, of_checkpoints, blocks_);
  for (const Variable& variable : of_checkpoints.variables) define(group, variable);
  for (const Variable& variable : of_run.variables) {
    quantities_.define(group, variable, variable.dimensions, 0);
  }
}

void CheckpointResult::define(const std::string& group, const Variable& variable) {
  quantities_.define(group, variable, along_checkpoints(variable).dimensions, 1);
}

void CheckpointResult::name_checkpoint(std::size_t index,
                                       const CheckpointFile& checkpoint,
                                       const std::string& sha256) {
  const auto text = [&](const char* name, const std::string& value) {
    file().write_slice("", name, index, std::span<const std::string>(&value, 1));
  };
  text("checkpoint_file", checkpoint.path.string());
  text("checkpoint_sha256", sha256);
  if (!checkpoint.step) return;
  Variable step{.name = "step", .type = VariableType::kInt64};
  step.set_count(*checkpoint.step);
  quantities_.write("", step, index);
}

void CheckpointResult::write(std::size_t index, const std::string& group, const Group& answer) {
  quantities_.write(group, answer, index);
}

void CheckpointResult::write_of_run(const std::string& group, const Group& answer) {
  quantities_.write(group, answer);
}

Group root_record(PointAnalysis& point) {
  Group record{.variables = {{.name = "loss"}, {.name = "gradient_norm"}}};
  // A loss whose derivatives leave the range of double is still a loss.
  record["loss"].set(
      point.loss(),
      point.theta().allFinite() && std::isfinite(point.loss()) ? Status::kOk : Status::kNonFinite);
  const double gradient_norm = norm(point.gradient());
  record["gradient_norm"].set(gradient_norm,
                              std::isfinite(gradient_norm) ? point.status() : Status::kNonFinite);
  return record;
}

Status root_status(const Group& root) {
  for (const char* name : {"loss", "gradient_norm"}) {
    const Status status = root[name].status();
    if (status != Status::kOk) return status;
  }
  return Status::kOk;
}

void set_conclusion(io::ResultFile& file,
                    bool is_conclusive,
                    const std::vector<std::string>& warnings) {
  file.set_attribute("", {kConclusive, static_cast<std::int8_t>(is_conclusive ? 1 : 0)});
  // Everyone who opens the file reads attributes completely.
  constexpr std::size_t kMaxBytes = std::size_t{32} << 10;
  std::string text;
  for (std::size_t i = 0; i < warnings.size(); ++i) {
    if (text.size() + warnings[i].size() > kMaxBytes) {
      text += fmt::format("and {} more; variables NAME_status say where\n", warnings.size() - i);
      break;
    }
    text += warnings[i] + '\n';
  }
  if (text.empty()) return;
  text.pop_back();
  file.set_attribute("", {kWarnings, text});
}

void CheckpointResult::commit(bool is_conclusive, const std::vector<std::string>& warnings) {
  set_conclusion(file(), is_conclusive, warnings);
  quantities_.commit();
}

std::vector<std::int64_t> steps_of(const std::vector<CheckpointFile>& checkpoints) {
  std::vector<std::int64_t> steps;
  for (const CheckpointFile& checkpoint : checkpoints) {
    if (!checkpoint.step) return {};
    steps.push_back(*checkpoint.step);
  }
  return steps;
}

void define_parameters(QuantityFile& file, std::span<const ParameterBlock> blocks) {
  const ParameterBlock& last = blocks.back();
  file.file().define_dimension(
      "", "parameter", static_cast<std::uint64_t>(last.offset + last.size));
  file.file().define_dimension("", kBlock, blocks.size());
  file.name_coordinate("", kBlock, kParameterName);
}

void add_parameter_tensors(QuantityFile& file, std::span<const ParameterBlock> blocks) {
  for (const Variable& quantity : parameter_quantities()) file.define("", quantity);
  std::vector<std::int64_t> offsets;
  for (const ParameterBlock& block : blocks) offsets.push_back(block.offset);
  file.file().write("", kParameterName, names_of_blocks(blocks));
  file.file().write("", kParameterOffset, offsets);
}

void add_block_names(QuantityFile& file,
                     const std::string& group,
                     const Group& quantities,
                     std::span<const ParameterBlock> blocks) {
  const auto is_along_blocks = [](const Variable& variable) {
    return std::ranges::find(variable.dimensions, kBlock) != variable.dimensions.end();
  };
  if (std::ranges::none_of(quantities.variables, is_along_blocks)) return;
  file.add_coordinate(group,
                      {.name = kBlock,
                       .type = VariableType::kText,
                       .dimensions = {kBlock},
                       .long_name = "name of a parameter tensor",
                       .definition = "as /parameter_name",
                       .values = names_of_blocks(blocks)});
}

}  // namespace hesscope::detail
