// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/shell.h>
#include <hesscope/core/version.h>
#include <hesscope/problem/experiment_keys.h>
#include <hesscope/reproduction/reproduction.h>

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

std::string minutes_text(const std::optional<double>& minutes) {
  return minutes ? fmt::format("{:.3g}", *minutes) : "-";
}

Json minutes_json(const std::optional<double>& minutes) {
  return minutes ? json_number(*minutes) : Json(nullptr);
}

Json json_of(const ExperimentSummary& about) {
  return {{"name", about.name},
          {"title", about.title},
          {"paper", about.paper},
          {"figures", about.figures},
          {"minutes_paper", minutes_json(about.minutes_paper)},
          {"minutes_quick", minutes_json(about.minutes_quick)}};
}

class ReproduceCommand final : public Command {
 public:
  std::string name() const override { return "reproduce"; }

  std::string summary() const override {
    return "Figures and tables of papers, from training to drawing";
  }

  std::vector<std::string> examples() const override {
    return {
        "hesscope reproduce --list",
        "hesscope reproduce la-settings -o results --scale quick",
        "hesscope reproduce la-depth -o results --set training.seeds=[0]",
        "hesscope reproduce my-experiment.toml -o results",
        "hesscope reproduce --keys",
    };
  }

  void declare(OptionTable& options) override {
    options.group("Input");
    options.positionals("EXPERIMENT",
                        experiments_,
                        "Experiments that --list names, or files ending in .toml; none: all that "
                        "--list names",
                        false);
    options.text("--scale",
                 scale_,
                 "NAME",
                 "How much to compute (default: paper)\npaper: as published\nquick: few steps and "
                 "samples, to see that it works\nor another [scale.NAME] of an experiment file");
    options.repeated("--set",
                     overrides_,
                     "KEY=VALUE",
                     "Change a key of the experiments, as in training.steps=100 or "
                     "run.adam.learning_rate=0.01; stronger than the scale");
    options.group("Output");
    options.text("-o,--output",
                 output_,
                 "DIR",
                 "Folder to write to; each experiment has its own, DIR/EXPERIMENT");
    options.flag("--list", list_, "Print the names of all experiments");
    options.flag("--keys", keys_, "Print which keys an experiment file takes");
    run_options_.declare(
        options,
        "Replace what is there, if it is of something else",
        "Check the experiments and estimate memory and time of training; write nothing");
  }

  ExitCode run() override {
    if (list_) return show_list();
    if (keys_) return show_keys();
    if (output_.empty() && !run_options_.dry_run) {
      throw ConfigError(
          "'--output' is missing: the folder of the results; --list names the "
          "experiments");
    }
    if (scale_.empty()) scale_ = "paper";
    ReproductionRequest request{.experiments = experiments_,
                                .output = output_,
                                .scale = scale_,
                                .overrides = overrides_,
                                .overwrite = run_options_.force.overwrite(),
                                .num_threads = run_options_.threads,
                                .stop = {}};
    if (run_options_.dry_run) return show_plan(plan_reproduction(request));
    ProgressLine progress(name(), run_options_.quiet);
    const ReproductionResult result = interruptibly(*this, [&](const std::stop_token& stop) {
      request.stop = stop;
      return run_reproduction(
          request,
          [&](const std::string& what, std::size_t index, std::size_t count, double fraction) {
            progress.show(what, index, count, fraction);
            return caught_signal() == 0;
          });
    });
    progress.clear();
    if (run_options_.json) {
      print_json(document_of(result));
    } else if (!run_options_.quiet) {
      print_summary(result);
    }
    warn(result);
    return result.is_conclusive ? ExitCode::kDone : ExitCode::kInconclusive;
  }

  std::string on_interrupt() const override {
    const std::string command =
        fmt::format("hesscope reproduce{}{}{}",
                    experiments_.empty() ? "" : " ",
                    shell_words(experiments_),
                    scale_ == "paper" ? "" : fmt::format(" --scale {}", shell_word(scale_))) +
        overrides_text();
    return resumption_text(output_, command, output_, run_options_.force);
  }

