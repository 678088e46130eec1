// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <hesscope/analysis/internal/result_root.h>
#include <hesscope/core/article.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/core/version.h>
#include <hesscope/dataset/result_reader.h>

#include "hesscope_revision.h"

namespace hesscope::detail {

namespace {

const char* const kCheckpoint = "checkpoint";
const char* const kBlock = "block";
const char* const kConfiguration = "configuration";  // all that the result depends on
const char* const kConfigurationDigest = "configuration_sha256";
const char* const kConclusive = "conclusive";
const char* const kWarnings = "warnings";
const char* const kTitle = "title";

// The configuration as results tell it: of many inputs a digest in place of their names and digests.
io::RunConfiguration told(const io::RunConfiguration& configuration) {
  constexpr std::size_t kMaxBytes = std::size_t{32} << 10;
  if (io::text_of(configuration).size() <= kMaxBytes) return configuration;
  io::RunConfiguration kept;
  io::RunConfiguration inputs;
  for (const auto& each : configuration) {
    const bool is_input = each.first.starts_with("checkpoint ") ||
                          each.first.starts_with("sha256 of ") ||
                          each.first.starts_with("expected loss of ");
    (is_input ? inputs : kept).push_back(each);
  }
  kept.emplace_back("inputs", io::digest_of(inputs));
  return kept;
}

template <typename T>
const T* find_attribute(const io::ResultReader& result, const char* name) {
  const AttributeValue* value = result.find_attribute("", name);
  return value == nullptr ? nullptr : std::get_if<T>(value);
}

// The time of the run, or the one SOURCE_DATE_EPOCH asks for (reproducible-builds.org).
std::string timestamp() {
  std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH")) {
    char* end = nullptr;
    const long long seconds = std::strtoll(epoch, &end, 10);
    if (end != epoch && *end == '\0') now = static_cast<std::time_t>(seconds);
  }
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc);
}

std::vector<std::string> with_checkpoint(const std::vector<std::string>& dimensions) {
  std::vector<std::string> all = {kCheckpoint};
  all.insert(all.end(), dimensions.begin(), dimensions.end());
  return all;
}

}  // namespace

void set_provenance(io::ResultFile& file, const std::string& title, const std::string& command) {
  file.set_attribute("", {"Conventions", std::string("CF-1.8")});
  file.set_attribute("", {kTitle, title});
  file.set_attribute(
      "", {"source", fmt::format("hesscope {} (revision {})", kVersion, HESSCOPE_REVISION)});
  file.set_attribute("", {"history", fmt::format("{} {}", timestamp(), command)});
  file.set_attribute("", {"hesscope_schema_version", std::string(io::kResultSchemaVersion)});
}

void set_configuration(io::ResultFile& file, const io::RunConfiguration& configuration) {
  file.set_attribute("", {kConfiguration, io::text_of(told(configuration))});
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
  return subject;
}

