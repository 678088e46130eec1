// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <hesscope/reproduction/built_in_experiments.h>
#include <hesscope/training/training.h>

#include "commands.h"
#include "number_tables.h"
#include "plugin_option.h"
#include "progress_line.h"
#include "run_command.h"
#include "table.h"

namespace hesscope::cli {
namespace {

class TrainCommand final : public RunCommand {
 public:
  std::string name() const override { return "train"; }

  std::string summary() const override {
    return "Train the runs of an experiment file, leaving checkpoints and histories";
  }

  std::string description() const override {
    return "Trains the model of an experiment file by each of its runs from each of its seeds. A "
           "run leaves a folder with checkpoints, a history and a problem file, which hesscope "
           "analyze and landscape take. An interrupted training continues with the same command, "
           "and ends with the same bytes.";
  }

  std::vector<std::string> examples() const override {
    return {
        "hesscope train experiment.toml -o runs",
        "hesscope train experiment.toml -o adam --run adam --seed 0",
        "hesscope train experiment.toml -o edge --run adam --seed 0 --monitor edge",
        "hesscope analyze adam --problem adam/problem.toml -o adam.h5",
    };
  }

  void declare(OptionTable& options) override {
    options.group("Input");
    options.positional("EXPERIMENT", experiment_, "Experiment file: model, data, training, runs");
    plugins_.declare(options);
    options.text("--run", run_, "NAME", "Train only the [[run]] of this name");
    options.setting({.name = "seed",
                     .type = SettingKey::Type::kInteger,
                     .meaning = "train from this seed alone, listed in the file or not",
                     .minimum = 0},
                    settings_);
    options.list("--monitor",
                 monitors_,
                 "NAMES",
                 "Analyzers that look at each row of the history, besides those of the file; edge: "
                 "is it at its edge of stability?");
    declare_run(options,
                "DIR",
                "Folder to write to; each of several runs or seeds has its own, DIR/RUN/seed-K",
                "Replace the training that is there, if it is another one",
                "Check the inputs and estimate memory and time; train nothing")
        .required();
    options
        .flag("--resume",
              resume_,
              "Continue an interrupted training; the same command without this option does so, too")
        .unrecorded();
  }

 private:
  std::string kept_in() const override { return output_; }

  TrainingRequest make_request() const {
    refuse_carried_experiment();
    plugins_.apply();
    TrainingRequest request;
    fill(request);
    request.experiment = experiment_;
    request.run = run_;
    request.monitors = monitors_;
    if (settings_.contains("seed")) {
      request.seed = static_cast<std::uint64_t>(std::get<std::int64_t>(settings_.at("seed")));
    }
    request.command = recorded();
    return request;
  }

  void refuse_carried_experiment() const {
    std::error_code none;
    if (std::filesystem::exists(experiment_, none)) return;
    const auto carried = built_in_experiments();
    const auto found = std::ranges::find(carried, experiment_, &BuiltInExperiment::name);
    if (found == carried.end()) return;
    throw UsageError(
        fmt::format("{0}: no such file; the experiment of this name, which the program carries, is "
                    "trained and measured by 'hesscope reproduce {0} -o DIR'",
                    experiment_));
  }

  Report plan() override {
    const TrainingPlan plan = plan_training(make_request());
    Json document = plan_document();
    document["model"] = plan.model_kind;
    document["parameters"] = plan.num_parameters;
    document["samples"] = plan.num_samples;
    document["steps"] = plan.num_steps;
    document["checkpoints"] = plan.num_checkpoints;
    document["runs"] = Json::list();
    for (const TrainingOutcome& outcome : plan.outcomes) {
      document["runs"].push_back({{"run", outcome.run},
                                  {"seed", outcome.seed},
                                  {"folder", outcome.folder.string()},
                                  {"was_finished", outcome.was_finished}});
    }
    add_foreseen(document, plan);
    return {
        .document = document,
        .text = facts_text(
            {{"model", plan.model_kind},
             {"parameters", fmt::to_string(plan.num_parameters)},
             {"evaluated on", fmt::format("{} samples", plan.num_samples)},
             {"runs", fmt::to_string(plan.outcomes.size())},
             {"steps", fmt::format("{} of each", plan.num_steps)},
             {"checkpoints", fmt::format("{} of each", plan.num_checkpoints)},
             {"memory", "about " + bytes_text(plan.peak_memory_bytes)},
             {"time", "about " + duration_text(plan.seconds)},
             {"output", output_text(plan.is_done_already, plan.output_refusal, plan.is_begun)}}),
        .warnings = plan.warnings};
  }

