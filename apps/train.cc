// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/shell.h>
#include <hesscope/core/version.h>
#include <hesscope/reproduction/built_in_experiments.h>
#include <hesscope/training/training.h>

#include "commands.h"
#include "interrupt.h"
#include "json_document.h"
#include "output_text.h"
#include "progress_line.h"
#include "run_options.h"
#include "standard_streams.h"
#include "table.h"

namespace hesscope::cli {
namespace {

class TrainCommand final : public Command {
 public:
  std::string name() const override { return "train"; }

  std::string summary() const override {
    return "Train the runs of an experiment file, leaving checkpoints and histories";
  }

  std::vector<std::string> examples() const override {
    return {
        "hesscope train experiment.toml -o runs",
        "hesscope train experiment.toml -o adam --run adam --seed 0",
        "hesscope analyze adam --problem adam/problem.toml -o adam.h5",
    };
  }

  void declare(OptionTable& options) override {
    options.group("Input");
    options.positional("EXPERIMENT", experiment_, "Experiment file: model, data, training, runs");
    options.text("--run", run_, "NAME", "Train only the [[run]] of this name");
    options.setting({.name = "seed",
                     .type = SettingKey::Type::kInteger,
                     .meaning = "train from this seed alone, listed in the file or not",
                     .minimum = 0},
                    settings_);
    options.group("Output");
    options.text("-o,--output",
                 output_,
                 "DIR",
                 "Folder to write to; each of several runs or seeds has its own, DIR/RUN/seed-K",
                 true);
    run_options_.declare(options,
                         "Replace the training that is there, if it is another one",
                         "Check the inputs and estimate memory and time; train nothing");
    options.flag(
        "--resume",
        resume_,
        "Continue an interrupted training; the same command without this option does so, too");
  }

  ExitCode run() override {
    TrainingRequest request = make_request();
    if (run_options_.dry_run) return show_plan(plan_training(request));
    ProgressLine progress(name(), run_options_.quiet);
    const TrainingResult result = interruptibly(*this, [&](const std::stop_token& stop) {
      request.stop = stop;
      return run_training(request, [&](double fraction) {
        progress.show("training", 0, 1, fraction);
        return caught_signal() == 0;
      });
    });
    progress.clear();
    if (run_options_.json) {
      print_json(document_of(result));
    } else if (!run_options_.quiet) {
      print_summary(result);
    }
    for (const TrainingOutcome& outcome : result.outcomes) {
      for (const std::string& warning : outcome.warnings) {
        print_message("hesscope train: warning: {}\n", warning);
      }
      if (outcome.status == Status::kOk) continue;
      print_message(
          "hesscope train: warning: run '{}' from seed {} diverged in step {}: its loss, "
          "gradient or parameters are not finite, or its loss was above loss_limit ten "
          "times in a row\n",
          outcome.run,
          outcome.seed,
          outcome.num_steps + 1);
    }
    return result.is_conclusive ? ExitCode::kDone : ExitCode::kInconclusive;
  }

  std::string on_interrupt() const override {
    return resumption_text(output_, command_text(), output_, run_options_.force);
  }

 private:
  TrainingRequest make_request() const {
    refuse_carried_experiment();
    TrainingRequest request;
    request.experiment = experiment_;
    request.output = output_;
    request.run = run_;
    if (settings_.contains("seed")) {
      request.seed = static_cast<std::uint64_t>(std::get<std::int64_t>(settings_.at("seed")));
    }
    request.overwrite = run_options_.force.overwrite();
    request.num_threads = run_options_.threads;
    request.command = command_text();
    return request;
  }

  void refuse_carried_experiment() const {
    std::error_code none;
    if (std::filesystem::exists(experiment_, none)) return;
    const auto carried = built_in_experiments();
    const auto found = std::ranges::find(carried, experiment_, &BuiltInExperiment::name);
    if (found == carried.end()) return;
    throw ConfigError(
        fmt::format("{0}: no such file; the experiment of this name, which the program carries, is "
                    "trained and measured by 'hesscope reproduce {0} -o DIR'",
                    experiment_));
  }

