// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/spectra/distributed_cost.h>

#include "analysis_ending.h"
#include "checkpoint_options.h"
#include "commands.h"
#include "number_tables.h"
#include "progress_line.h"
#include "run_command.h"
#include "table.h"
#include "terminal.h"

namespace hesscope::cli {
namespace {

constexpr const char* kOfRanks = "--method distributed";

class AnalyzeCommand final : public RunCommand {
 public:
  std::string name() const override { return "analyze"; }

  std::string summary() const override {
    return "Exact Hessian, spectrum and condition numbers of checkpoints";
  }

  std::string description() const override {
    return "Computes the exact Hessian of the mean loss at each checkpoint and answers questions "
           "about it, one analyzer each: eigenvalues with a proof, condition numbers, which zero "
           "eigenvalues had to be there, and, where they are asked for, eigenvectors, blocks, the "
           "Gauss-Newton part, stability, spectral density, sampling errors, gradient noise and "
           "smoothness. The problem file says what no checkpoint does: the model, its loss and the "
           "data. A run that was interrupted continues when the same command is given again.";
  }

  std::vector<std::string> examples() const override {
    return {
        "hesscope analyze checkpoints/ --problem problem.toml -o result.h5",
        ("hesscope analyze step-000500.npz --problem problem.toml -o result.h5 --only condition "
         "--json"),
        "hesscope analyze epoch-10.pt --problem problem.toml -o result.h5 --key model_state_dict",
        "hesscope analyze checkpoints/ --problem problem.toml -o result.h5 --dry-run",
        "hesscope analyze checkpoints/ --problem problem.toml -o result.h5 --part 0/8",
    };
  }

  void declare(OptionTable& options) override {
    checkpoints_.declare_files(
        options,
        "Checkpoint files, or folders of them: of the files named step-N.*, or else of the "
        "largest set named alike but for numbers, as epoch_5.pt. The files of one folder are one "
        "training run");
    declare_result_run(options);
    options.group("Eigenvalues");  // above the analyzers
    std::vector<std::string> all;
    std::vector<std::string> defaults;
    for (const AnalyzerKind& kind : analyzer_kinds()) {
      all.push_back(kind.name);
      if (kind.by_default) defaults.push_back(kind.name);
    }
    options.group("Analyzers: what to compute");
    options
        .list("--only",
              only_,
              "NAMES",
              fmt::format("Run these and no others, separated by commas (default: {}). Any option "
                          "of an analyzer below runs it, too",
                          fmt::join(defaults, ",")))
        .offering(all);
    options.group("Eigenvalues");
    options.choice("--method",
                   method_,
                   spectrum_method_names(),
                   "How to find them (default: auto)\n"
                   "dense: all of them, by a full decomposition\n"
                   "iterative: the smallest, the median and the largest, proved by counts\n"
                   "matrix-free: the smallest and the largest, by Hessian-vector products; not "
                   "proved\n"
                   "distributed: all of them, of a Hessian spread over the ranks of hesscope-mpi, "
                   "each with one thread\n"
                   "auto: dense up to 20,000 parameters, then matrix-free");
    options
        .integer("--grid",
                 grid_,
                 0,
                 4096,
                 "Of --method distributed: spread the Hessian over so many rows and columns of "
                 "ranks, which the last bits depend on; 0 = as many as there are ranks for")
        .unrecorded()
        .only_with(kOfRanks, [this] { return is_distributed(); });
    options
        .choice("--engine",
                engine_,
                distributed_engine_names(),
                "Of --method distributed: the library that reduces the Hessian\n"
                "scalapack: the same bytes in every run on one grid\n"
                "elpa: with --prove full alone, and last bits that depend on MPI, too")
        .only_with(kOfRanks, [this] { return is_distributed(); });
    options
        .integer("--ranks",
                 foreseen_ranks_,
                 0,
                 1 << 20,
                 "With --dry-run and --method distributed: foresee memory and time of so many "
                 "ranks, from what one does here")
        .unrecorded()
        .only_with("--dry-run", [this] { return dry_run_; })
        .only_with(kOfRanks, [this] { return is_distributed(); });
    checkpoints_.declare_reading(options);
    declare_analyzers(options);
    checkpoints_.declare_seed(options);
  }

  bool shares_work() const override { return !dry_run_; }

  bool needs_team() const override { return is_distributed(); }