 private:
  std::string overrides_text() const {
    std::string text;
    for (const std::string& each : overrides_) text += fmt::format(" --set {}", shell_word(each));
    return text;
  }

  ExitCode show_list() const {
    if (run_options_.json) {
      Json document;
      document["command"] = "reproduce";
      document["experiments"] = Json::array();
      for (const ExperimentSummary& about : list_experiments()) {
        document["experiments"].push_back(json_of(about));
      }
      print_json(document);
      return ExitCode::kDone;
    }
    if (run_options_.quiet) return ExitCode::kDone;
    std::vector<std::vector<std::string>> rows = {
        {"experiment", "paper", "figures", "minutes", "quick"}};
    for (const ExperimentSummary& about : list_experiments()) {
      rows.push_back({about.name,
                      about.paper,
                      about.figures,
                      minutes_text(about.minutes_paper),
                      minutes_text(about.minutes_quick)});
    }
    print_text(
        "{}\nminutes: on two cores, as the experiment files state them; '-' = not measured\n",
        table_text(rows, 3));
    return ExitCode::kDone;
  }

  ExitCode show_keys() const {
    Json tables = Json::array();
    for (const FileTable& table : experiment_file_tables()) {
      Json keys = Json::array();
      std::vector<std::vector<std::string>> rows = {{"  key", "takes", "if absent", "meaning"}};
      const auto add = [&](const std::string& name,
                           const std::string& takes,
                           const std::string& absent,
                           const std::string& meaning) {
        rows.push_back({"  " + name, takes, absent, meaning});
        keys.push_back(
            {{"name", name}, {"takes", takes}, {"absent", absent}, {"meaning", meaning}});
      };
      for (const SettingKey& key : table.keys) {
        add(key.name, type_text(key), absent_text(key), key.meaning);
      }
      for (const ListKey& key : table.lists) {
        add(key.name, "list", key.absent.empty() ? "optional" : key.absent, key.meaning);
      }
      tables.push_back({{"heading", table.heading}, {"summary", table.summary}, {"keys", keys}});
      if (!run_options_.json && !run_options_.quiet) {
        print_text("{}\n  {}\n{}\n",
                   table.heading,
                   table.summary,
                   rows.size() > 1 ? table_text(rows, 4) : "");
      }
    }
    if (run_options_.json) print_json({{"command", "reproduce"}, {"tables", tables}});
    return ExitCode::kDone;
  }

  ExitCode show_plan(const std::vector<PlannedExperiment>& plans) const {
    double seconds = 0;
    std::vector<std::vector<std::string>> rows = {
        {"experiment", "figures", "variants", "runs", "memory", "training"}};
    Json experiments = Json::array();
    for (const PlannedExperiment& plan : plans) {
      seconds += plan.training_seconds;
      rows.push_back({plan.about.name,
                      fmt::format("{}", fmt::join(plan.figures, ", ")),
                      fmt::format("{}", plan.num_variants),
                      fmt::format("{}", plan.num_runs),
                      bytes_text(plan.peak_memory_bytes),
                      duration_text(plan.training_seconds)});
      Json entry = json_of(plan.about);
      entry["figure_names"] = plan.figures;
      entry["variants"] = plan.num_variants;
      entry["runs"] = plan.num_runs;
      entry["peak_memory_bytes"] = plan.peak_memory_bytes;
      entry["training_seconds"] = plan.training_seconds;
      experiments.push_back(entry);
    }
    if (run_options_.json) {
      print_json({{"command", "reproduce"},
                  {"dry_run", true},
                  {"scale", scale_},
                  {"output", output_},
                  {"experiments", experiments}});
    } else if (!run_options_.quiet) {
      print_text(
          "{}\ntraining takes about {} at the scale '{}'; measures come on top\noutput {} "
          "(not written: dry run)\n",
          table_text(rows, 2),
          duration_text(seconds),
          scale_,
          output_);
    }
    return ExitCode::kDone;
  }

