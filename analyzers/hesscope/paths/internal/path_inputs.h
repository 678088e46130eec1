// SPDX-License-Identifier: BSD-3-Clause
//
// The inputs of a path, opened and checked against each other.
#pragma once

#include <Eigen/Core>

#include <hesscope/analysis/internal/checkpoint_inputs.h>
#include <hesscope/objective/objective.h>
#include <hesscope/paths/path.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

class PathInputs {
 public:
  /// Opens everything. @throws ConfigError, InputError.
  explicit PathInputs(const PathRequest& request);
  PathInputs(const PathInputs&) = delete;
  PathInputs& operator=(const PathInputs&) = delete;

  /// Everything that a result depends on.
  io::RunConfiguration configuration(const PathRequest& request) const;

  const CheckpointInputs& files() const { return files_; }

  /// The objective of the first checkpoint, which is used for the whole path.
  const Objective& objective() const { return *objective_.objective; }

  const Eigen::VectorXd& first() const { return files_.points[0]; }

  const Eigen::VectorXd& second() const { return files_.points[1]; }

 private:
  CheckpointInputs files_;
  CheckpointObjective objective_;
};

}  // namespace hesscope::detail
