// SPDX-License-Identifier: BSD-3-Clause
//
// What a training leaves behind besides its checkpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <hesscope/dataset/dataset.h>
#include <hesscope/problem/experiment_file.h>
#include <hesscope/storage/run_configuration.h>
#include <hesscope/training/internal/training_setup.h>

namespace hesscope::detail {

/// A row of the history, as the log of a run under way holds it: NaN where there is no value.
struct HistoryRow {
  std::int64_t step = 0;
  double loss = 0;                   ///< on the evaluation samples
  double gradient_norm = 0;          ///< the same
  double batch_loss = 0;             ///< of the step before
  double training_loss = 0;          ///< over the training set, where every batch is all of it
  double accuracy = 0;               ///< on the evaluation samples, of a classifier
  double trained_gradient_norm = 0;  ///< of what is trained, where that is not all
  double seconds = 0;                ///< wall time of all steps before

  static constexpr std::size_t kSize = 8;  ///< of numbers()

  std::vector<double> numbers() const;
  static std::vector<HistoryRow> from_numbers(std::span<const double> numbers);
};

/// Names of all that a history may hold.
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
  const Objective* monitored;                       ///< what they looked at; null without monitors
  std::vector<std::vector<Group>> records;          ///< of each monitor, by rows
  std::map<std::int64_t, std::string> checkpoints;  ///< SHA-256 of each, by steps
};

/// @throws OutputError.
void write_history(const std::filesystem::path& path, bool overwrite, const History& history);

/// What a run needs to know of a history that is there.
struct FinishedHistory {
  HistoryRow last;
  bool has_diverged = false;
  std::map<std::int64_t, std::string> checkpoints;  ///< SHA-256 of each, by steps
};

/// @throws InputError for a damaged file.
FinishedHistory read_history(const std::filesystem::path& path);

}  // namespace hesscope::detail
