// SPDX-License-Identifier: BSD-3-Clause
//
// The layout of a landscape's result file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <hesscope/analysis/internal/result_root.h>
#include <hesscope/analyzers/record.h>
#include <hesscope/landscape/internal/landscape_inputs.h>
#include <hesscope/landscape/landscape.h>
#include <hesscope/landscape/plane.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

/// A quantity at every point of the grid.
struct SurfaceValues {
  Quantity quantity;
  std::vector<double> values;  ///< alpha fastest; NaN where there is none
  std::vector<Status> statuses;
};

/// Quantities of the directions of any kind.
std::vector<Quantity> direction_quantities();

/// Of the checkpoints' places on the plane, along the dimension `step`.
std::vector<Quantity> trajectory_quantities();

/// A checkpoint's place on the plane.
struct TrajectoryPoint {
  Plane::Projection place;
  Status status;  ///< of the place
  double loss;
  Status loss_status;
};

class LandscapeFile {
 public:
  /// Declares everything, names the checkpoints. @throws OutputError.
  LandscapeFile(const LandscapeRequest& request,
                const LandscapeInputs& inputs,
                const Grid& grid,
                const std::vector<Quantity>& scalars,
                const io::RunConfiguration& configuration);

  void write_root(std::size_t checkpoint, const Record& root);

  /// Entries of quantities along no dimension, or along `parameter`.
  void write(const Record& record);

  void write(const SurfaceValues& surface);
  void write(const std::vector<TrajectoryPoint>& trajectory);
  void commit(bool is_conclusive, const std::vector<std::string>& warnings);

 private:
  void describe(const LandscapeRequest& request, const LandscapeInputs& inputs);
  void define_axes(const Grid& grid);
  void define_steps();
  ResultRoot root_;
  std::vector<CheckpointFile> checkpoints_;
};

}  // namespace hesscope::detail
