// SPDX-License-Identifier: BSD-3-Clause
//
// How a training that is killed knows where it was.
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
/// counts if all rows due before it are there, and what monitors saw at them.
class TrainingJournal {
 public:
  /// Opens what is in the folder. @throws OutputError.
  TrainingJournal(io::UnitFolder& folder, std::size_t state_size);

  /// Whether something of another run was found there.
  bool held_others() const;

  /// The newest first: TrainingRun::state(), and the wall seconds until then.
  std::vector<std::vector<double>> states() const { return states_.states(); }

  /// Keeps where the run is, and before that what monitors saw, which is in the folder.
  void write(const TrainingRun& run);

  /// The same, and synced with all that is in the journal.
  void anchor(const TrainingRun& run);

  std::vector<HistoryRow> rows() const;

  void append(const HistoryRow& row) { rows_.append(row.numbers()); }

  /// Forgets all but the first rows.
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
  io::RowLog digests_;  // step, SHA-256 in words of 32 bits; the last of a step counts
};

}  // namespace hesscope::detail
