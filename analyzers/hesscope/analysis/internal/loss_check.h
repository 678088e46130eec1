// SPDX-License-Identifier: BSD-3-Clause
//
// Compares the computed loss with one that is known from elsewhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoints.h>
#include <hesscope/core/constants.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/problem/problem_file.h>

namespace hesscope::detail {

/// Where the expected loss of a checkpoint comes from.
enum class LossSource : std::int8_t { kNobody, kRequest, kProblemFile, kCheckpoint };

struct ExpectedLoss {
  double value = kNaN;
  LossSource source = LossSource::kNobody;
};

/// The expected loss of a checkpoint: that of the request, else that of the problem file, else the
/// number `loss` in the checkpoint.
/// @param asked   from the request.
/// @param stored  in the checkpoint.
ExpectedLoss expected_loss(const ProblemFile& problem,
                           const std::optional<std::int64_t>& step,
                           const std::optional<double>& asked,
                           const std::optional<double>& stored);

/// @throws ConfigError if a problem file gives one loss for several checkpoints, or losses by step
///         for several runs; or if a request does not give one loss for each checkpoint.
void require_clear_losses(const ProblemFile& problem,
                          const CheckpointReading& reading,
                          std::size_t num_checkpoints,
                          std::size_t num_runs);

/// What the root of a result stores about them for each checkpoint; nothing if no loss is expected.
std::vector<Variable> loss_check_quantities(std::span<const ExpectedLoss> expected);

/// The same if one is expected.
std::vector<Variable> loss_check_quantities();

/// The comparison for all checkpoints.
struct LossCheck {
  std::vector<Group> records;         ///< of loss_check_quantities(), for each checkpoint
  std::vector<std::string> warnings;  ///< at most one for each source
  /// Whether no loss differs from what a user said. A number that a program left in the checkpoint
  /// may well belong to another data set.
  bool is_as_said = true;
};

/// @param roots  the root's records, one for each checkpoint.
LossCheck check_losses(std::span<const ExpectedLoss> expected,
                       std::span<const CheckpointFile> checkpoints,
                       std::span<const Group> roots);

}  // namespace hesscope::detail
