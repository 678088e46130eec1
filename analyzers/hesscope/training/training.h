// SPDX-License-Identifier: BSD-3-Clause
//
// Training as one call: an experiment file in, folders with checkpoints and histories out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <hesscope/core/status.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/problem/experiment_file.h>
#include <hesscope/storage/overwrite.h>
#include <hesscope/storage/part.h>

namespace hesscope {

struct TrainingRequest {
  std::filesystem::path experiment;
  std::optional<ExperimentFile> document;  ///< instead of the content of the file
  std::filesystem::path output;            ///< a folder
  std::string run;                         ///< only this [[run]]; empty = all
  std::optional<std::uint64_t> seed;       ///< only this seed, even if it is not listed
  std::vector<std::string> monitors = {};  ///< analyzers in addition to those of the file
  /// If set, only runs for which it returns true are trained; folders of others are left alone.
  std::function<bool(const std::string& run, std::uint64_t seed)> covers = {};
  io::Overwrite overwrite =
      io::Overwrite::kNothing;  ///< what may be replaced in the output's folders
  io::Share share = {};         ///< runs from seeds are divided among parts
  int num_threads = 0;          ///< 0 = one per core; never changes a result
  /// When it is requested, the run ends soon, wherever it is, by Interrupted.
  std::stop_token stop = {};
  std::string command;  ///< for the history of the results
};

/// All variables that the root of a history.h5 can have, as they are there, without values. Its
/// groups are those of analysis_quantities(), along `step` instead of `checkpoint`.
Group training_quantities();

/// The outcome of one run from one seed.
struct TrainingOutcome {
  std::string run;
  std::uint64_t seed = 0;
  std::filesystem::path folder;
  std::int64_t num_steps = 0;   ///< made in this call and before
  std::int64_t resumed_at = 0;  ///< the step from which this call continued
  bool was_finished = false;    ///< before this call, which did nothing
  Status status = Status::kOk;  ///< kNonFinite: diverged in the step after num_steps
  double loss = 0;              ///< on the evaluation samples, at the end
  double gradient_norm = 0;     ///< the same
  double seconds = 0;           ///< wall time of all steps
  bool has_all_looks = true;    ///< whether no monitor lacks a number, for example one that failed
  /// Steps of checkpoints that existed before, were missing or damaged, and were made again.
  std::vector<std::int64_t> made_again = {};
  /// What in the folder was damaged or belonged to another training, and what was done about it.
  std::vector<std::string> warnings = {};
};

struct TrainingResult {
  std::vector<TrainingOutcome> outcomes;  ///< by runs, then by seeds
  bool is_conclusive = true;              ///< whether no run diverged and no monitor lacks a number
  std::vector<std::string> remarks = {};  ///< what the experiment asks for that is impossible
  double total_seconds = 0;
  std::optional<io::PartOutcome> part = {};  ///< for a part, whose outcomes are above
};

struct TrainingPlan {
  std::string model_kind;
  std::int64_t num_parameters = 0;
  std::int64_t num_samples = 0;           ///< of the evaluation
  std::vector<TrainingOutcome> outcomes;  ///< run, seed, folder and was_finished only
  bool is_done_already = false;           ///< whether all are finished
  bool is_begun = false;                  ///< whether one is finished or running
  std::string output_refusal;             ///< as in AnalysisPlan, after the name of a file
  std::vector<std::string> warnings;      ///< what the experiment asks for that is impossible
  std::int64_t num_steps = 0;             ///< of each run
  std::int64_t num_checkpoints = 0;       ///< of each run
  double peak_memory_bytes = 0;
  double seconds = 0;  ///< estimated from some steps of the first run
};

/// Called with the fraction of all steps that is done, from one thread at a time. Returning false
/// asks the work to stop, by Interrupted.
using TrainingProgress = std::function<bool(double fraction)>;

/// The folder of a run from a seed if OUTPUT holds several: OUTPUT/RUN/seed-K.
std::filesystem::path run_folder(const std::filesystem::path& output,
                                 const std::string& run,
                                 std::uint64_t seed);

/// The history of the training in a folder.
std::filesystem::path history_file(const std::filesystem::path& folder);

/// Trains every run from every seed. The output is in OUTPUT for one run and one seed, otherwise in
/// OUTPUT/RUN/seed-K for each:
///   step-000250.h5   checkpoints: the parameters by name, and optimizer.* after the first step
///   history.h5       loss and norm of the gradient on the evaluation samples, loss of batches and
///                    of the training set, digests of the checkpoints, and a group for each
///                    monitor: the answers of an analyzer on the training set at every row
///   problem.toml     the problem on the evaluation samples, for run_analysis() and run_landscape()
/// Each file is complete or does not exist.
///
/// While a run is in progress, history.h5.units next to history.h5 holds its newest state, written
/// after every step (or less often, if that would cost more than a twentieth of the time). After
/// any interruption, the same request continues from there and ends with files that are the same to
/// the last byte, except for times. With SOURCE_DATE_EPOCH set, they contain no times. Finished
/// work is left as it is, except for checkpoints that are missing or differ from what was written:
/// these are made again.
///
/// A run that diverges ends there: its history ends at the last step with finite parameters. The
/// others continue.
///
/// A part trains its runs in their usual folders, each of which has a lock and holds what is needed
/// to continue. So nothing has to be put together afterwards, and the whole run only checks that
/// everything exists.
///
/// Several runs and seeds share the threads; threads that would be idle compute blocks of samples
/// within a step.
/// @throws ConfigError, also if a folder holds the training of another experiment, naming the first
///         key that differs, or if OUTPUT holds one run where several are asked for, or vice versa;
///         InputError, OutputError, LockedError, MissingPartsError; Interrupted if progress
///         returned false.
TrainingResult run_training(const TrainingRequest& request, const TrainingProgress& progress = {});

/// Checks the inputs as run_training() does and estimates its cost. Writes nothing.
/// @throws as run_training(), also for folders that hold another training.
TrainingPlan plan_training(const TrainingRequest& request);

}  // namespace hesscope
