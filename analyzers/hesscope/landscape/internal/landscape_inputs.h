// SPDX-License-Identifier: BSD-3-Clause
//
// The inputs of a landscape, opened and checked against each other.
#pragma once

#include <hesscope/analysis/internal/checkpoint_inputs.h>
#include <hesscope/landscape/directions.h>
#include <hesscope/landscape/internal/landscape_view.h>
#include <hesscope/landscape/landscape.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

class LandscapeInputs {
 public:
  /// Opens everything and prepares the directions. `follow` is called during the work at the
  /// centre.
  /// @throws ConfigError, InputError, PreconditionError.
  LandscapeInputs(const LandscapeRequest& request, ProgressCallback follow);
  LandscapeInputs(const LandscapeInputs&) = delete;
  LandscapeInputs& operator=(const LandscapeInputs&) = delete;

  /// Everything that a result depends on.
  io::RunConfiguration configuration() const;

  const CheckpointInputs& files() const { return files_; }

  LandscapeView& view() { return view_; }

  const LandscapeView& view() const { return view_; }

 private:
  void warn_of_other_buffers();

  NamedDirections named_;
  CheckpointInputs files_;
  CheckpointObjective centre_objective_;
  LandscapeView view_;
};

}  // namespace hesscope::detail
