// SPDX-License-Identifier: BSD-3-Clause
//
// Experiments as one call: what is trained, measured and drawn is said by experiment files.
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

/// What an experiment says of itself.
struct ExperimentSummary {
  std::string name;
  std::string title;
  std::string paper;
  std::string figures;  ///< of the paper, in words
  std::optional<double> minutes_paper;
  std::optional<double> minutes_quick;
};

/// The experiments that the program carries.
std::vector<ExperimentSummary> list_experiments();

/// Tables of an experiment file besides those of experiment_file_tables(), which run_reproduction()
/// reads: variants, scales, measures and figures of each kind.
std::vector<FileTable> reproduction_file_tables();

struct ReproductionRequest {
  std::vector<std::string> experiments;  ///< names of list_experiments(), or files; empty = all
  std::filesystem::path output;          ///< a folder
  std::string scale = "paper";           ///< "paper", or that of a table [scale.NAME]
  std::vector<std::string> overrides;    ///< "KEY=VALUE", as in [scale.NAME], over all of the files
  io::Overwrite overwrite = io::Overwrite::kNothing;  ///< what may be replaced in the output
  io::Share share = {};  ///< parts are dealt runs from seeds, with all that is measured of them
  int num_threads = 0;   ///< 0 = one per core; never changes a result
  /// Once it is requested, the run ends soon, wherever it is, by Interrupted.
  std::stop_token stop = {};
  /// What asked for an experiment of this name, for the history of the results.
  std::function<std::string(const std::string& experiment)> command = [](const std::string&) {
    return "hesscope::run_reproduction()";
  };
};

struct ReproducedFigure {
  std::string name;
  std::string kind;
  std::string published;         ///< "Figure 4"; empty = none
  std::filesystem::path path;    ///< without .h5, .svg, .md
  std::size_t num_compared = 0;  ///< published values that ours are compared with
  std::vector<std::string> disagreements;
  std::vector<std::string> undecided;  ///< where the spreads leave it open
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
  std::int64_t step = 0;  ///< in which
};

struct ReproducedExperiment {
  ExperimentSummary about;
  std::vector<ReproducedFigure> figures;
  std::vector<FailedFigure> failures;  ///< which are not among them
  std::vector<DivergedRun> diverged;
  bool may_diverge = false;  ///< that is an outcome here, not a failure
  std::vector<std::string> warnings;
  std::size_t num_runs = 0;
  bool is_conclusive = true;    ///< no number or figure failed, no run diverged where none may
  bool is_done_already = true;  ///< whether all was trained and measured before; drawn it is again
  double seconds = 0;           ///< of this call
};

struct ReproductionResult {
  std::vector<ReproducedExperiment> experiments;
  std::filesystem::path page;   ///< with all their figures
  bool is_conclusive = true;    ///< as of every experiment
  bool is_done_already = true;  ///< as of every experiment
  double total_seconds = 0;
  std::optional<io::PartOutcome> part = {};  ///< of a part, which draws nothing
};

struct PlannedExperiment {
  ExperimentSummary about;
  std::size_t num_variants = 0;
  std::size_t num_runs = 0;  ///< of all variants and seeds
  std::vector<std::string> figures;
  double peak_memory_bytes = 0;  ///< of training
  double training_seconds = 0;   ///< estimated; measures come on top
};

/// Told what is being done: piece `index` of `count` is done by `fraction`. Returning false asks
/// for the work to stop, by Interrupted.
using ReproductionProgress = std::function<bool(
    const std::string& what, std::size_t index, std::size_t count, double fraction)>;

/// Trains, measures and draws. OUTPUT/EXPERIMENT holds
///   inputs/               the graphs and data that an experiment which is carried brings along
///   VARIANT/RUN/seed-K/   what run_training() leaves, and MEASURE.h5, what run_analysis() does
///   figures/FIGURE.h5     the numbers of a figure, a result file
///   figures/FIGURE.svg    its drawing
///   figures/FIGURE.md     the same in words, with published values next to ours
/// and OUTPUT/report.html all figures of this call, with the published values, as one page.
///
/// What is finished is left as it is and what was interrupted continues, as by run_training() and
/// run_analysis(); figures of the same scale and overrides are drawn again.
///
/// A part does so for its runs, in the folders that they have anyway, and leaves the drawing to the
/// whole run. A run that starts where another ends is in that one's part.
///
/// A run that diverges ends there and takes no part in means from then on; the figures name it. A
/// figure that cannot be made is named by result and page, and leaves the others as they are.
/// @throws ConfigError (also for an unknown experiment, naming the nearest, or an output that holds
///         something else), InputError, OutputError, LockedError, MissingPartsError; Interrupted.
ReproductionResult run_reproduction(const ReproductionRequest& request,
                                    const ReproductionProgress& progress = {});

/// Checks the experiments, and what is in the output, and foresees the cost of training. Nothing is
/// written but, for as long as the call takes, what experiments bring along to a temporary folder.
std::vector<PlannedExperiment> plan_reproduction(const ReproductionRequest& request);

}  // namespace hesscope
