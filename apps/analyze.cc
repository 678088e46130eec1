// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/analyzers/option_error.h>
#include <hesscope/core/error.h>
#include <hesscope/core/shell.h>
#include <hesscope/core/version.h>
#include <hesscope/storage/unit_folder.h>

#include "checkpoint_options.h"
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

class AnalyzeCommand final : public Command {
 public:
  std::string name() const override { return "analyze"; }

  std::string summary() const override {
    return "Exact Hessian, spectrum and condition numbers of checkpoints";
  }

  std::vector<std::string> examples() const override {
    return {
        "hesscope analyze checkpoints/ --problem problem.toml -o result.h5",
        "hesscope analyze step-000500.npz --problem problem.toml -o result.h5 --only condition "
        "--json",
        "hesscope analyze epoch-10.pt --problem problem.toml -o result.h5 --key model_state_dict",
        "hesscope analyze checkpoints/ --problem problem.toml -o result.h5 --dry-run",
    };
  }

  void declare(OptionTable& options) override {
    checkpoints_.declare(options,
                         "Checkpoint files, or folders of them: of the files named step-N.*, or "
                         "else of the largest set named alike but for numbers, as epoch_5.pt. The "
                         "files of one folder are one training run");
    options.text("-p,--problem", problem_, "FILE.toml", "Problem file: model and data", true);
    options.group("Output");
    options.text("-o,--output", output_, "OUT.h5", "Result file to write", true);
    run_options_.declare(options,
                         "Replace an existing result",
                         "Check the inputs and estimate memory and time; compute nothing");
    options.seed("--seed", seed_, "Seed of all random numbers (default: 0)");
    options.group("Eigenvalues");
    options.choice("--method",
                   method_,
                   {"auto", "dense", "iterative", "matrix-free"},
                   "How to find them (default: auto)\n"
                   "dense: all of them, by a full decomposition\n"
                   "iterative: the smallest, the median and the largest, proved by counts\n"
                   "matrix-free: the smallest and the largest, by Hessian-vector products; not "
                   "proved\n"
                   "auto: dense up to 20,000 parameters, then matrix-free");
    declare_analyzers(options);
  }

  // Each analyzer with its options, and --NAME for one that does not run by default.
  void declare_analyzers(OptionTable& options) {
    std::vector<std::string> defaults;
    for (const AnalyzerKind& entry : analyzer_kinds()) {
      if (entry.by_default) defaults.push_back(entry.name);
    }
    options.group("Analyzers: what to compute");
    options.list("--only",
                 only_,
                 "NAMES",
                 fmt::format("Run these and no others, separated by commas (default: {}). Any "
                             "option of an analyzer below runs it, too",
                             fmt::join(defaults, ",")));
    for (const AnalyzerKind& entry : analyzer_kinds()) {
      options.group(fmt::format("Analyzer {}{}: {}",
                                entry.name,
                                entry.by_default ? " (runs by default)" : "",
                                entry.question));
      bool has_own_name = false;
      for (const SettingKey& key : entry.options) {
        has_own_name = has_own_name || key.name == entry.name;
      }
      if (!entry.by_default && !has_own_name) {
        options.flag("--" + entry.name, also_[entry.name], "Run it");
      }
      for (const SettingKey& key : entry.options) options.setting(key, settings_);
    }
  }

  ExitCode run() override {
    try {
      return analyze();
    } catch (const OptionError& error) {
      print_usage_error(name(), fmt::format("--{}: {}", error.key(), error.problem()));
      return ExitCode::kUsage;
    }
  }

  std::string on_interrupt() const override {
    return io::has_units(output_)
               ? resumption_text(output_ + ".units", command_text(), output_, run_options_.force)
               : Command::on_interrupt();
  }

 private:
  ExitCode analyze() const {
    AnalysisRequest request = make_request();
    if (run_options_.dry_run) return show_plan(plan_analysis(request));
    ProgressLine progress(name(), run_options_.quiet);
    std::vector<CheckpointFile> ordered;
    request.on_order = [&](std::span<const CheckpointFile> files) {
      ordered.assign(files.begin(), files.end());
    };
    const AnalysisResult result = interruptibly(*this, [&](const std::stop_token& stop) {
      request.stop = stop;
      return run_analysis(request, [&](std::size_t index, std::size_t count, double fraction) {
        progress.show(ordered[index].path.filename().string(), index, count, fraction);
        return caught_signal() == 0;
      });
    });
    progress.clear();
    if (run_options_.json) {
      print_json(document_of(result));
    } else if (!run_options_.quiet) {
      print_summary(result);
    }
    for (const std::string& warning : with_flags(result.warnings)) {
      print_message("hesscope analyze: warning: {}\n", warning);
    }
    return result.is_conclusive ? ExitCode::kDone : ExitCode::kInconclusive;
  }

