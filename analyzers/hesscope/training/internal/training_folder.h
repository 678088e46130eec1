// SPDX-License-Identifier: BSD-3-Clause
//
// The folder of one run from one seed: its contents, and how a killed run continues.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/analysis/internal/unit_run.h>
#include <hesscope/storage/overwrite.h>
#include <hesscope/training/internal/history_file.h>
#include <hesscope/training/internal/training_checkpoints.h>
#include <hesscope/training/internal/training_journal.h>
#include <hesscope/training/internal/training_monitors.h>
#include <hesscope/training/internal/training_schedule.h>
#include <hesscope/training/internal/training_setup.h>
#include <hesscope/training/training.h>

namespace hesscope::detail {

/// Whether the folder holds a training, finished or running.
bool holds_training(const std::filesystem::path& folder);

/// @throws ConfigError if the folder holds something that may not be replaced: a training that
///         differs from this configuration, naming the first key that differs, or checkpoints of no
///         known training.
void refuse_other_training(const std::filesystem::path& folder,
                           const io::RunConfiguration& configuration,
                           io::Overwrite overwrite);

/// Whether a folder holds this training to its end, with all its checkpoints as they were written.
/// @throws ConfigError if it holds another one, as refuse_other_training(). @cost reads all
///         checkpoints.
bool is_complete(const TrainingSetup& setup,
                 const ExperimentRun& run,
                 std::uint64_t seed,
                 const std::filesystem::path& folder);

class TrainingFolder {
 public:
  /// Takes the folder, and creates it if it does not exist: its lock, and the finished and
  /// unfinished work in it. `setup` and `run` must outlive the object.
  /// @throws LockedError; ConfigError as refuse_other_training(); OutputError.
  TrainingFolder(const TrainingSetup& setup,
                 const ExperimentRun& run,
                 std::uint64_t seed,
                 const std::filesystem::path& folder,
                 io::Overwrite overwrite,
                 std::string command);

  /// Continues the training from the state in the folder until the end, or until `tick` returns
  /// false. `tick` is called after every step with the number of steps since the previous call.
  /// Checkpoints that are not as they were written are made again.
  /// @returns whether the end was reached. @throws OutputError.
  bool train(const std::function<bool(std::int64_t)>& tick);

  /// The outcome of the finished work.
  const TrainingOutcome& outcome() const { return outcome_; }

  bool is_finished() const { return outcome_.was_finished; }

 private:
  std::filesystem::path history_path() const { return history_file(outcome_.folder); }

  std::filesystem::path problem_path() const { return outcome_.folder / "problem.toml"; }

  void require_problem_replaceable(io::Overwrite overwrite, bool is_known) const;
  void write_problem() const;
  void remove_checkpoints();
  bool make_checkpoints_again(std::int64_t end,
                              const TrainingSet& fixed,
                              const std::function<bool(std::int64_t)>& tick);
  HistoryRow look(const TrainingRun& run, BatchLoss& losses, double seconds) const;
  bool restore(TrainingRun& run, TrainingJournal& journal, TrainingMonitors& monitors);
  void finish(const TrainingRun& run, TrainingJournal& journal, TrainingMonitors& monitors);
  void tell_flaws(const std::vector<std::string>& flaws);

  const TrainingSetup* setup_;
  TrainingSchedule schedule_;
  const ExperimentRun* run_;
  std::string command_;
  io::Existing existing_;
  TrainingOutcome outcome_;
  TrainingCheckpoints checkpoints_;
  Eigen::VectorXd start_;  // of an unfinished training
  std::optional<UnitRun> units_;
};

}  // namespace hesscope::detail
