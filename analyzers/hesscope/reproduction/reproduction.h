// SPDX-License-Identifier: BSD-3-Clause
//
// Experiments as one call: experiment files say what is trained, measured and drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <hesscope/problem/experiment_keys.h>
#include <hesscope/storage/overwrite.h>
#include <hesscope/storage/part.h>

namespace hesscope {

/// The description of an experiment.
struct ExperimentSummary {
  std::string name;
  std::string title;
  std::string paper;
  std::string figures;  ///< of the paper, in words
  std::optional<double> minutes_paper;
  std::optional<double> minutes_quick;
};

/// The experiments that are included in the program.
std::vector<ExperimentSummary> list_experiments();

/// Tables of an experiment file that run_reproduction() reads in addition to those of
/// experiment_file_tables(): variants, scales, measures and figures of each kind.
std::vector<FileTable> reproduction_file_tables();

struct ReproductionRequest {
  std::vector<std::string> experiments;  ///< names of list_experiments(), or files; empty = all
  std::filesystem::path output;          ///< a folder
  std::string scale = "paper";           ///< "paper", or that of a table [scale.NAME]
  std::vector<std::string> overrides;    ///< "KEY=VALUE", as in [scale.NAME], over all of the files
  io::Overwrite overwrite = io::Overwrite::kNothing;  ///< what may be replaced in the output
  io::Share share = {};  ///< runs from seeds are divided among parts, with all their measures
  int num_threads = 0;   ///< 0 = one per core; never changes a result
  /// When it is requested, the run ends soon, wherever it is, by Interrupted.
  std::stop_token stop = {};
  /// The command that asked for an experiment of this name, for the history of the results.
  std::function<std::string(const std::string& experiment)> command = [](const std::string&) {
    return "hesscope::run_reproduction()";
  };
};

struct ReproducedFigure {
  std::string name;
  std::string kind;
  std::string published;         ///< "Figure 4"; empty = none
  std::filesystem::path path;    ///< without .h5, .svg, .md
  std::size_t num_compared = 0;  ///< published values with which ours are compared
  std::vector<std::string> disagreements;
  std::vector<std::string> undecided;  ///< where the spreads leave the verdict open
};

/// A figure that could not be made.
struct FailedFigure {
  std::string name;
  std::string message;       ///< of the error
  std::exception_ptr error;  ///< as it was thrown
};

struct DivergedRun {
  std::string variant;
  std::string run;
  std::uint64_t seed = 0;
  std::int64_t step = 0;  ///< in which it diverged
};

struct ReproducedExperiment {
  ExperimentSummary about;
  std::vector<ReproducedFigure> figures;
  std::vector<FailedFigure> failures;  ///< the figures that could not be made
  std::vector<DivergedRun> diverged;
  bool may_diverge = false;  ///< a diverged run is an outcome here, not a failure
  std::vector<std::string> warnings;
  std::size_t num_runs = 0;
  bool is_conclusive = true;    ///< no number or figure failed, no run diverged unexpectedly
  bool is_done_already = true;  ///< whether trained and measured before; figures are redrawn
  double seconds = 0;           ///< of this call
};

struct ReproductionResult {
  std::vector<ReproducedExperiment> experiments;
  std::filesystem::path page;   ///< with the figures of all experiments
  bool is_conclusive = true;    ///< for every experiment
  bool is_done_already = true;  ///< for every experiment
  double total_seconds = 0;
  std::optional<io::PartOutcome> part = {};  ///< for a part, which draws nothing
};

struct PlannedExperiment {
  ExperimentSummary about;
  std::size_t num_variants = 0;
  std::size_t num_runs = 0;  ///< over all variants and seeds
  std::vector<std::string> figures;
  double peak_memory_bytes = 0;  ///< of training
  double training_seconds = 0;   ///< estimated, without measures
};

/// Called with the current work: piece `index` of `count` is done by `fraction`. Returning false
/// asks the work to stop, by Interrupted.
using ReproductionProgress = std::function<bool(
    const std::string& what, std::size_t index, std::size_t count, double fraction)>;

/// Trains, measures and draws. OUTPUT/EXPERIMENT holds
///   inputs/               the graphs and data that are included with an experiment
///   VARIANT/RUN/seed-K/   the output of run_training(), and MEASURE.h5, that of run_analysis()
///   figures/FIGURE.h5     the numbers of a figure, a result file
///   figures/FIGURE.svg    its drawing
///   figures/FIGURE.md     the same in words, with published values next to ours
/// and OUTPUT/report.html shows all figures of this call, with the published values, on one page.
///
/// Finished work is left as it is, and interrupted work continues, as in run_training() and
/// run_analysis(); figures of the same scale and overrides are drawn again.
///
/// A part does this for its runs, in their usual folders, and leaves the drawing to the whole run.
/// A run that starts where another ends is in the same part as that one.
///
/// A run that diverges ends there and is left out of means from then on; the figures name it. A
/// figure that cannot be made is named in result and page, and the others are still made.
/// @throws ConfigError (also for an unknown experiment, naming the nearest, or an output that holds
///         something else), InputError, OutputError, LockedError, MissingPartsError; Interrupted.
ReproductionResult run_reproduction(const ReproductionRequest& request,
                                    const ReproductionProgress& progress = {});

/// Checks the experiments and the output, and estimates the cost of training. Writes nothing,
/// except for the files that experiments include, to a temporary folder for the duration of the
/// call.
std::vector<PlannedExperiment> plan_reproduction(const ReproductionRequest& request);

}  // namespace hesscope
