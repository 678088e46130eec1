// SPDX-License-Identifier: BSD-3-Clause
//
// The layout of a landscape's result file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <hesscope/analysis/internal/checkpoint_order.h>
#include <hesscope/analysis/internal/checkpoint_result.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/landscape/grid.h>
#include <hesscope/landscape/internal/landscape_view.h>
#include <hesscope/landscape/plane.h>
#include <hesscope/storage/overwrite.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

/// Quantities of the directions of any kind.
std::vector<Variable> direction_quantities();

/// Positions of the checkpoints on the plane, along the dimension `step`.
/// @param runs    the runs of the checkpoints.
/// @param places  one for each checkpoint; NaN if there is no plane.
/// @param status  of all positions; those that are not finite get kNonFinite.
Group trajectory_of(std::span<const CheckpointSummary> checkpoints,
                    std::span<const CheckpointRun> runs,
                    std::span<const Plane::Projection> places,
                    Status status);

/// The content of a landscape's file apart from its numbers.
struct LandscapeHeader {
  ResultSubject subject;
  Provenance provenance;
  io::RunConfiguration configuration;
  std::span<const CheckpointFile> checkpoints;
  std::span<const std::string> digests;  ///< one for each checkpoint
  LandscapeDescription description;
  Grid grid;
  std::vector<Variable> scalars;  ///< quantities without dimensions, in their order
};

class LandscapeFile : public CheckpointResult {
 public:
  /// Declares everything and names the checkpoints. @throws OutputError.
  LandscapeFile(const std::filesystem::path& output,
                io::Existing existing,
                const LandscapeHeader& header);

  /// Writes the values of the landscape's group, in their order.
  void write_parts(const LandscapeParts& parts);

 private:
  void describe(const LandscapeDescription& description);
  void define_axes(const Grid& grid);
  void define_steps(std::size_t count, const std::vector<std::int64_t>& steps);
};

}  // namespace hesscope::detail
