// SPDX-License-Identifier: BSD-3-Clause
//
// At which steps a training adds a row to its history, and writes a checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hesscope/problem/experiment_file.h>

namespace hesscope::detail {

/// The same for all runs of an experiment. Steps count from 0, the start, to num_steps; both ends
/// are always due.
class TrainingSchedule {
 public:
  /// @param experiment  not copied; must outlive this.
  explicit TrainingSchedule(const ExperimentFile& experiment) : experiment_(&experiment) {}

  bool is_checkpoint_due(std::int64_t step) const {
    return is_due(step, experiment_->checkpoint_every);
  }

  /// Whether a row of the history is due; also at the listed steps.
  bool is_row_due(std::int64_t step) const;

  /// How many rows of the history are due before this step.
  std::size_t rows_before(std::int64_t step) const;

 private:
  /// @param every  steps; 0 = only the first and the last.
  bool is_due(std::int64_t step, std::int64_t every) const;

  const ExperimentFile* experiment_;
};

}  // namespace hesscope::detail
