// SPDX-License-Identifier: BSD-3-Clause
//
// The loss that was computed, compared with the one that is known from elsewhere.
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

/// Who says what the loss of a checkpoint is.
enum class LossSource : std::int8_t { kNobody, kRequest, kProblemFile, kCheckpoint };

struct ExpectedLoss {
  double value = kNaN;
  LossSource source = LossSource::kNobody;
};

/// What is expected of a checkpoint: what the request says, else the problem file, else the number
/// `loss` in the checkpoint.
/// @param asked  of the request.
/// @param stored  in the checkpoint.
ExpectedLoss expected_loss(const ProblemFile& problem,
                           const std::optional<std::int64_t>& step,
                           const std::optional<double>& asked,
                           const std::optional<double>& stored);

/// @throws ConfigError where a problem file gives one loss but there are several checkpoints, or
///         losses by step but there are several runs; or a request not one for each checkpoint.
void require_clear_losses(const ProblemFile& problem,
                          const CheckpointReading& reading,
                          std::size_t num_checkpoints,
                          std::size_t num_runs);

/// What results store of them, for each checkpoint in the root; nothing where no loss is expected.
std::vector<Variable> loss_check_quantities(std::span<const ExpectedLoss> expected);

/// The same where one is.
std::vector<Variable> loss_check_quantities();

/// The comparison of all checkpoints.
struct LossCheck {
  std::vector<Group> records;         ///< of loss_check_quantities(), for each checkpoint
  std::vector<std::string> warnings;  ///< one at most for each source
  /// Whether no loss differs from what a user said. A number that a program left in the checkpoint
  /// may well be of another data set.
  bool is_as_said = true;
};

/// @param roots  the root's records, one for each checkpoint.
LossCheck check_losses(std::span<const ExpectedLoss> expected,
                       std::span<const CheckpointFile> checkpoints,
                       std::span<const Group> roots);

}  // namespace hesscope::detail