  void serve() override {
    serve_analysis(*team(), [this] { return make_request(); });
  }

 private:
  bool is_distributed() const {
    return spectrum_method_of(method_) == SpectrumMethod::kDistributed;
  }

  // For each analyzer, declares its options and, unless it runs by default or has an option of this
  // name, --NAME.
  void declare_analyzers(OptionTable& options) {
    const auto group = [&](const AnalyzerKind& kind) {
      options.group(fmt::format("Analyzer {}{}: {}",
                                kind.name,
                                kind.by_default ? " (runs by default)" : "",
                                kind.question));
    };
    for (const AnalyzerKind& kind : analyzer_kinds()) {
      group(kind);
      if (kind.by_default || find_or_null(kind.options, kind.name) != nullptr) continue;
      options.setting({.name = kind.name, .type = SettingKey::Type::kBoolean, .meaning = "run it"},
                      also_);
    }
    for (const AnalyzerKind& kind : analyzer_kinds()) {
      group(kind);
      for (const SettingKey& key : kind.options) options.setting(key, settings_);
    }
  }

  AnalysisRequest make_request() const {
    AnalysisRequest request;
    fill(request);
    checkpoints_.fill(request);
    request.only = only_;
    for (const auto& [name, given] : also_) request.also.push_back(name);
    request.options = settings_;
    request.method = spectrum_method_of(method_);
    request.command = recorded();
    const DistributedEngine engine = distributed_engine_of(engine_);
    if (foreseen_ranks_ > 0) {
      request.foreseen_ranks = foreseen_ranks_;
      request.foreseen_grid = grid_of(foreseen_ranks_, grid_);
      request.foreseen_engine = engine;
    } else if (is_distributed() && make_solver()) {
      request.solver = make_solver()(engine, grid_);
      request.command += fmt::format(" --grid {}", request.solver->grid());
    }
    return request;
  }

  Report plan() override {
    const AnalysisPlan plan = plan_analysis(make_request());
    Json document = plan_document();
    document["model"] = plan.model_kind;
    document["checkpoints"] = plan.num_checkpoints;
    document["non_finite_checkpoints"] = plan.num_non_finite;
    document["parameters"] = plan.num_parameters;
    document["samples"] = plan.num_samples;
    document["analyzers"] = plan.analyzers;
    document["hessian_directions"] = plan.hessian_directions;
    document["hessian_multiply_adds"] = plan.hessian_multiply_adds;
    add_foreseen(document, plan);
    std::string text =
        facts_text({{"model", plan.model_kind},
                    {"checkpoints", fmt::to_string(plan.num_checkpoints)},
                    {"parameters", fmt::to_string(plan.num_parameters)},
                    {"samples", fmt::to_string(plan.num_samples)},
                    {"analyzers", fmt::format("{}", fmt::join(plan.analyzers, ", "))},
                    {"memory",
                     fmt::format("about {}{}",
                                 bytes_text(plan.peak_memory_bytes),
                                 plan.num_ranks > 0 ? " a rank" : "")},
                    {"time", "about " + duration_text(plan.seconds)},
                    {"output", output_text(plan)}});
    if (plan.num_ranks > 0) {
      document["ranks"] = plan.num_ranks;
      document["grid"] = plan.grid;
      document["threads"] = plan.threads;
      document["ranks_here"] = plan.ranks_here;
      document["least_ranks"] = plan.least_ranks;
      text += facts_text({{"ranks",
                           fmt::format("{}, the Hessian on {} x {} of them; extrapolated from what "
                                       "one does here",
                                       plan.num_ranks,
                                       plan.grid,
                                       plan.grid)}});
      if (plan.ranks_here > 0 && plan.ranks_here < plan.num_ranks) {
        text += facts_text({{"machines",
                             fmt::format("{} or more like this one, which has memory for {} of the "
                                         "ranks",
                                         (plan.num_ranks + plan.ranks_here - 1) / plan.ranks_here,
                                         plan.ranks_here)}});
      }
    }
    if (plan.hessian_directions > 0 && plan.num_ranks == 0) {
      text += facts_text({{"one Hessian",
                           fmt::format("{} directions, {:.3g} GFLOP",
                                       plan.hessian_directions,
                                       2e-9 * plan.hessian_multiply_adds)}});
    }
    if (plan.num_non_finite > 0) {
      text +=
          facts_text({{"non-finite",
                       fmt::format("the weights of {} of the checkpoints", plan.num_non_finite)}});
    }
    return {.document = document, .text = text, .warnings = plan.warnings};
  }

