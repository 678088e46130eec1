// SPDX-License-Identifier: BSD-3-Clause
//
// In which order checkpoints were written, as far as they and their names tell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoints.h>
#include <hesscope/analysis/internal/run_evidence.h>

namespace hesscope::detail {

/// The counter of updates in an optimiser's state.
inline constexpr const char* kOptimizerStep = "optimizer.step";

/// Neighbouring checkpoints of one training run.
struct CheckpointRun {
  std::size_t first = 0;
  std::size_t size = 0;
  bool is_ordered = true;        ///< whether their order is known to be that of the training
  std::string step_source = {};  ///< where their steps are from; empty = they have none
  bool counts_epochs = false;    ///< whether their steps are epochs
};

struct CheckpointSequence {
  std::vector<std::size_t> order;                  ///< entry k: which of those given is the k-th
  std::vector<std::optional<std::int64_t>> steps;  ///< entry k: of the k-th
  std::vector<CheckpointRun> runs;
  std::vector<std::string> warnings;

  /// Where the steps are from, for the definition of the variable.
  std::string step_definition() const;

  /// What the steps count: "epoch" where those of all runs are epochs, else "training step".
  std::string step_unit() const;
};

/// CheckpointRun::step_source of checkpoints so named.
inline constexpr const char* kStepOfConvention = "N of a file named step-N.*";

/// Whether a run ends between two checkpoints, one after the other in this order: where the folder
/// changes (run_folder()), in the order given only if the step in the name does not go up there.
bool ends_run(const std::filesystem::path& before,
              const std::filesystem::path& after,
              CheckpointOrder order);

/// Puts checkpoints in order.
///
/// Those in one folder are one run; runs come in the order in which they are first given. Within a
/// run the order is that of the first of these that all its checkpoints have, no two of them the
/// same: a counter of steps in the file (counter_names()), N where all are named step-N, the epoch
/// in the file, a number in the name behind a word for steps; without any counter in the files, a
/// number in the name (step_position(); of names that are not alike, if are_comparable()), and then
/// `optimizer.step`. Something finer than epochs that goes down where the epoch in the file goes up
/// starts again in each epoch, and does not count. Without any of them a run of several has no
/// order and stays as given.
/// @param order     kGiven takes them as they are, as one run up to where ends_run() says so.
/// @param step_key  if not empty, the one counter that counts.
/// @throws InputError for two checkpoints of a run with the same step, or one that has no step_key.
CheckpointSequence order_checkpoints(std::span<const CheckpointEvidence> given,
                                     CheckpointOrder order,
                                     const std::string& step_key);

}  // namespace hesscope::detail
