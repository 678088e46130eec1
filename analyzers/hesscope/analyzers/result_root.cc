// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <span>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analyzers/result_root.h>
#include <hesscope/core/error.h>
#include <hesscope/core/version.h>
#include <hesscope/io/result_reader.h>

#include "hesscope_revision.h"

namespace hesscope::detail {

std::string status_name(const std::string& name) { return name + "_status"; }

namespace {

const char* const kCheckpoint = "checkpoint";
const char* const kConfiguration = "configuration_sha256";  // of all that the result depends on
const char* const kConclusive = "conclusive";

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
  file.set_attribute("", {"title", title});
  file.set_attribute(
      "", {"source", fmt::format("hesscope {} (revision {})", kVersion, HESSCOPE_REVISION)});
  file.set_attribute("", {"history", fmt::format("{} {}", timestamp(), command)});
  file.set_attribute("", {"hesscope_schema_version", std::string(io::kResultSchemaVersion)});
}

void set_configuration(io::ResultFile& file, const io::RunConfiguration& configuration) {
  file.set_attribute("", {kConfiguration, io::digest_of(configuration)});
}

ResultSubject subject_of(const Objective& objective) {
  const auto blocks = objective.parameter_blocks();
  return {.name = "an objective",
          .num_samples = objective.num_samples(),
          .parameter_blocks = {blocks.begin(), blocks.end()}};
}

ResultSubject subject_of(const Problem& problem) {
  ResultSubject subject = subject_of(problem.objective());
  subject.name = fmt::format("a {} model", problem.model().kind);
  subject.problem = problem.file().resolved_toml();
  subject.data_sha256 = problem.data_sha256();
  return subject;
}

ResultRoot::ResultRoot(const std::filesystem::path& output,
                       bool overwrite,
                       const ResultSubject& subject,
                       const Provenance& provenance,
                       const io::RunConfiguration& configuration)
    : file_(output, {.overwrite = overwrite}) {
  const auto attribute = [&](const char* name, const io::AttributeValue& value) {
    file_.set_attribute("", {name, value});
  };
  set_provenance(file_,
                 fmt::format("hesscope {} of {}", provenance.subject, subject.name),
                 provenance.command);
  if (!subject.problem.empty()) attribute("problem", subject.problem);
  if (!subject.data_sha256.empty()) attribute("data_sha256", subject.data_sha256);
  if (!provenance.tensor_map.empty()) attribute("tensor_map", provenance.tensor_map);
  if (!provenance.warnings.empty()) {
    attribute("warnings", fmt::format("{}", fmt::join(provenance.warnings, "\n")));
  }
  attribute("num_samples", static_cast<std::int64_t>(subject.num_samples));
  attribute("seed", static_cast<std::int64_t>(provenance.seed));
  set_configuration(file_, configuration);
  attribute("complete", std::int8_t{1});

  file_.define_dimension("", kCheckpoint, provenance.num_checkpoints);
  const ParameterBlock& last = subject.parameter_blocks.back();
  file_.define_dimension("", "parameter", static_cast<std::uint64_t>(last.offset + last.size));
  file_.define_dimension("", "block", subject.parameter_blocks.size());

  using io::VariableType;
  define("",
         {.name = "step",
          .type = Quantity::Type::kCount,
          .long_name = "training step of the checkpoint",
          .definition = provenance.definitions.step});
  file_.define_variable("",
                        {.name = "checkpoint_file",
                         .type = VariableType::kText,
                         .dimensions = {kCheckpoint},
                         .long_name = "checkpoint file",
                         .definition = provenance.definitions.file});
  file_.define_variable("",
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
  file_.define_variable("",
                        {.name = "parameter_name",
                         .type = VariableType::kText,
                         .dimensions = {"block"},
                         .long_name = "name of a parameter tensor",
                         .definition = "in the order of the flat parameter vector"});
  file_.define_variable(
      "",
      {.name = "parameter_offset",
       .type = VariableType::kInt64,
       .dimensions = {"block"},
       .long_name = "first index of a parameter tensor",
       .definition = "in the flat parameter vector; row-major inside the tensor"});
  std::vector<std::string> names;
  std::vector<std::int64_t> offsets;
  for (const ParameterBlock& block : subject.parameter_blocks) {
    names.push_back(block.name);
    offsets.push_back(block.offset);
  }
  file_.write("", "parameter_name", names);
  file_.write("", "parameter_offset", offsets);
}

io::VariableType variable_type(const Quantity& quantity) {
  return quantity.type == Quantity::Type::kFlag    ? io::VariableType::kInt8
         : quantity.type == Quantity::Type::kCount ? io::VariableType::kInt64
                                                   : io::VariableType::kDouble;
}

void define_quantity(io::ResultFile& file,
                     const std::string& group,
                     const Quantity& quantity,
                     const std::vector<std::string>& dimensions,
                     const std::vector<std::string>& status_dimensions) {
  const bool is_flag = quantity.type == Quantity::Type::kFlag;
  file.define_variable(group,
                       {.name = quantity.name,
                        .type = variable_type(quantity),
                        .dimensions = dimensions,
                        .long_name = quantity.long_name,
                        .units = quantity.units,
                        .definition = quantity.definition,
                        .flag_meanings = quantity.flags,
                        .ancillary_variables = is_flag ? "" : status_name(quantity.name)});
  if (is_flag) return;
  file.define_variable(group,
                       {.name = status_name(quantity.name),
                        .type = io::VariableType::kInt8,
                        .dimensions = status_dimensions,
                        .long_name = "status of " + quantity.name,
                        .definition = "why " + quantity.name + " is, or is not, there",
                        .flag_meanings = {kStatusMeanings.begin(), kStatusMeanings.end()}});
}

void ResultRoot::define(const std::string& group, const Quantity& quantity) {
  define_quantity(file_, group, quantity, with_checkpoint(quantity.dimensions), {kCheckpoint});
}

void ResultRoot::define_of_run(const std::string& group, const Quantity& quantity) {
  define_quantity(file_, group, quantity, quantity.dimensions, {});
}

void ResultRoot::name_checkpoint(std::size_t index,
                                 const CheckpointFile& checkpoint,
                                 const std::string& sha256) {
  const auto text = [&](const char* name, const std::string& value) {
    file_.write_slice("", name, index, std::span<const std::string>(&value, 1));
  };
  text("checkpoint_file", checkpoint.path.string());
  text("checkpoint_sha256", sha256);
  Record step;
  if (checkpoint.step) step.set_count("step", *checkpoint.step);
  write_record(index, "", step);
}

void ResultRoot::write_record(std::size_t index, const std::string& group, const Record& record) {
  write_entries(file_, group, record, index);
}

void ResultRoot::write_run_record(const std::string& group, const Record& record) {
  write_entries(file_, group, record, std::nullopt);
}

void write_entries(io::ResultFile& file,
                   const std::string& group,
                   const Record& record,
                   std::optional<std::size_t> index) {
  const auto write = [&](const std::string& name, const auto values) {
    if (index) {
      file.write_slice(group, name, *index, values);
    } else {
      file.write(group, name, values);
    }
  };
  const auto write_status = [&](const std::string& name, Status status) {
    const auto value = static_cast<std::int8_t>(status);
    write(status_name(name), std::span<const std::int8_t>(&value, 1));
  };
  for (const auto& [name, entry] : record.entries()) {
    if (const auto* real = std::get_if<Record::Real>(&entry)) {
      if (!real->values.empty()) write(name, std::span<const double>(real->values));
      write_status(name, real->status);
    } else if (const auto* count = std::get_if<std::int64_t>(&entry)) {
      write(name, std::span<const std::int64_t>(count, 1));
      write_status(name, Status::kOk);
    } else if (const auto* flag = std::get_if<std::int8_t>(&entry)) {
      write(name, std::span<const std::int8_t>(flag, 1));
    }
  }
}

Record root_record(PointAnalysis& point) {
  const double gradient_norm = point.gradient().norm();
  const Status status = std::isfinite(gradient_norm) ? point.status() : Status::kNonFinite;
  Record record;
  record.set("loss", point.loss(), status);
  record.set("gradient_norm", gradient_norm, status);
  return record;
}

void ResultRoot::commit(bool is_conclusive) {
  file_.set_attribute("", {kConclusive, static_cast<std::int8_t>(is_conclusive ? 1 : 0)});
  file_.commit();
}

bool is_result_of(const std::filesystem::path& path, const io::RunConfiguration& configuration) {
  if (!io::is_result_file(path)) return false;
  try {
    const io::ResultReader result(path);
    const io::AttributeValue* digest = result.find_attribute("", kConfiguration);
    const auto* text = digest == nullptr ? nullptr : std::get_if<std::string>(digest);
    return text != nullptr && *text == io::digest_of(configuration);
  } catch (const InputError&) {
    return false;  // not a file of ours, or damaged
  }
}

bool is_conclusive_result(const std::filesystem::path& path) {
  const io::ResultReader result(path);
  const io::AttributeValue* said = result.find_attribute("", kConclusive);
  const auto* value = said == nullptr ? nullptr : std::get_if<std::int8_t>(said);
  return value != nullptr && *value == 1;
}

}  // namespace hesscope::detail
