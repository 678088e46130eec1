// SPDX-License-Identifier: BSD-3-Clause
//
// The checkpoints of one training: written, recognised by the digests of the written bytes, and
// made again if one is missing or damaged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/models/model.h>
#include <hesscope/optim/training_run.h>

namespace hesscope::detail {

/// Files named step-N.h5.
std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& folder);

class TrainingCheckpoints {
 public:
  /// @param model    must outlive this. Its buffers are also written if they differ from those that
  ///                 a checkpoint without buffers would imply.
  /// @param trained  for every parameter of the model: no state is stored for the others.
  TrainingCheckpoints(std::filesystem::path folder, const Model& model, std::vector<bool> trained);

  std::filesystem::path path_of(std::int64_t step) const;

  /// SHA-256 of the written files, by steps.
  const std::map<std::int64_t, std::string>& digests() const { return digests_; }

  /// Registers a checkpoint that was written before: its digest, or "" if it is unknown.
  void expect(std::int64_t step, const std::string& sha256) { digests_[step] = sha256; }

  /// Forgets all of them.
  void clear() { digests_.clear(); }

  /// Writes the current state of the run. @throws OutputError.
  void write(const TrainingRun& run);

  /// Steps before `end` whose file is missing or differs from what was written.
  /// @cost reads all of these files.
  std::vector<std::int64_t> damaged_before(std::int64_t end) const;

  /// Makes checkpoints again, each from the last undamaged one before it, or else from the start.
  /// @param steps  ascending, from damaged_before().
  /// @param start  makes a run at the given parameters, or where the training started.
  /// @param tick   called after every step; if it returns false, the rest is skipped.
  /// @returns the steps made again. @throws OutputError; what `start` throws.
  std::vector<std::int64_t> make_again(
      const std::vector<std::int64_t>& steps,
      const std::function<TrainingRun(const Eigen::VectorXd* parameters)>& start,
      const std::function<bool()>& tick);

 private:
  TrainingRun run_before(
      std::int64_t step,
      std::span<const std::int64_t> damaged,
      const std::function<TrainingRun(const Eigen::VectorXd* parameters)>& start) const;

  bool is_kept(const StateTensor& tensor) const;

  std::vector<RuleSetting> stored_settings(const TrainingRun& run) const;

  std::filesystem::path folder_;
  const Model* model_;
  std::vector<bool> trained_;
  std::map<std::int64_t, std::string> digests_;
};

}  // namespace hesscope::detail