  Json document_of(const ReproductionResult& result) const {
    Json document;
    document["command"] = "reproduce";
    document["hesscope_version"] = kVersion;
    document["output"] = output_;
    document["scale"] = scale_;
    document["experiments"] = Json::array();
    for (const ReproducedExperiment& experiment : result.experiments) {
      Json entry = json_of(experiment.about);
      entry["runs"] = experiment.num_runs;
      entry["figure_files"] = Json::array();
      for (const ReproducedFigure& figure : experiment.figures) {
        const std::string path = figure.path.string();
        entry["figure_files"].push_back({{"name", figure.name},
                                         {"kind", figure.kind},
                                         {"published", figure.published},
                                         {"data", path + ".h5"},
                                         {"drawing", path + ".svg"},
                                         {"text", path + ".md"},
                                         {"compared", figure.num_compared},
                                         {"disagreements", figure.disagreements}});
      }
      entry["diverged"] = Json::array();
      for (const DivergedRun& run : experiment.diverged) {
        entry["diverged"].push_back(
            {{"variant", run.variant}, {"run", run.run}, {"seed", run.seed}, {"step", run.step}});
      }
      entry["warnings"] = experiment.warnings;
      entry["seconds"] = experiment.seconds;
      document["experiments"].push_back(entry);
    }
    document["done_already"] = result.is_done_already;
    document["timings"] = {{"total_seconds", result.total_seconds}};
    return document;
  }

  void print_summary(const ReproductionResult& result) const {
    std::vector<std::vector<std::string>> rows = {
        {"experiment", "published", "files (.svg, .h5, .md)", "disagree"}};
    for (const ReproducedExperiment& experiment : result.experiments) {
      for (const ReproducedFigure& figure : experiment.figures) {
        rows.push_back(
            {experiment.about.name,
             figure.published.empty() ? "-" : figure.published,
             figure.path.string(),
             figure.num_compared == 0
                 ? "-"
                 : fmt::format("{} of {}", figure.disagreements.size(), figure.num_compared)});
      }
      if (experiment.figures.empty()) {
        rows.push_back({experiment.about.name, "-", "no figures", "-"});
      }
    }
    print_text("{}\n", table_text(rows, 3));
    for (const ReproducedExperiment& experiment : result.experiments) {
      for (const ReproducedFigure& figure : experiment.figures) {
        for (const std::string& line : figure.disagreements) {
          print_text("{}/{} disagrees: {}\n", experiment.about.name, figure.name, line);
        }
      }
    }
    print_text("{}",
               result.is_done_already
                   ? fmt::format("done already: all in {} was trained and measured before; figures "
                                 "are drawn again\n",
                                 output_)
                   : ending_text(output_, false, result.total_seconds));
  }

  static void warn(const ReproductionResult& result) {
    for (const ReproducedExperiment& experiment : result.experiments) {
      for (const DivergedRun& run : experiment.diverged) {
        print_message(
            "hesscope reproduce: warning: {}: variant '{}', run '{}' from seed {} diverged "
            "in step {}\n",
            experiment.about.name,
            run.variant,
            run.run,
            run.seed,
            run.step);
      }
      for (const std::string& warning : experiment.warnings) {
        print_message("hesscope reproduce: warning: {}\n", warning);
      }
    }
  }

  std::vector<std::string> experiments_;
  std::string output_;
  std::string scale_;
  std::vector<std::string> overrides_;
  bool list_ = false;
  bool keys_ = false;
  RunOptions run_options_;
};

}  // namespace

std::unique_ptr<Command> make_reproduce_command() { return std::make_unique<ReproduceCommand>(); }

}  // namespace hesscope::cli