  // The command without what cannot change a result.
  std::string command_text() const {
    return fmt::format("hesscope train {}{}{}",
                       shell_word(experiment_),
                       run_.empty() ? "" : fmt::format(" --run {}", shell_word(run_)),
                       settings_.contains("seed")
                           ? fmt::format(" --seed {}", std::get<std::int64_t>(settings_.at("seed")))
                           : "");
  }

  ExitCode show_plan(const TrainingPlan& plan) const {
    if (run_options_.json) {
      Json document;
      document["command"] = "train";
      document["dry_run"] = true;
      document["output"] = output_;
      document["model"] = plan.model_kind;
      document["parameters"] = plan.num_parameters;
      document["samples"] = plan.num_samples;
      document["steps"] = plan.num_steps;
      document["checkpoints"] = plan.num_checkpoints;
      document["runs"] = Json::array();
      for (const TrainingOutcome& outcome : plan.outcomes) {
        document["runs"].push_back(
            {{"run", outcome.run}, {"seed", outcome.seed}, {"folder", outcome.folder.string()}});
      }
      document["peak_memory_bytes"] = plan.peak_memory_bytes;
      document["seconds"] = plan.seconds;
      print_json(document);
    } else if (!run_options_.quiet) {
      print_text(
          "model        {}\nparameters   {}\nevaluated on {} samples\nruns         {}\n"
          "steps        {} of each\ncheckpoints  {} of each\nmemory       about {}\n"
          "time         about {}\noutput       {} (not written: dry run)\n",
          plan.model_kind,
          plan.num_parameters,
          plan.num_samples,
          plan.outcomes.size(),
          plan.num_steps,
          plan.num_checkpoints,
          bytes_text(plan.peak_memory_bytes),
          duration_text(plan.seconds),
          output_);
    }
    return ExitCode::kDone;
  }

  Json document_of(const TrainingResult& result) const {
    Json document;
    document["command"] = "train";
    document["hesscope_version"] = kVersion;
    document["output"] = output_;
    document["runs"] = Json::array();
    for (const TrainingOutcome& outcome : result.outcomes) {
      Json entry;
      entry["run"] = outcome.run;
      entry["seed"] = outcome.seed;
      entry["folder"] = outcome.folder.string();
      entry["status"] = to_string(outcome.status);
      entry["steps"] = outcome.num_steps;
      entry["diverged_in_step"] =
          outcome.status == Status::kOk ? Json(nullptr) : Json(outcome.num_steps + 1);
      entry["resumed_at"] = outcome.resumed_at;
      entry["was_finished"] = outcome.was_finished;
      entry["checkpoints_made_again"] = outcome.made_again;
      entry["loss"] = json_number(outcome.loss);
      entry["gradient_norm"] = json_number(outcome.gradient_norm);
      entry["seconds"] = json_number(outcome.seconds);
      entry["warnings"] = outcome.warnings;
      document["runs"].push_back(entry);
    }
    document["done_already"] = is_done_already(result);
    document["timings"] = {{"total_seconds", result.total_seconds}};
    return document;
  }

  void print_summary(const TrainingResult& result) const {
    std::vector<std::vector<std::string>> rows = {
        {"run", "seed", "steps", "loss", "gradient_norm", "", "folder"}};
    for (const TrainingOutcome& outcome : result.outcomes) {
      rows.push_back({outcome.run,
                      fmt::format("{}", outcome.seed),
                      fmt::format("{}", outcome.num_steps),
                      number_text(outcome.loss),
                      number_text(outcome.gradient_norm),
                      outcome.status == Status::kOk ? remark(outcome) : "diverged",
                      outcome.folder.string()});
    }
    print_text("{}\n", table_text(rows));
    print_text("{}", ending_text(output_, is_done_already(result), result.total_seconds));
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
  std::string output_;
  std::string run_;
  std::map<std::string, SettingValue> settings_;
  bool resume_ = false;
  RunOptions run_options_;
};

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace hesscope::cli
