// SPDX-License-Identifier: BSD-3-Clause
//
// The layout of a landscape's result file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <hesscope/analysis/internal/checkpoint_result.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/landscape/internal/landscape_inputs.h>
#include <hesscope/landscape/landscape.h>
#include <hesscope/landscape/plane.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

/// Quantities of the directions of any kind.
std::vector<Variable> direction_quantities();

/// Places of the checkpoints on the plane, along the dimension `step`.
/// @param places  one for each checkpoint; NaN where there is no plane.
/// @param status  of all places; of those that are not finite it is kNonFinite.
Group trajectory_of(std::span<const CheckpointSummary> checkpoints,
                    std::span<const Plane::Projection> places,
                    Status status);

class LandscapeFile {
 public:
  /// Declares everything, names the checkpoints. @throws OutputError.
  LandscapeFile(const LandscapeRequest& request,
                const LandscapeInputs& inputs,
                const Grid& grid,
                const std::vector<Variable>& scalars,
                const io::RunConfiguration& configuration);

  void write_root(std::size_t checkpoint, const Group& root);

  /// What is said of variables of the landscape's group, in their order.
  void write(const Group& answer);

  void commit(bool is_conclusive, const std::vector<std::string>& warnings);

 private:
  void describe(const LandscapeRequest& request, const LandscapeInputs& inputs);
  void define_axes(const Grid& grid);
  void define_steps();
  CheckpointResult root_;
  std::vector<CheckpointFile> checkpoints_;
};

}  // namespace hesscope::detail
