// SPDX-License-Identifier: BSD-3-Clause
//
// What a training writes in addition to its checkpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <hesscope/core/constants.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/problem/experiment_file.h>
#include <hesscope/storage/overwrite.h>
#include <hesscope/storage/run_configuration.h>
#include <hesscope/training/internal/training_setup.h>

namespace hesscope::detail {

/// A row of the history: NaN if there is no value. The table of columns in history_file.cc says
/// what its numbers mean, and how files store them.
struct HistoryRow {
  std::int64_t step = 0;
  double loss = kNaN;
  double gradient_norm = kNaN;
  double batch_loss = kNaN;
  double training_loss = kNaN;
  double seconds = kNaN;
  double distance = kNaN;
  double relative_distance = kNaN;
  double accuracy = kNaN;
  double trained_gradient_norm = kNaN;

  /// The number of numbers().
  static std::size_t size();

  /// The numbers of a row in the log of a running training.
  std::vector<double> numbers() const;
  static std::vector<HistoryRow> from_numbers(std::span<const double> numbers);
};

/// Names of everything that a history may hold.
std::vector<std::string> history_quantities();

struct History {
  const ExperimentFile& experiment;
  const ExperimentRun& run;
  std::uint64_t seed;
  std::string problem;  ///< as TOML
  std::string command;
  io::RunConfiguration configuration;
  std::vector<HistoryRow> rows;
  bool has_diverged;
  bool has_accuracy;  ///< whether the model classifies
  const std::vector<Monitor>& monitors;
  const Objective* monitored;               ///< what the monitors analyze; null without monitors
  std::string monitored_samples;            ///< the samples of `monitored`, in words
  std::vector<std::vector<Group>> records;  ///< for each monitor, by rows
  std::vector<std::string> flaws;           ///< in these records: TrainingMonitors::flaws()
  std::map<std::int64_t, std::string> checkpoints;  ///< SHA-256 of each, by steps
};

/// @throws OutputError.
void write_history(const std::filesystem::path& path,
                   io::Existing existing,
                   const History& history);

/// What a run needs to know about an existing history.
struct FinishedHistory {
  HistoryRow last;
  bool has_diverged = false;
  std::vector<std::string> flaws;                   ///< as in History
  std::map<std::int64_t, std::string> checkpoints;  ///< SHA-256 of each, by steps
};

/// @throws InputError for a damaged file.
FinishedHistory read_history(const std::filesystem::path& path);

}  // namespace hesscope::detail
