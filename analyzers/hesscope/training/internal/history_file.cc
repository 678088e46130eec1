// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/internal/checkpoint_result.h>
#include <hesscope/analysis/internal/quantity_file.h>
#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/core/article.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/status.h>
#include <hesscope/dataset/result_file.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/training/internal/history_file.h>
#include <hesscope/training/training.h>

namespace hesscope::detail {
namespace {

const char* const kStepName = "step";
const char* const kCheckpointName = "checkpoint";
const char* const kCheckpointStep = "checkpoint_step";
const char* const kCheckpointDigest = "checkpoint_sha256";
const char* const kStepDefinition = "number of updates made";

struct Column {
  Variable quantity;
  double HistoryRow::*member;
  bool is_computed;  // at every row; otherwise NaN means not computed, up to the first number
  bool (*is_there)(const History& history) = nullptr;  // whether the file has it; null = always

  bool is_in(const History& history) const { return is_there == nullptr || is_there(history); }
};

// Times would make equal runs give different bytes.
bool has_times() { return std::getenv("SOURCE_DATE_EPOCH") == nullptr; }

// The columns after the step in a row of the log and of the file.
const std::vector<Column>& columns() {
  static const std::vector<Column> all = {
      {{.name = "loss",
        .long_name = "mean loss over the evaluation samples",
        .definition =
            "mean over samples of the model's loss, after the number of updates that step gives"},
       &HistoryRow::loss,
       true},
      {{.name = "gradient_norm",
        .long_name = "Euclidean norm of the gradient on the evaluation samples",
        .definition = "square root of the sum of squared derivatives of the mean loss"},
       &HistoryRow::gradient_norm,
       true},
      {{.name = "batch_loss",
        .long_name = "mean loss over the last batch",
        .definition = "mean over the samples of the batch of the last update, at the parameters "
                      "before that update"},
       &HistoryRow::batch_loss,
       false},
      {{.name = "training_loss",
        .long_name = "mean loss over the training set",
        .definition = "mean over the samples that updates are made from, after the number of "
                      "updates that step gives; not computed where a batch is not all of them"},
       &HistoryRow::training_loss,
       false},
      {{.name = "seconds",
        .long_name = "wall time of training",
        .definition =
            "time spent on this run since its first step, including evaluations of the loss",
        .units = "s"},
       &HistoryRow::seconds,
       false},
      {{.name = "distance",
        .long_name = "distance of the parameters from where they started",
        .definition = "Euclidean norm of theta - theta at step 0, over the trained parameters"},
       &HistoryRow::distance,
       true},
      {{.name = "relative_distance",
        .long_name = "distance of the parameters from where they started, over their norm there",
        .definition = "distance / Euclidean norm of theta at step 0, over the trained parameters; "
                      "not computed where that is zero"},
       &HistoryRow::relative_distance,
       false},
      {{.name = "accuracy",
        .long_name = "share of the evaluation samples that are classified correctly",
        .definition = "the logit of the sample's class exceeds all others, or the prediction has "
                      "the sample's sign; ties are wrong"},
       &HistoryRow::accuracy,
       true,
       [](const History& history) { return history.has_accuracy; }},
      {{.name = "trained_gradient_norm",
        .long_name = "Euclidean norm of the gradient with respect to the trained parameters",
        .definition = "as gradient_norm, but for the parameters that [training] names"},
       &HistoryRow::trained_gradient_norm,
       true,
       [](const History& history) { return history.experiment.names_trained(); }}};
  return all;
}

void write_column(QuantityFile& file, const Column& column, const std::vector<HistoryRow>& rows) {
  file.define("", column.quantity, {kStepName}, 1);
  std::vector<double> values;
  std::vector<Status> statuses;
  bool is_computed = column.is_computed;
  for (const HistoryRow& row : rows) {
    double value = row.*column.member;
    if (column.member == &HistoryRow::seconds && !has_times()) value = kNaN;
    is_computed = is_computed || !std::isnan(value);
    const Status status = std::isfinite(value) ? Status::kOk
                          : is_computed        ? Status::kNonFinite
                                               : Status::kNotComputed;
    values.push_back(value);
    statuses.push_back(status);
  }
  Variable variable = column.quantity;
  variable.set_numbers(std::move(values), std::move(statuses));
  file.write("", variable);
}

Variable step_variable(const std::string& definition, const std::vector<std::int64_t>& steps) {
  return {.name = kStepName,
          .type = VariableType::kInt64,
          .dimensions = {kStepName},
          .long_name = "training step",
          .definition = definition,
          .values = steps};
}

// The variables that show whether a checkpoint is still as it was written, without values.
Group checkpoints_group() {
  Group group{.dimensions = {{.name = kCheckpointName}}};
  group.add({.name = kCheckpointStep,
             .type = VariableType::kInt64,
             .dimensions = {kCheckpointName},
             .long_name = "training step of a checkpoint",
             .definition = kStepDefinition});
  group.add({.name = kCheckpointDigest,
             .type = VariableType::kText,
             .dimensions = {kCheckpointName},
             .long_name = "SHA-256 of a checkpoint file",
             .definition = "hexadecimal digest of the bytes that were written"});
  return group;
}

void write_checkpoints(io::ResultFile& file,
                       const std::map<std::int64_t, std::string>& checkpoints) {
  std::vector<std::int64_t> steps;
  std::vector<std::string> digests;
  for (const auto& [step, digest] : checkpoints) {
    steps.push_back(step);
    digests.push_back(digest);
  }
  Group group = checkpoints_group();
  group.dimensions.front().size = std::ssize(checkpoints);
  group[kCheckpointStep].values = std::move(steps);
  group[kCheckpointDigest].values = std::move(digests);
  file.write(group);
}

// Defines a group with one row for each row of the history.
void define_group(QuantityFile& file,
                  const Monitor& monitor,
                  const Objective& objective,
                  const std::vector<std::int64_t>& steps) {
  file.define_dimensions(monitor.name, monitor.analyzer->dimensions(objective));
  file.add_coordinate(monitor.name, step_variable("as /step", steps));
  const Group declared = monitor.analyzer->declared();
  add_block_names(file, monitor.name, declared, objective.parameter_blocks());
  for (const Variable& quantity : declared.variables) {
    std::vector<std::string> dimensions = {kStepName};
    dimensions.insert(dimensions.end(), quantity.dimensions.begin(), quantity.dimensions.end());
    file.define(monitor.name, quantity, dimensions, 1);
  }
}

}  // namespace

std::vector<std::string> history_quantities() {
  std::vector<std::string> names;
  for (const Column& column : columns()) names.push_back(column.quantity.name);
  return names;
}

std::size_t HistoryRow::size() { return 1 + columns().size(); }

std::vector<double> HistoryRow::numbers() const {
  std::vector<double> all = {static_cast<double>(step)};
  for (const Column& column : columns()) all.push_back(this->*column.member);
  return all;
}

std::vector<HistoryRow> HistoryRow::from_numbers(std::span<const double> numbers) {
  std::vector<HistoryRow> rows;
  for (std::size_t i = 0; i + size() <= numbers.size(); i += size()) {
    HistoryRow& row = rows.emplace_back();
    row.step = static_cast<std::int64_t>(numbers[i]);
    for (std::size_t k = 1; k < size(); ++k) row.*columns()[k - 1].member = numbers[i + k];
  }
  return rows;
}

void write_history(const std::filesystem::path& path,
                   io::Existing existing,
                   const History& history) {
  QuantityFile quantities(path, existing);
  io::ResultFile& file = quantities.file();
  const auto attribute = [&](const char* name, const AttributeValue& value) {
    file.set_attribute("", {name, value});
  };
  set_provenance(
      file,
      fmt::format("hesscope training of {} model", with_article(history.experiment.model_kind)),
      history.command);
  for (const auto& [key, value] : history.experiment.about.values()) {
    attribute(("experiment_" + key).c_str(), std::get<std::string>(value));
  }
  attribute("problem", history.problem);
  attribute("run", history.run.name);
  attribute("rule", history.run.rule);
  attribute("learning_rate", history.run.learning_rate);
  attribute("seed", static_cast<std::int64_t>(history.seed));
  attribute(kHasDiverged, static_cast<std::int8_t>(history.has_diverged ? 1 : 0));
  set_configuration(file, history.configuration);
  set_conclusion(file, !history.has_diverged && history.flaws.empty(), history.flaws);
  attribute("complete", std::int8_t{1});

  file.define_dimension("", kStepName, history.rows.size());
  std::vector<std::int64_t> steps;
  for (const HistoryRow& row : history.rows) steps.push_back(row.step);
  quantities.add_coordinate("", step_variable(kStepDefinition, steps));
  if (!history.monitors.empty()) {
    define_parameters(quantities, history.monitored->parameter_blocks());
    add_parameter_tensors(quantities, history.monitored->parameter_blocks());
  }
  for (const Monitor& monitor : history.monitors) {
    define_group(quantities, monitor, *history.monitored, steps);
    file.set_attribute(monitor.name, {"samples", history.monitored_samples});
  }
  for (const Column& column : columns()) {
    if (column.is_in(history)) write_column(quantities, column, history.rows);
  }
  write_checkpoints(file, history.checkpoints);
  for (std::size_t m = 0; m < history.monitors.size(); ++m) {
    for (std::size_t row = 0; row < history.rows.size(); ++row) {
      quantities.write(history.monitors[m].name, history.records[m][row], row);
    }
  }
  quantities.commit();
}

FinishedHistory read_history(const std::filesystem::path& path) {
  const io::ResultReader file(path);
  const std::vector<std::int64_t> all_steps = file.read_integers("", kStepName);
  const auto refuse = [&](const std::string& name) {
    throw InputError(
        fmt::format("{}: '{}' must have a value for each of its {} steps, at least one; "
                    "the training must be run again (`Overwrite::kOwnKind`)",
                    path.string(),
                    name,
                    all_steps.size()));
  };
  if (all_steps.empty()) refuse(kStepName);
  FinishedHistory found;
  found.last.step = all_steps.back();
  for (const Column& column : columns()) {
    if (column.is_there != nullptr) continue;  // not part of every history
    const std::vector<double> values = file.read_doubles("", column.quantity.name);
    if (values.size() != all_steps.size()) refuse(column.quantity.name);
    found.last.*column.member = values.back();
  }
  if (file.find("", kCheckpointDigest) != nullptr) {
    const std::vector<std::int64_t> steps = file.read_integers("", kCheckpointStep);
    const std::vector<std::string> digests = file.read_text("", kCheckpointDigest);
    for (std::size_t i = 0; i < std::min(steps.size(), digests.size()); ++i) {
      found.checkpoints[steps[i]] = digests[i];
    }
  }
  found.has_diverged = is_of_diverged_run(file);
  found.flaws = warnings_of_result(file);
  return found;
}

}  // namespace hesscope::detail

namespace hesscope {

Group training_quantities() {
  Group all;
  all.add(detail::step_variable(detail::kStepDefinition, {}));
  for (const detail::Column& column : detail::columns()) {
    all.add(column.quantity);
    all.variables.back().dimensions = {detail::kStepName};
  }
  for (const Variable& variable : detail::checkpoints_group().variables) all.add(variable);
  for (Variable variable : detail::parameter_quantities()) {
    variable.definition += "; there with monitors";
    all.add(std::move(variable));
  }
  return all;
}

}  // namespace hesscope
