// SPDX-License-Identifier: BSD-3-Clause
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/shell.h>
#include <hesscope/problem/experiment_keys.h>
#include <hesscope/reproduction/reproduction.h>

#include "commands.h"
#include "interrupt.h"
#include "json_document.h"
#include "plugin_option.h"
#include "progress_line.h"
#include "run_command.h"
#include "standard_streams.h"
#include "table.h"

namespace hesscope::cli {
namespace {

const char* const kPaper = "paper";

std::string minutes_text(const std::optional<double>& minutes) {
  return minutes ? fmt::format("{:.3g}", *minutes) : "-";
}

Json json_of(const ExperimentSummary& about) {
  return {{"name", about.name},
          {"title", about.title},
          {"paper", about.paper},
          {"figures", about.figures},
          {"minutes_paper", about.minutes_paper},
          {"minutes_quick", about.minutes_quick}};
}

class ReproduceCommand final : public RunCommand {
 public:
  std::string name() const override { return "reproduce"; }

  std::string summary() const override {
    return "Figures and tables of papers, from training to drawing";
  }

  std::string description() const override {
    return "Trains the runs of experiments, measures what their figures need and draws them: for "
           "each figure a result file, an SVG file and a text that compares it with what was "
           "published. Experiments of several papers are part of the program; an experiment file "
           "of "
           "one's own is taken alike.";
  }

  std::vector<std::string> examples() const override {
    return {
        "hesscope reproduce --list",
        "hesscope reproduce la-settings -o results --scale quick",
        "hesscope reproduce la-depth -o results --set training.seeds=[0,1]",
        "hesscope reproduce my-experiment.toml -o results",
        "hesscope reproduce --keys",
    };
  }

  void declare(OptionTable& options) override {
    options.group("Input");
    options.positionals("EXPERIMENT",
                        experiments_,
                        "Experiments that --list names, or files ending in .toml; none: all that "
                        "--list names");
    plugins_.declare(options);
    options
        .text("--scale",
              scale_,
              "NAME",
              "How much to compute (default: paper)\npaper: as published\nquick: few steps and "
              "samples, to see that it works\nor another [scale.NAME] of an experiment file")
        .offering({"paper", "quick"});
    options.repeated("--set",
                     overrides_,
                     "KEY=VALUE",
                     "Change a key of the experiments, as in training.steps=100 or "
                     "run.adam.learning_rate=0.01; stronger than the scale");
    declare_run(options,
                "DIR",
                "Folder to write to; each experiment has its own, DIR/EXPERIMENT",
                "Replace what is there, if it is of something else",
                "Check the experiments and estimate memory and time of training; write nothing");
    options.group("Output");
    options.flag("--list", list_, "Print the names of all experiments").unrecorded().alone();
    options.flag("--keys", keys_, "Print which keys an experiment file takes").unrecorded().alone();
  }

  ExitCode run() override {
    if (list_) return show_list();
    if (keys_) return show_keys();
    return RunCommand::run();
  }

 private:
  std::string kept_in() const override { return output_; }

  ReproductionRequest make_request() const {
    plugins_.apply();
    ReproductionRequest request;
    fill(request);
    request.experiments = experiments_;
    request.scale = scale();
    request.overrides = overrides_;
    request.command = [request](const std::string& experiment) {
      std::string command = fmt::format(
          "hesscope reproduce {} --scale {}", shell_word(experiment), shell_word(request.scale));
      for (const std::string& each : request.overrides) command += " --set " + shell_word(each);
      return command;
    };
    return request;
  }

  std::string scale() const { return scale_.empty() ? kPaper : scale_; }

  ExitCode show_list() const {
    if (json_) {
      Json document;
      document["command"] = "reproduce";
      document["experiments"] = Json::list();
      for (const ExperimentSummary& about : list_experiments()) {
        document["experiments"].push_back(json_of(about));
      }
      print_json(document);
      return ExitCode::kDone;
    }
    if (quiet_) return ExitCode::kDone;
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
    Json tables = Json::list();
    std::vector<FileTable> all = experiment_file_tables();
    const std::vector<FileTable> further = reproduction_file_tables();
    all.insert(all.end(), further.begin(), further.end());
    for (const FileTable& table : all) {
      Json keys = Json::list();
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
      if (!json_ && !quiet_) {
        print_text("{}\n  {}\n{}\n",
                   table.heading,
                   table.summary,
                   rows.size() > 1 ? table_text(rows, 4) : "");
      }
    }
    if (json_) print_json({{"command", "reproduce"}, {"tables", tables}});
    return ExitCode::kDone;
  }

