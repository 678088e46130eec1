// SPDX-License-Identifier: BSD-3-Clause
//
// The grid of a result's /landscape, and the checkpoints on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/dataset/result_reader.h>
#include <hesscope/storage/overwrite.h>

namespace hesscope::io {

struct LandscapeGrid {
  std::vector<double> alpha;
  std::vector<double> beta;

  /// Variables over (beta, alpha), the loss first: entry (b, a) at [b * alpha.size() + a].
  std::vector<std::pair<std::string, std::vector<double>>> fields;

  const std::vector<double>& loss() const { return fields.front().second; }
};

/// Whether the result has a landscape.
bool has_landscape(const ResultReader& result);

/// @throws InputError naming the file if there is none, or a variable that does not fit its points.
LandscapeGrid read_landscape(const ResultReader& result);

/// @param num_values  of the variable `name` of /landscape.
/// @throws InputError naming it if their number differs from that of the grid's points.
void require_on_grid(const ResultReader& result,
                     const std::string& name,
                     std::size_t num_values,
                     std::size_t num_alpha,
                     std::size_t num_beta);

/// Checkpoints on the plane, in their order; missing numbers are NaN.
struct LandscapeTrajectory {
  std::vector<std::int64_t> steps;  ///< kMissingCount if there is none
  std::vector<std::int64_t> runs;   ///< kMissingCount if the order of training is not known
  std::vector<double> alpha;
  std::vector<double> beta;
  std::vector<double> residual;  ///< distance from the plane
  std::vector<double> loss;      ///< at the checkpoint itself

  std::size_t size() const { return alpha.size(); }

  /// Whether the checkpoint's place on the plane is known.
  bool has_place(std::size_t i) const;

  /// The checkpoints with a place, divided into one path per run; a checkpoint whose order is not
  /// known is a path of its own.
  std::vector<std::vector<std::size_t>> paths() const;
};

/// Whether there are several checkpoints: a single point is not a trajectory.
bool has_trajectory(const ResultReader& result);

/// Empty if there is no trajectory.
LandscapeTrajectory read_trajectory(const ResultReader& result);

/// The file to which an export writes the trajectory: SUFFIX before the extension of `output`.
/// @throws ConfigError if that is the result itself.
std::filesystem::path trajectory_file(const ResultReader& result,
                                      const std::filesystem::path& output,
                                      const std::string& suffix);

/// For formats that do not prescribe the name of the second file.
inline constexpr char kTrajectorySuffix[] = "-trajectory";

/// Writes `output` and, unless `trajectory` is empty, NAME-trajectory.EXTENSION.
/// @return the files written, `output` first. @throws ConfigError, OutputError.
std::vector<std::filesystem::path> write_landscape(const ResultReader& result,
                                                   const std::filesystem::path& output,
                                                   Existing existing,
                                                   const std::string& grid,
                                                   const std::string& trajectory);

}  // namespace hesscope::io