  Report compute(const std::stop_token& stop, const ShowProgress& progress) override {
    AnalysisRequest request = make_request();
    request.stop = stop;
    std::vector<CheckpointFile> ordered;
    request.on_order = [&](std::span<const CheckpointFile> files) {
      ordered.assign(files.begin(), files.end());
    };
    const AnalysisResult result =
        run_analysis(request, [&](std::size_t index, std::size_t count, double fraction) {
          return progress(ordered[index].path.filename().string(), index, count, fraction);
        });
    if (result.part) return part_report(*result.part, "checkpoints", result.warnings);
    return {.document = document_of(result),
            .text = summary_of(result),
            .warnings = result.warnings,
            .is_conclusive = result.is_conclusive};
  }

  Json document_of(const AnalysisResult& result) const {
    Json document = result_document();
    document["parameters"] = result.num_parameters;
    document["samples"] = result.num_samples;
    document["checkpoints"] = json_of(result.checkpoints);
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

  // One table for each group of the result file, so that the lines stay short. On a terminal,
  // tables are cut to its width, and the most important numbers are repeated at the end.
  std::string summary_of(const AnalysisResult& result) const {
    const Terminal terminal = standard_output();
    std::size_t num_cut = 0;
    const auto shown = [&](std::vector<std::vector<std::string>> table) {
      if (terminal.is_there) num_cut += fit_table(table, terminal.columns, true);
      return table_text(std::move(table));
    };
    const std::vector<std::vector<std::string>> losses = loss_rows(result.checkpoints);
    std::string text = shown(losses);
    std::vector<std::vector<std::string>> rows;
    std::vector<HeadlineNumber> all = result.run_numbers;
    const auto& columns = result.checkpoints.front().numbers;
    for (std::size_t first = 0, last = 0; first < columns.size(); first = last) {
      while (last < columns.size() && columns[last].analyzer == columns[first].analyzer) ++last;
      rows.assign(1, {"/" + columns[first].analyzer});
      for (std::size_t c = first; c < last; ++c) rows[0].push_back(columns[c].name);
      for (std::size_t i = 0; i < result.checkpoints.size(); ++i) {
        rows.push_back({losses[i + 1].front()});
        for (std::size_t c = first; c < last; ++c) {
          all.push_back(result.checkpoints[i].numbers[c]);
          rows.back().push_back(cell_text(all.back()));
        }
      }
      text += "\n" + shown(rows);
    }
    for (auto first = result.run_numbers.begin(), last = first; first != result.run_numbers.end();
         first = last) {
      rows = {{"/" + first->analyzer}, {"all checkpoints"}};
      for (; last != result.run_numbers.end() && last->analyzer == first->analyzer; ++last) {
        rows[0].push_back(last->name);
        rows[1].push_back(cell_text(last->value, last->status));
      }
      text += "\n" + shown(rows);
    }
    text += "\n" + with_flags(legend_text(all));
    text += fmt::format("{} parameters, {} samples\n", result.num_parameters, result.num_samples);
    const std::string ending = ending_text(result.is_done_already, result.timings.total_seconds);
    if (!terminal.is_there || json_ || quiet_) return text + ending;
    if (num_cut > 0) {
      text += fmt::format(
          "+N: {} columns do not fit {} characters; the result has them, and the same command "
          "with `| less -S` behind it shows them\n",
          num_cut,
          terminal.columns);
    }
    try {
      const io::ResultReader file(output_);
      return text + "\n" + overview_text(result, file, terminal) + "\n" + ending +
             next_commands_text(file, output_);
    } catch (
        const std::runtime_error&) {  // it was removed meanwhile; the computation is still valid
      return text + ending;
    }
  }

  CheckpointOptions checkpoints_;
  std::vector<std::string> only_;
  std::string method_ = "auto";
  std::string engine_ = name_of(DistributedEngine::kScalapack);
  int grid_ = 0;
  int foreseen_ranks_ = 0;
  std::map<std::string, SettingValue>
      also_;  // by the names of analyzers that do not run by default
  std::map<std::string, SettingValue> settings_;
};

}  // namespace

std::unique_ptr<Command> make_analyze_command() { return std::make_unique<AnalyzeCommand>(); }

}  // namespace hesscope::cli
