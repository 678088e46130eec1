// SPDX-License-Identifier: BSD-3-Clause
//
// How a killed training knows where it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <hesscope/optim/training_run.h>
#include <hesscope/storage/internal/state_journal.h>
#include <hesscope/storage/unit_folder.h>
#include <hesscope/training/internal/history_file.h>

namespace hesscope::detail {

/// The newest states of a run, the rows of its history and the digests of its checkpoints. A state
/// counts only if all rows due before it exist, with the answers of the monitors.
class TrainingJournal {
 public:
  /// Opens the existing files in the folder. @throws OutputError.
  TrainingJournal(io::UnitFolder& folder, std::size_t state_size);

  /// Whether something from another run was found there.
  bool held_others() const;

  /// Newest first: TrainingRun::state(), and the wall seconds until then.
  std::vector<std::vector<double>> states() const { return states_.states(); }

  /// Stores the current state of the run, and before it the answers of the monitors in the folder.
  void write(const TrainingRun& run);

  /// The same, and syncs everything in the journal.
  void anchor(const TrainingRun& run);

  std::vector<HistoryRow> rows() const;

  void append(const HistoryRow& row) { rows_.append(row.numbers()); }

  /// Forgets all rows but the first `num_rows`.
  void truncate(std::size_t num_rows) { rows_.truncate(num_rows); }

  /// SHA-256 of checkpoints, by steps.
  std::map<std::int64_t, std::string> digests() const;

  void add_digest(std::int64_t step, const std::string& sha256);

  /// Forgets rows and digests.
  void clear();

  double seconds = 0;  ///< wall time of all steps

 private:
  std::vector<double> packed(const TrainingRun& run) const;

  io::UnitFolder* folder_;
  io::StateJournal states_;
  io::RowLog rows_;
  io::RowLog digests_;  // step, SHA-256 in words of 32 bits; the last entry of a step counts
};

}  // namespace hesscope::detail