  Report compute(const std::stop_token& stop, const ShowProgress& progress) override {
    TrainingRequest request = make_request();
    request.stop = stop;
    const TrainingResult result = run_training(
        request, [&](double fraction) { return progress("training", 0, 1, fraction); });
    if (result.part) return part_report(*result.part, "runs", warnings_of(result));
    return {.document = document_of(result),
            .text = summary_of(result),
            .warnings = warnings_of(result),
            .is_conclusive = result.is_conclusive};
  }

  Json document_of(const TrainingResult& result) const {
    Json document = result_document();
    document["runs"] = Json::list();
    for (const TrainingOutcome& outcome : result.outcomes) {
      Json entry = {{"run", outcome.run},
                    {"seed", outcome.seed},
                    {"folder", outcome.folder.string()},
                    {"status", to_string(outcome.status)},
                    {"steps", outcome.num_steps}};
      entry["diverged_in_step"] =
          outcome.status == Status::kOk ? Json() : Json(outcome.num_steps + 1);
      entry["resumed_at"] = outcome.resumed_at;
      entry["was_finished"] = outcome.was_finished;
      entry["checkpoints_made_again"] = outcome.made_again;
      set_number(entry, "loss", outcome.loss, status_of(outcome.loss));
      set_number(entry, "gradient_norm", outcome.gradient_norm, status_of(outcome.gradient_norm));
      entry["seconds"] = outcome.seconds;
      entry["warnings"] = outcome.warnings;
      document["runs"].push_back(entry);
    }
    document["done_already"] = is_done_already(result);
    document["warnings"] = with_flags(warnings_of(result));
    document["timings"] = {{"total_seconds", result.total_seconds}};
    return document;
  }

  std::string summary_of(const TrainingResult& result) const {
    std::vector<std::vector<std::string>> rows = {
        {"run", "seed", "steps", "loss", "gradient_norm", "", "folder"}};
    for (const TrainingOutcome& outcome : result.outcomes) {
      rows.push_back({outcome.run,
                      fmt::to_string(outcome.seed),
                      fmt::to_string(outcome.num_steps),
                      cell_text(outcome.loss, status_of(outcome.loss)),
                      cell_text(outcome.gradient_norm, status_of(outcome.gradient_norm)),
                      outcome.status == Status::kOk ? remark(outcome) : "diverged",
                      outcome.folder.string()});
    }
    return table_text(rows) + "\n" + ending_text(is_done_already(result), result.total_seconds);
  }

  static std::vector<std::string> warnings_of(const TrainingResult& result) {
    std::vector<std::string> warnings = result.remarks;
    for (const TrainingOutcome& outcome : result.outcomes) {
      warnings.insert(warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
      if (outcome.status == Status::kOk) continue;
      warnings.push_back(fmt::format(
          "run '{}' from seed {} diverged in step {}: its loss, gradient or parameters are not "
          "finite, or its loss was above loss_limit ten times in a row",
          outcome.run,
          outcome.seed,
          outcome.num_steps + 1));
    }
    return warnings;
  }

  static Status status_of(double number) {
    return std::isfinite(number) ? Status::kOk : Status::kNonFinite;
  }

  static bool is_done_already(const TrainingResult& result) {
    return std::ranges::all_of(result.outcomes, [](const TrainingOutcome& outcome) {
      return outcome.was_finished && outcome.made_again.empty();
    });
  }

  static std::string remark(const TrainingOutcome& outcome) {
    if (outcome.was_finished) return "was finished";
    return outcome.resumed_at > 0 ? fmt::format("went on from {}", outcome.resumed_at) : "";
  }

  std::string experiment_;
  std::string run_;
  std::vector<std::string> monitors_;
  PluginOption plugins_;
  std::map<std::string, SettingValue> settings_;
  bool resume_ = false;
};

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace hesscope::cli
