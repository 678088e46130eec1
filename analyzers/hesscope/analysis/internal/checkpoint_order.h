// SPDX-License-Identifier: BSD-3-Clause
//
// In which order checkpoints were written, as far as files and names show it.
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
  bool is_ordered = true;        ///< whether their order is that of the training
  std::string step_source = {};  ///< where their steps come from; empty = they have none
  bool counts_epochs = false;    ///< whether their steps are epochs
};

struct CheckpointSequence {
  std::vector<std::size_t> order;  ///< entry k: which of the given checkpoints is the k-th
  std::vector<std::optional<std::int64_t>> steps;  ///< entry k: of the k-th
  std::vector<CheckpointRun> runs;
  std::vector<std::string> warnings;

  /// Where the steps come from, for the definition of the variable.
  std::string step_definition() const;

  /// What the steps count: "epoch" if those of all runs are epochs, else "training step".
  std::string step_unit() const;
};

/// CheckpointRun::step_source of checkpoints with such names.
inline constexpr const char* kStepOfConvention = "N of a file named step-N.*";

/// Whether a run ends between two successive checkpoints: where the folder changes (run_folder());
/// in the order given, only if also the step in the name does not increase.
bool ends_run(const std::filesystem::path& before,
              const std::filesystem::path& after,
              CheckpointOrder order);

/// Puts checkpoints in order.
///
/// The checkpoints in one folder are one run; runs come in the order in which they are first given.
/// Within a run, the order comes from the first of these that all its checkpoints have, with no two
/// equal: a counter of steps in the file (counter_names()); N if all are named step-N; the epoch in
/// the file; a number in the name after a word for steps; if no file has a counter, a number in the
/// name (step_position(); for names that are not alike, if are_comparable()), and then
/// `optimizer.step`. A counter finer than epochs that decreases where the epoch in the file
/// increases starts again in each epoch, and is not used. Without any of these, a run of several
/// checkpoints has no order and stays as given.
/// @param order     kGiven takes them as they are, as one run until ends_run() says otherwise.
/// @param step_key  if not empty, the only counter that is used.
/// @throws InputError for two checkpoints of a run with the same step, or one that has no step_key.
CheckpointSequence order_checkpoints(std::span<const CheckpointEvidence> given,
                                     CheckpointOrder order,
                                     const std::string& step_key);

}  // namespace hesscope::detail