  AnalysisRequest make_request() const {
    AnalysisRequest request;
    checkpoints_.fill(request);
    request.problem = problem_;
    request.output = output_;
    request.only = only_;
    for (const auto& [name, is_wanted] : also_) {
      if (is_wanted) request.also.push_back(name);
    }
    request.options = settings_;
    request.seed = seed_;
    request.method = method_ == "iterative"     ? SpectrumMethod::kIterative
                     : method_ == "dense"       ? SpectrumMethod::kDense
                     : method_ == "matrix-free" ? SpectrumMethod::kMatrixFree
                                                : SpectrumMethod::kAuto;
    request.overwrite = run_options_.force.overwrite();
    request.num_threads = run_options_.threads;
    request.command = command_text();
    return request;
  }

  // The command without what cannot change a result.
  std::string command_text() const {
    return fmt::format("hesscope analyze {} --problem {}{}{}{}{}{}",
                       shell_words(checkpoints_.paths),
                       shell_word(problem_),
                       only_.empty() ? "" : fmt::format(" --only {}", fmt::join(only_, ",")),
                       method_ == "auto" ? "" : " --method " + method_,
                       checkpoints_.arguments(),
                       analyzer_arguments(),
                       seed_ == 0 ? "" : fmt::format(" --seed {}", seed_));
  }

  std::string analyzer_arguments() const {
    std::string arguments;
    for (const auto& [name, is_wanted] : also_) {
      if (is_wanted) arguments += " --" + name;
    }
    for (const auto& [name, value] : settings_) {
      arguments += " --" + name;
      if (const auto* text = std::get_if<std::string>(&value))
        arguments += fmt::format(" {}", shell_word(*text));
      if (const auto* number = std::get_if<std::int64_t>(&value)) {
        arguments += fmt::format(" {}", *number);
      }
      if (const auto* real = std::get_if<double>(&value)) arguments += fmt::format(" {}", *real);
    }
    return arguments;
  }

  ExitCode show_plan(const AnalysisPlan& plan) const {
    if (run_options_.json) {
      Json document;
      document["command"] = "analyze";
      document["dry_run"] = true;
      document["output"] = output_;
      document["model"] = plan.model_kind;
      document["checkpoints"] = plan.num_checkpoints;
      document["non_finite_checkpoints"] = plan.num_non_finite;
      document["parameters"] = plan.num_parameters;
      document["samples"] = plan.num_samples;
      document["analyzers"] = plan.analyzers;
      document["peak_memory_bytes"] = plan.peak_memory_bytes;
      document["seconds"] = plan.seconds;
      document["done_already"] = plan.is_done_already;
      document["warnings"] = with_flags(plan.warnings);
      print_json(document);
    } else if (!run_options_.quiet) {
      print_text(
          "model        {}\ncheckpoints  {}\nparameters   {}\nsamples      {}\nanalyzers    {}\n"
          "memory       about {}\ntime         about {}\noutput       {} ({})\n",
          plan.model_kind,
          plan.num_checkpoints,
          plan.num_parameters,
          plan.num_samples,
          fmt::join(plan.analyzers, ", "),
          bytes_text(plan.peak_memory_bytes),
          duration_text(plan.seconds),
          output_,
          output_state(output_, run_options_.force, plan.is_done_already));
      if (plan.num_non_finite > 0) {
        print_text("non-finite   the weights of {} of the checkpoints\n", plan.num_non_finite);
      }
    }
    for (const std::string& warning : with_flags(plan.warnings)) {
      print_message("hesscope analyze: warning: {}\n", warning);
    }
    return ExitCode::kDone;
  }

  Json document_of(const AnalysisResult& result) const {
    Json document;
    document["command"] = "analyze";
    document["hesscope_version"] = kVersion;
    document["output"] = output_;
    document["checkpoints"] = Json::array();
    for (const CheckpointSummary& summary : result.checkpoints) {
      document["checkpoints"].push_back(json_of(summary));
    }
    if (!result.run_numbers.empty()) add_numbers(document["run"], result.run_numbers);
    document["done_already"] = result.is_done_already;
    document["warnings"] = with_flags(result.warnings);
    document["timings"] = {{"load_seconds", result.timings.load_seconds},
                           {"hessian_seconds", result.timings.hessian_seconds},
                           {"eigen_seconds", result.timings.eigen_seconds},
                           {"write_seconds", result.timings.write_seconds},
                           {"total_seconds", result.timings.total_seconds}};
    return document;
  }

  // One table for each group of the result file, so that the lines stay short.
  void print_summary(const AnalysisResult& result) const {
    const std::vector<std::string> names = short_names(result.checkpoints);
    std::vector<std::vector<std::string>> rows = {{"/", "loss", "gradient_norm"}};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const CheckpointSummary& summary = result.checkpoints[i];
      rows.push_back(
          {names[i],
           cell_text(summary.loss, std::isfinite(summary.loss) ? Status::kOk : summary.status),
           cell_text(summary.gradient_norm, summary.status)});
    }
    print_text("{}", table_text(rows));

