// SPDX-License-Identifier: BSD-3-Clause
//
// What the checkpoints of one run, and their names, show about the steps at which they were
// written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoints.h>

namespace hesscope::detail {

/// A checkpoint as given, and the counters in it.
struct CheckpointEvidence {
  CheckpointFile file;
  std::map<std::string, double> counters = {};  ///< training_counters(), and optimizer.step
};

using Steps = std::vector<std::int64_t>;  ///< one for each checkpoint of a run

/// The indices 0, 1, ... ordered by their steps; equal ones keep their order.
std::vector<std::size_t> sorted_by(const Steps& steps);

/// Whether `fine` somewhere does not increase where `coarse` does: it starts again.
bool goes_back(const Steps& coarse, const Steps& fine);

class RunEvidence {
 public:
  /// @param given    all checkpoints; must outlive this.
  /// @param members  which of them belong to the run.
  RunEvidence(std::span<const CheckpointEvidence> given, std::vector<std::size_t> members);

  const std::vector<std::size_t>& members() const { return members_; }

  std::size_t size() const { return members_.size(); }

  const CheckpointEvidence& at(std::size_t i) const { return given_[members_[i]]; }

  std::string name(std::size_t i) const { return at(i).file.path.string(); }

  /// A counter in the files, if all have it.
  std::optional<Steps> counter(const std::string& key) const;

  /// The counter asked for. @throws InputError if a checkpoint does not have it.
  Steps counter_asked_for(const std::string& key) const;

  /// Keys that some of the checkpoints have, but not all.
  std::vector<std::string> partial_counters() const;

  /// N of step-N, if all files are named so.
  std::optional<Steps> steps_of_convention() const;

  bool names_steps() const;
  bool names_epochs() const;

  /// The numbers in the names: if names are alike, the last number that is not the same in all.
  /// Nothing if an earlier number increases while that one decreases.
  std::optional<Steps> steps_in_names() const;

  /// Whether a name has a number that is too large for a step.
  bool has_too_large_numbers() const;

 private:
  std::optional<std::int64_t> counter_of(std::size_t i, const std::string& key) const;

  template <typename StepOf>
  std::optional<Steps> collect(StepOf step_of) const;

  std::span<const CheckpointEvidence> given_;
  std::vector<std::size_t> members_;
};

}  // namespace hesscope::detail