ResultRoot::ResultRoot(const std::filesystem::path& output,
                       bool overwrite,
                       const ResultSubject& subject,
                       const Provenance& provenance,
                       const io::RunConfiguration& configuration)
    : quantities_(output, overwrite), steps_(provenance.steps) {
  const auto attribute = [&](const char* name, const AttributeValue& value) {
    file().set_attribute("", {name, value});
  };
  set_provenance(file(),
                 fmt::format("hesscope {} of {}", provenance.subject, subject.name),
                 provenance.command);
  if (!subject.problem.empty()) attribute("problem", subject.problem);
  if (!subject.data_sha256.empty()) attribute("data_sha256", subject.data_sha256);
  if (!provenance.tensor_map.empty()) attribute("tensor_map", provenance.tensor_map);
  attribute("num_samples", static_cast<std::int64_t>(subject.num_samples));
  attribute("seed", static_cast<std::int64_t>(provenance.seed));
  set_configuration(file(), configuration);
  attribute("complete", std::int8_t{1});

  file().define_dimension("", kCheckpoint, provenance.num_checkpoints);
  const ParameterBlock& last = subject.parameter_blocks.back();
  file().define_dimension("", "parameter", static_cast<std::uint64_t>(last.offset + last.size));
  file().define_dimension("", kBlock, subject.parameter_blocks.size());

  if (!steps_.empty()) quantities_.name_coordinate("", kCheckpoint, "step");
  quantities_.name_coordinate("", kBlock, "parameter_name");
  define("",
         {.name = "step",
          .type = VariableType::kInt64,
          .long_name = "training step of the checkpoint",
          .definition = provenance.definitions.step});
  quantities_.define("",
                     {.name = "checkpoint_file",
                      .type = VariableType::kText,
                      .dimensions = {kCheckpoint},
                      .long_name = "checkpoint file",
                      .definition = provenance.definitions.file});
  quantities_.define("",
                     {.name = "checkpoint_sha256",
                      .type = VariableType::kText,
                      .dimensions = {kCheckpoint},
                      .long_name = "SHA-256 of the checkpoint file",
                      .definition = provenance.definitions.sha256});
  define("",
         {.name = "loss",
          .long_name = "mean loss over the data set",
          .definition = "mean over samples of the model's loss"});
  define("",
         {.name = "gradient_norm",
          .long_name = "Euclidean norm of the gradient",
          .definition = "square root of the sum of squared derivatives of the mean loss"});
  for (const Variable& quantity : provenance.quantities) define("", quantity);
  quantities_.define("",
                     {.name = "parameter_name",
                      .type = VariableType::kText,
                      .dimensions = {kBlock},
                      .long_name = "name of a parameter tensor",
                      .definition = "in the order of the flat parameter vector"});
  quantities_.define("",
                     {.name = "parameter_offset",
                      .type = VariableType::kInt64,
                      .dimensions = {kBlock},
                      .long_name = "first index of a parameter tensor",
                      .definition = "in the flat parameter vector; row-major inside the tensor"});
  std::vector<std::int64_t> offsets;
  for (const ParameterBlock& block : subject.parameter_blocks) {
    blocks_.push_back(block.name);
    offsets.push_back(block.offset);
  }
  file().write("", "parameter_name", blocks_);
  file().write("", "parameter_offset", offsets);
}

void ResultRoot::begin_group(const std::string& group, bool has_blocks) {
  if (!steps_.empty()) {
    quantities_.add_coordinate(group,
                               {.name = "step",
                                .type = VariableType::kInt64,
                                .dimensions = {kCheckpoint},
                                .long_name = "training step of the checkpoint",
                                .definition = "as /step",
                                .values = steps_});
  }
  if (has_blocks) add_block_names(quantities_, group, blocks_);
}

void ResultRoot::define(const std::string& group, const Variable& quantity) {
  quantities_.define(group, quantity, with_checkpoint(quantity.dimensions), 1);
}

void ResultRoot::define_of_run(const std::string& group, const Variable& quantity) {
  quantities_.define(group, quantity, quantity.dimensions, 0);
}

