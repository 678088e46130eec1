// SPDX-License-Identifier: BSD-3-Clause
//
// Training as one call: an experiment file in, folders of checkpoints and histories out.
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
  std::optional<ExperimentFile> document;  ///< in place of what the file says
  std::filesystem::path output;            ///< a folder
  std::string run;                         ///< only this [[run]]; empty = all
  std::optional<std::uint64_t> seed;       ///< only this seed, also one that is not listed
  std::vector<std::string> monitors = {};  ///< analyzers besides those of the file
  /// If set, only those for which it returns true; folders of others are left alone.
  std::function<bool(const std::string& run, std::uint64_t seed)> covers = {};
  io::Overwrite overwrite =
      io::Overwrite::kNothing;  ///< what may be replaced in the output's folders
  io::Share share = {};         ///< parts are dealt runs from seeds
  int num_threads = 0;          ///< 0 = one per core; never changes a result
  /// Once it is requested, the run ends soon, wherever it is, by Interrupted.
  std::stop_token stop = {};
  std::string command;  ///< for the history of the results
};

/// All variables that the root of a history.h5 can have, as they lie there, without values. Its
/// groups are those of analysis_quantities(), along `step` instead of `checkpoint`.
Group training_quantities();

/// What became of one run from one seed.
struct TrainingOutcome {
  std::string run;
  std::uint64_t seed = 0;
  std::filesystem::path folder;
  std::int64_t num_steps = 0;   ///< made, of this call and before
  std::int64_t resumed_at = 0;  ///< the step that this call went on from
  bool was_finished = false;    ///< before this call, which did nothing
  Status status = Status::kOk;  ///< kNonFinite: diverged in the step after num_steps
  double loss = 0;              ///< on the evaluation samples, at the end
  double gradient_norm = 0;     ///< the same
  double seconds = 0;           ///< wall time of all steps
  bool has_all_looks = true;    ///< whether monitors lack no number: one that failed, say
  /// Steps of checkpoints that were there before, were missing or damaged, and were made again.
  std::vector<std::int64_t> made_again = {};
  /// What was found in the folder that is not of this training, or damaged, and what became of it.
  std::vector<std::string> warnings = {};
};

struct TrainingResult {
  std::vector<TrainingOutcome> outcomes;  ///< by runs, then by seeds
  bool is_conclusive = true;              ///< whether none diverged, and monitors lack no number
  std::vector<std::string> remarks = {};  ///< what the experiment asks for that cannot be
  double total_seconds = 0;
  std::optional<io::PartOutcome> part = {};  ///< of a part, whose outcomes are above
};

struct TrainingPlan {
  std::string model_kind;
  std::int64_t num_parameters = 0;
  std::int64_t num_samples = 0;           ///< of the evaluation
  std::vector<TrainingOutcome> outcomes;  ///< run, seed, folder and was_finished only
  bool is_done_already = false;           ///< whether all are finished
  bool is_begun = false;                  ///< whether one is, or is under way
  std::string output_refusal;             ///< as of AnalysisPlan, behind the name of a file
  std::vector<std::string> warnings;      ///< what the experiment asks for that cannot be
  std::int64_t num_steps = 0;             ///< of each
  std::int64_t num_checkpoints = 0;       ///< of each
  double peak_memory_bytes = 0;
  double seconds = 0;  ///< estimated from some steps of the first run
};

/// Told which share of all steps is done, from one thread at a time. Returning false asks for the
/// work to stop, by Interrupted.
using TrainingProgress = std::function<bool(double fraction)>;

/// Where a run from a seed is, if OUTPUT holds several: OUTPUT/RUN/seed-K.
std::filesystem::path run_folder(const std::filesystem::path& output,
                                 const std::string& run,
                                 std::uint64_t seed);

/// The history of the training in a folder.
std::filesystem::path history_file(const std::filesystem::path& folder);

/// Trains every run from every seed. With one run and one seed OUTPUT holds, and with several each
/// OUTPUT/RUN/seed-K,
///   step-000250.h5   checkpoints: the parameters by name, and optimizer.* after the first step
///   history.h5       loss and norm of the gradient on the evaluation samples, loss of batches and
///                    of the training set, digests of the checkpoints, and a group for each
///                    monitor: what an analyzer says of the training set at every row
///   problem.toml     the problem on the evaluation samples, for run_analysis() and run_landscape()
/// each of them whole or not there at all.
///
/// While a run is under way history.h5.units beside it holds its newest state, written after every
/// step (or, where that would cost more than a twentieth of the time, less often) and after an
/// interruption of any kind the same request continues from there: the files it ends with are the
/// same to the last byte, times apart. With SOURCE_DATE_EPOCH set there are no times in them. What
/// is finished is left as it is, but for checkpoints that are no longer what was written, or gone:
/// they are made again.
///
/// A run that diverges ends there: its history ends at the last step with finite parameters. The
/// others continue.
///
/// A part trains its runs in the folders that they have anyway, each of which has a lock and holds
/// what is needed to continue: there is nothing to put together afterwards, and the whole run only
/// looks whether all is there.
///
/// Several runs and seeds share the threads, and steps are cut into blocks of samples for those
/// that would be idle.
/// @throws ConfigError, also where a folder holds the training of another experiment, naming the
///         first key that differs, or OUTPUT one run where several are asked for, or the other way
///         round; InputError, OutputError, LockedError, MissingPartsError;
///         Interrupted where progress returned false.
TrainingResult run_training(const TrainingRequest& request, const TrainingProgress& progress = {});

/// Checks the inputs as run_training() does and foresees its cost. Nothing is written.
/// @throws as run_training(), for folders that hold another training, too.
TrainingPlan plan_training(const TrainingRequest& request);

}  // namespace hesscope
