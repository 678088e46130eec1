// SPDX-License-Identifier: BSD-3-Clause
//
// A problem and the checkpoints a run is about, opened and checked against each other.
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

#include <hesscope/analysis/checkpoints.h>
#include <hesscope/analysis/internal/checkpoint_order.h>
#include <hesscope/analysis/internal/loss_check.h>
#include <hesscope/core/settings.h>
#include <hesscope/problem/problem.h>
#include <hesscope/storage/run_configuration.h>
#include <hesscope/tensors/tensor_map.h>

namespace hesscope::detail {

/// A value as a configuration records it.
std::string text_of(const SettingValue& value);

/// What every result depends on: this program, on this processor.
io::RunConfiguration program_configuration();

/// Results, whose text is UTF-8, name their inputs. @throws ConfigError if this name is not.
void require_utf8_name(const std::filesystem::path& path);

/// What open_inputs() found. Vectors have one entry for each checkpoint, in their order.
struct CheckpointInputs {
  std::vector<CheckpointFile> checkpoints = {};  ///< with their steps
  std::vector<CheckpointRun> runs = {};          ///< that they are of
  std::string step_definition = {};              ///< where the steps are from
  std::string step_unit = {};                    ///< what they count
  CheckpointOrder order = CheckpointOrder::kByStep;
  std::string step_key = {};                     ///< as CheckpointReading has them
  std::string key = {};                          ///< part of the checkpoints that is taken
  std::filesystem::path map_file = {};           ///< empty = none
  std::optional<io::TensorMap> tensor_map = {};  ///< what it says
  Problem problem;
  std::vector<std::string> digests = {};           ///< SHA-256 of the bytes that were read
  std::vector<std::filesystem::path> shards = {};  ///< files that checkpoints are spread over
  std::vector<Eigen::VectorXd> points = {};        ///< the parameters
  /// That are not the model's of `problem`; nullptr for those that are. Problem::objective_at().
  std::vector<std::shared_ptr<const CheckpointBuffers>> buffers = {};
  std::vector<OptimizerState> optimizers = {};  ///< what checkpoints hold of theirs
  std::vector<ExpectedLoss> expected_losses = {};
  /// What a user should know of the inputs although nothing is refused: one sentence each, naming
  /// the file. Results carry them.
  std::vector<std::string> warnings = {};

  /// The loss at checkpoint number i. Made anew for buffers of its own: keep it no longer than
  /// needed.
  CheckpointObjective objective_at(std::size_t i) const {
    return problem.objective_at(points[i], buffers[i].get(), static_cast<std::int64_t>(i));
  }

  /// What a result depends on as far as it is in these inputs and in this program.
  io::RunConfiguration configuration() const;

  /// Replacing an input by the result would destroy what the result is about.
  /// @throws ConfigError if the output is one of the inputs, or of `others`.
  void require_output_apart(const std::filesystem::path& output,
                            std::span<const std::filesystem::path> others = {}) const;

  /// The map of names as results record it; empty without one.
  std::string map_text() const;
};

/// Opens everything, reads the points, checks them against each other and puts them in order.
/// @param function  begins the message where there are no checkpoints.
/// @param team      of ranks that share the work of the objectives; null = none.
/// @throws ConfigError, InputError, PreconditionError; InputError also for a checkpoint whose
///         digest is not the expected one.
CheckpointInputs open_inputs(const char* function,
                             const std::vector<CheckpointFile>& files,
                             const CheckpointReading& reading,
                             const std::filesystem::path& problem_file,
                             int num_threads,
                             const std::stop_token& stop,
                             const std::shared_ptr<Team>& team = {});

}  // namespace hesscope::detail
