// SPDX-License-Identifier: BSD-3-Clause
//
// A problem and the checkpoints of a run, opened and checked against each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/analysis/checkpoint_run.h>
#include <hesscope/analysis/internal/checkpoint_order.h>
#include <hesscope/analysis/internal/loss_check.h>
#include <hesscope/core/settings.h>
#include <hesscope/problem/problem.h>
#include <hesscope/storage/run_configuration.h>
#include <hesscope/tensors/tensor_map.h>

namespace hesscope::detail {

/// A value as a configuration records it.
std::string text_of(const SettingValue& value);

/// What every result depends on: this program and this processor.
io::RunConfiguration program_configuration();

/// Results name their inputs in UTF-8 text. @throws ConfigError if this name is not UTF-8.
void require_utf8_name(const std::filesystem::path& path);

/// What open_inputs() found. Vectors have one entry for each checkpoint, in their order.
struct CheckpointInputs {
  std::vector<CheckpointFile> checkpoints = {};  ///< with their steps
  std::vector<CheckpointRun> runs = {};          ///< to which they belong
  std::string step_definition = {};              ///< where the steps are from
  std::string step_unit = {};                    ///< what they count
  CheckpointOrder order = CheckpointOrder::kByStep;
  std::string step_key = {};                     ///< as in CheckpointReading
  std::string key = {};                          ///< part of the checkpoints that is read
  std::filesystem::path map_file = {};           ///< empty = none
  std::optional<io::TensorMap> tensor_map = {};  ///< its content
  Problem problem;
  std::vector<std::string> digests = {};           ///< SHA-256 of the bytes that were read
  std::vector<std::filesystem::path> shards = {};  ///< files that checkpoints are spread over
  std::vector<Eigen::VectorXd> points = {};        ///< the parameters
  /// For each checkpoint its buffers if they differ from those of `problem`'s model, else nullptr.
  /// See Problem::objective_at().
  std::vector<std::shared_ptr<const CheckpointBuffers>> buffers = {};
  std::vector<OptimizerState> optimizers = {};  ///< what the checkpoints hold of their optimisers
  std::vector<ExpectedLoss> expected_losses = {};
  /// What a user should know about the inputs although nothing is refused: one sentence each,
  /// naming the file. Results carry them.
  std::vector<std::string> warnings = {};

  /// The loss at checkpoint number i. It is built anew if the checkpoint has buffers of its own:
  /// keep it no longer than needed.
  CheckpointObjective objective_at(std::size_t i) const {
    return problem.objective_at(points[i], buffers[i].get(), static_cast<std::int64_t>(i));
  }

  /// The part of a result's configuration that comes from these inputs and this program.
  io::RunConfiguration configuration() const;

  /// Replacing an input by the result would destroy the subject of the result.
  /// @throws ConfigError if the output is one of the inputs, or one of `others`.
  void require_output_apart(const std::filesystem::path& output,
                            std::span<const std::filesystem::path> others = {}) const;

  /// The map of names as results record it; empty without one.
  std::string map_text() const;
};

/// Opens everything, reads the points, checks them against each other and puts them in order.
/// @param function  begins the message if there are no checkpoints.
/// @throws ConfigError, InputError, PreconditionError; InputError also if the digest of a
///         checkpoint is not the expected one.
CheckpointInputs open_inputs(const char* function,
                             const CheckpointRunRequest& request,
                             int num_threads,
                             const std::stop_token& stop);

}  // namespace hesscope::detail