    const auto& columns = result.checkpoints.front().numbers;
    for (std::size_t first = 0, last = 0; first < columns.size(); first = last) {
      while (last < columns.size() && columns[last].analyzer == columns[first].analyzer) ++last;
      rows.assign(1, {"/" + columns[first].analyzer});
      rows.resize(1 + names.size());
      for (std::size_t c = first; c < last; ++c) rows[0].push_back(columns[c].name);
      for (std::size_t i = 0; i < names.size(); ++i) {
        rows[i + 1].push_back(names[i]);
        for (std::size_t c = first; c < last; ++c) {
          const HeadlineNumber& number = result.checkpoints[i].numbers[c];
          rows[i + 1].push_back(number.word.empty() ? cell_text(number.value, number.status)
                                                    : number.word);
        }
      }
      print_text("\n{}", table_text(rows));
    }
    for (auto first = result.run_numbers.begin(), last = first; first != result.run_numbers.end();
         first = last) {
      rows = {{"/" + first->analyzer}, {"all checkpoints"}};
      for (; last != result.run_numbers.end() && last->analyzer == first->analyzer; ++last) {
        rows[0].push_back(last->name);
        rows[1].push_back(cell_text(last->value, last->status));
      }
      print_text("\n{}", table_text(rows));
    }
    print_text("\n");
    print_legend(result);
    print_text("{}", ending_text(output_, result.is_done_already, result.timings.total_seconds));
  }

  // The groups with headline numbers of this status.
  static std::set<std::string> groups_with(const AnalysisResult& result, Status status) {
    std::set<std::string> groups;
    const auto note = [&](const std::vector<HeadlineNumber>& numbers) {
      for (const HeadlineNumber& number : numbers) {
        if (number.status == status) groups.insert(number.analyzer);
      }
    };
    for (const CheckpointSummary& summary : result.checkpoints) note(summary.numbers);
    note(result.run_numbers);
    return groups;
  }

  // The groups with a '-' or "not stored", each with what it takes.
  static void print_missing(const AnalysisResult& result) {
    for (const std::string& group : groups_with(result, Status::kNotComputed)) {
      const std::string& takes = find_analyzer_kind(group).on_missing;
      print_text("- in /{}: not computed{}{}\n", group, takes.empty() ? "" : "; ", takes);
    }
    for (const std::string& group : groups_with(result, Status::kNotStored)) {
      const std::string& takes = find_analyzer_kind(group).on_not_stored;
      print_text(
          "not stored in /{}: the checkpoint does not hold what the number is made from{}{}\n",
          group,
          takes.empty() ? "" : "; ",
          takes);
    }
  }

  static void print_legend(const AnalysisResult& result) {
    print_missing(result);
    const auto has = [&result](Status status) {
      return std::any_of(
          result.checkpoints.begin(), result.checkpoints.end(), [status](const auto& summary) {
            return std::any_of(summary.numbers.begin(),
                               summary.numbers.end(),
                               [status](const auto& number) { return number.status == status; });
          });
    };
    if (has(Status::kUndefinedZeroMedian)) {
      print_text("zero median: the median is zero within rounding, so the ratio is undefined\n");
    }
    if (has(Status::kUndefinedNotPositiveDefinite)) {
      print_text("not-p.d.: the smallest eigenvalue is not above zero beyond rounding\n");
    }
  }

  // File names; the folder before them where they alone do not tell the checkpoints apart.
  static std::vector<std::string> short_names(const std::vector<CheckpointSummary>& checkpoints) {
    std::vector<std::string> names;
    for (const CheckpointSummary& summary : checkpoints) {
      names.push_back(summary.checkpoint.path.filename().string());
    }
    std::vector<std::string> sorted = names;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return names;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::filesystem::path folder = checkpoints[i].checkpoint.path.parent_path().filename();
      names[i] = (folder / names[i]).string();
    }
    return names;
  }

  static std::string cell_text(double value, Status status) {
    return status == Status::kOk ? number_text(value) : std::string(short_text(status));
  }

  static std::string_view short_text(Status status) {
    switch (status) {
      case Status::kNotComputed:
        return "-";
      case Status::kUndefinedZeroMedian:
        return "zero median";
      case Status::kUndefinedNotPositiveDefinite:
        return "not-p.d.";
      case Status::kNotStored:
        return "not stored";
      case Status::kUndefinedTooFewPoints:
        return "too few points";
      default:
        return to_string(status);
    }
  }

  CheckpointOptions checkpoints_;
  std::string problem_;
  std::string output_;
  std::vector<std::string> only_;
  std::string method_ = "auto";
  std::map<std::string, bool> also_;  // by the names of analyzers that do not run by default
  std::map<std::string, SettingValue> settings_;
  std::uint64_t seed_ = 0;
  RunOptions run_options_;
};

}  // namespace

std::unique_ptr<Command> make_analyze_command() { return std::make_unique<AnalyzeCommand>(); }

}  // namespace hesscope::cli