void ResultRoot::name_checkpoint(std::size_t index,
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

void ResultRoot::write_record(std::size_t index, const std::string& group, const Group& record) {
  quantities_.write(group, record, index);
}

void ResultRoot::write_run_record(const std::string& group, const Group& record) {
  quantities_.write(group, record, std::nullopt);
}

Group root_record(PointAnalysis& point) {
  Group record{.variables = {{.name = "loss"}, {.name = "gradient_norm"}}};
  // A loss whose derivatives leave the range of double is a loss.
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

void ResultRoot::commit(bool is_conclusive, const std::vector<std::string>& warnings) {
  file().set_attribute("", {kConclusive, static_cast<std::int8_t>(is_conclusive ? 1 : 0)});
  // Attributes are read whole by everyone who opens the file.
  constexpr std::size_t kMaxBytes = std::size_t{32} << 10;
  std::string text;
  for (std::size_t i = 0; i < warnings.size(); ++i) {
    if (text.size() + warnings[i].size() > kMaxBytes) {
      text += fmt::format("and {} more; variables NAME_status say where\n", warnings.size() - i);
      break;
    }
    text += warnings[i] + '\n';
  }
  if (!text.empty()) {
    text.pop_back();
    file().set_attribute("", {kWarnings, text});
  }
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

void add_block_names(QuantityFile& file,
                     const std::string& group,
                     const std::vector<std::string>& names) {
  file.add_coordinate(group,
                      {.name = kBlock,
                       .type = VariableType::kText,
                       .dimensions = {kBlock},
                       .long_name = "name of a parameter tensor",
                       .definition = "as /parameter_name",
                       .values = names});
}

bool is_result_of(const std::filesystem::path& path, const io::RunConfiguration& configuration) {
  if (!io::is_result_file(path)) return false;
  try {
    const io::ResultReader result(path);
    const auto* digest = find_attribute<std::string>(result, kConfigurationDigest);
    return digest != nullptr && *digest == io::digest_of(configuration);
  } catch (const InputError&) {
    return false;  // not a file of ours, or damaged
  }
}

bool is_result_about(const std::filesystem::path& path, const std::string& subject) {
  if (!io::is_result_file(path)) return false;
  try {
    const io::ResultReader result(path);
    const auto* title = find_attribute<std::string>(result, kTitle);
    return title != nullptr && title->starts_with(fmt::format("hesscope {} ", subject));
  } catch (const InputError&) {
    return false;
  }
}

std::string difference_of(const std::filesystem::path& path,
                          const io::RunConfiguration& configuration) {
  const std::string kUnreadable = "its unreadable configuration";
  if (!io::is_result_file(path)) return kUnreadable;
  try {
    const io::ResultReader result(path);
    const auto* digest = find_attribute<std::string>(result, kConfigurationDigest);
    const auto* text = find_attribute<std::string>(result, kConfiguration);
    if (digest == nullptr || text == nullptr) return kUnreadable;
    if (*digest == io::digest_of(configuration)) return "";
    const std::string key = io::differing_key(told(configuration), *text);
    return key.empty() ? kUnreadable : key;
  } catch (const InputError&) {
    return kUnreadable;
  }
}

bool is_conclusive_result(const io::ResultReader& result) {
  const auto* value = find_attribute<std::int8_t>(result, kConclusive);
  return value != nullptr && *value == 1;
}

std::vector<std::string> warnings_of_result(const io::ResultReader& result) {
  std::vector<std::string> warnings;
  const auto* text = find_attribute<std::string>(result, kWarnings);
  if (text == nullptr) return warnings;
  for (std::size_t first = 0; first <= text->size();) {
    const std::size_t end = std::min(text->find('\n', first), text->size());
    warnings.push_back(text->substr(first, end - first));
    first = end + 1;
  }
  return warnings;
}

std::vector<Status> read_statuses(const io::ResultReader& result,
                                  const std::string& group,
                                  const std::string& name,
                                  std::size_t count) {
  if (result.find(group, status_name(name)) == nullptr)
    return std::vector<Status>(count, Status::kOk);
  std::vector<Status> statuses;
  for (const std::int64_t code : result.read_integers(group, status_name(name))) {
    const bool is_known = code >= 0 && code < std::ssize(kStatusMeanings);
    statuses.push_back(is_known ? static_cast<Status>(code) : Status::kFailed);
  }
  return statuses;
}

std::vector<Variable> real_numbers(const std::vector<std::string>& names) {
  std::vector<Variable> quantities(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) quantities[i].name = names[i];
  return quantities;
}

std::vector<Group> read_records(const io::ResultReader& result,
                                const std::string& group,
                                const std::vector<Variable>& quantities,
                                std::size_t count) {
  std::vector<Group> records(count, Group{.name = group, .variables = quantities});
  for (const Variable& quantity : quantities) {
    const auto require = [&](std::size_t found, bool may_be_rows) {
      if (found == count || (may_be_rows && found > count && found % count == 0)) return;
      throw InputError(fmt::format("{}: variable '{}/{}': {} values where {} are expected",
                                   result.path().string(),
                                   group,
                                   quantity.name,
                                   found,
                                   count));
    };
    const std::vector<Status> statuses = read_statuses(result, group, quantity.name, count);
    require(statuses.size(), false);
    std::vector<double> reals;
    std::vector<std::int64_t> counts;
    if (quantity.type == VariableType::kDouble) {
      reals = result.read_doubles(group, quantity.name);
      require(reals.size(), true);
    } else {
      counts = result.read_integers(group, quantity.name);
      require(counts.size(), false);
    }
    for (std::size_t i = 0; i < count; ++i) {
      Variable& variable = records[i][quantity.name];
      if (quantity.type == VariableType::kInt8) {  // none is said where it is not among these
        const bool is_said = counts[i] >= 0 && counts[i] < std::ssize(quantity.flag_meanings);
        if (is_said) variable.set_flag(static_cast<std::int8_t>(counts[i]));
      } else if (!counts.empty() && statuses[i] == Status::kOk) {
        variable.set_count(counts[i]);
      } else if (!reals.empty()) {
        variable.set_numbers({reals[i * (reals.size() / count)]}, {statuses[i]});
      } else {
        variable.set_missing(statuses[i]);
      }
    }
  }
  return records;
}

Group read_record(const io::ResultReader& result,
                  const std::string& group,
                  const std::vector<Variable>& quantities) {
  return read_records(result, group, quantities, 1).front();
}

}  // namespace hesscope::detail