  Report plan() override {
    const InterruptibleRun interruptible(*this);  // so that temporary inputs are removed
    ReproductionRequest request = make_request();
    request.stop = interruptible.token();
    double seconds = 0;
    std::vector<std::vector<std::string>> rows = {
        {"experiment", "figures", "variants", "runs", "memory", "training"}};
    Json experiments = Json::list();
    for (const PlannedExperiment& plan : plan_reproduction(request)) {
      seconds += plan.training_seconds;
      rows.push_back({plan.about.name,
                      fmt::format("{}", fmt::join(plan.figures, ", ")),
                      fmt::to_string(plan.num_variants),
                      fmt::to_string(plan.num_runs),
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
    Json document = plan_document();
    document["scale"] = scale();
    document["experiments"] = experiments;
    return {.document = document,
            .text = fmt::format(
                "{}\ntraining takes about {} at the scale '{}'; measures come on top\noutput {} "
                "(not written: dry run)\n",
                table_text(rows, 2),
                duration_text(seconds),
                scale(),
                output_)};
  }

  Report compute(const std::stop_token& stop, const ShowProgress& progress) override {
    if (output_.empty()) {
      throw UsageError(
          "--output is required: the folder of the results; --list names the experiments");
    }
    ReproductionRequest request = make_request();
    request.stop = stop;
    const ReproductionResult result = run_reproduction(request, progress);
    Report report = result.part ? part_report(*result.part, "runs", warnings_of(result))
                                : Report{.document = document_of(result),
                                         .text = summary_of(result),
                                         .warnings = warnings_of(result),
                                         .is_conclusive = result.is_conclusive};
    report.failure = failure_of(result);
    return report;
  }

  // The exit code of the first figure that failed.
  static std::optional<ExitCode> failure_of(const ReproductionResult& result) {
    for (const ReproducedExperiment& experiment : result.experiments) {
      if (experiment.failures.empty()) continue;
      try {
        std::rethrow_exception(experiment.failures.front().error);
      } catch (const std::exception& error) {
        return exit_code_of(error);
      }
    }
    return std::nullopt;
  }

  Json document_of(const ReproductionResult& result) const {
    Json document = result_document();
    document["scale"] = scale();
    document["experiments"] = Json::list();
    for (const ReproducedExperiment& experiment : result.experiments) {
      Json entry = json_of(experiment.about);
      entry["runs"] = experiment.num_runs;
      entry["figure_files"] = Json::list();
      for (const ReproducedFigure& figure : experiment.figures) {
        const std::string path = figure.path.string();
        entry["figure_files"].push_back({{"name", figure.name},
                                         {"kind", figure.kind},
                                         {"published", figure.published},
                                         {"data", path + ".h5"},
                                         {"drawing", path + ".svg"},
                                         {"text", path + ".md"},
                                         {"compared", figure.num_compared},
                                         {"disagreements", figure.disagreements},
                                         {"undecided", figure.undecided}});
      }
      entry["failures"] = Json::list();
      for (const FailedFigure& failure : experiment.failures) {
        entry["failures"].push_back(
            {{"figure", failure.name}, {"error", with_flags(failure.message)}});
      }
      entry["diverged"] = Json::list();
      for (const DivergedRun& run : experiment.diverged) {
        entry["diverged"].push_back(
            {{"variant", run.variant}, {"run", run.run}, {"seed", run.seed}, {"step", run.step}});
      }
      entry["warnings"] = experiment.warnings;
      entry["seconds"] = experiment.seconds;
      document["experiments"].push_back(entry);
    }
    document["report"] = result.page.string();
    document["done_already"] = result.is_done_already;
    document["warnings"] = with_flags(warnings_of(result));
    document["timings"] = {{"total_seconds", result.total_seconds}};
    return document;
  }

  // "1 of 4", "1 of 4, 2 open": the number of published values that disagree, and of those that the
  // spreads leave open.
  static std::string disagreement_text(const ReproducedFigure& figure) {
    if (figure.num_compared == 0) return "-";
    const std::string text =
        fmt::format("{} of {}", figure.disagreements.size(), figure.num_compared);
    return figure.undecided.empty() ? text
                                    : fmt::format("{}, {} open", text, figure.undecided.size());
  }

  std::string summary_of(const ReproductionResult& result) const {
    std::vector<std::vector<std::string>> rows = {
        {"experiment", "published", "files (.svg, .h5, .md)", "disagree"}};
    for (const ReproducedExperiment& experiment : result.experiments) {
      for (const ReproducedFigure& figure : experiment.figures) {
        rows.push_back({experiment.about.name,
                        figure.published.empty() ? "-" : figure.published,
                        figure.path.string(),
                        disagreement_text(figure)});
      }
      for (const FailedFigure& failure : experiment.failures) {
        rows.push_back({experiment.about.name, "-", failure.name + " could not be made", "-"});
      }
      if (experiment.figures.empty() && experiment.failures.empty()) {
        rows.push_back({experiment.about.name, "-", "no figures", "-"});
      }
    }
    std::string text = table_text(rows, 3) + "\n";
    for (const ReproducedExperiment& experiment : result.experiments) {
      for (const ReproducedFigure& figure : experiment.figures) {
        for (const std::string& line : figure.disagreements) {
          text += fmt::format("{}/{} disagrees: {}\n", experiment.about.name, figure.name, line);
        }
      }
    }
    text += fmt::format("all figures on one page: {}\n", result.page.string());
    return text + (result.is_done_already
                       ? fmt::format("done already: all in {} was trained and measured before; "
                                     "figures are drawn again\n",
                                     output_)
                       : ending_text(false, result.total_seconds));
  }

  static std::vector<std::string> warnings_of(const ReproductionResult& result) {
    std::vector<std::string> warnings;
    for (const ReproducedExperiment& experiment : result.experiments) {
      for (const DivergedRun& run : experiment.diverged) {
        if (experiment.may_diverge) continue;
        warnings.push_back(
            fmt::format("{}: variant '{}', run '{}' from seed {} diverged in step {}",
                        experiment.about.name,
                        run.variant,
                        run.run,
                        run.seed,
                        run.step));
      }
      for (const FailedFigure& failure : experiment.failures) {
        warnings.push_back(fmt::format("{}: the figure '{}' could not be made: {}",
                                       experiment.about.name,
                                       failure.name,
                                       failure.message));
      }
      warnings.insert(warnings.end(), experiment.warnings.begin(), experiment.warnings.end());
    }
    return warnings;
  }

  std::vector<std::string> experiments_;
  std::string scale_ = kPaper;
  std::vector<std::string> overrides_;
  PluginOption plugins_;
  bool list_ = false;
  bool keys_ = false;
};

}  // namespace

std::unique_ptr<Command> make_reproduce_command() { return std::make_unique<ReproduceCommand>(); }

}  // namespace hesscope::cli
