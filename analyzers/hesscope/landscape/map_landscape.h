// SPDX-License-Identifier: BSD-3-Clause
//
// The landscape of an objective of one's own, in one call:
//
//   hesscope::LandscapeOptions options;
//   options.directions = "eigen";
//   options.grid = hesscope::parse_grid("51x51", "-1:1");
//   const auto landscape = hesscope::map_landscape(objective, {{"end", theta}}, options);
//   landscape.write("plane.h5");  // for hesscope plot, export and inspect, h5py, xarray ...
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/analysis/analyze.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/progress.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/landscape/grid.h>
#include <hesscope/landscape/landscape.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

class Problem;

/// What map_landscape() returns: a value that depends on nothing else and is cheap to copy. Moving
/// copies it.
class LandscapeMap {
 public:
  LandscapeMap(const LandscapeMap&) = default;
  LandscapeMap& operator=(const LandscapeMap&) = default;

  /// The points at which the loss is known, including a grid that was laid around the given points.
  const Grid& grid() const;

  /// The loss at (alpha[j], beta[i]): beta.size() x alpha.size(). NaN where it is not finite, and
  /// everywhere if there are no directions, for example along a gradient that is not finite.
  const Eigen::MatrixXd& loss() const;

  /// All other quantities of the group /landscape of a result, with the names that they have there:
  /// curvature at the points of the grid (beta, alpha), directions, curvatures at the centre,
  /// positions of the points on the plane.
  const Group& group() const;

  /// Sentences about numbers that are missing or not proved.
  std::span<const std::string> warnings() const&;
  std::span<const std::string> warnings() && = delete;

  /// As in LandscapeResult.
  bool is_conclusive() const;

  /// Writes a result file as `hesscope landscape` does, with the points as in Analysis::write().
  /// @throws OutputError as that.
  void write(const std::filesystem::path& output, const WriteOptions& options = {}) const;

 private:
  friend class LandscapeMapping;

  struct Impl;

  explicit LandscapeMap(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;
};

/// The loss of an objective on a line or a plane; with `curvature`, also the curvature by its
/// Hessian.
///
/// @param points   at least one, each of objective.num_parameters() numbers, in the order of their
///                 run. The centre is the last one, or the first if the kind of directions leads
///                 from one point to others. All are projected on the plane.
/// @param options  must give directions and grid.
/// @throws ConfigError for directions that do not exist, do not fit the number of points or need
///         another argument; PreconditionError for points and grids that do not fit, and as
///         require_objective(); InputError for directions that are zero or parallel, or a centre
///         that is not finite; Interrupted if progress returned false.
/// @cost   as run_landscape(); everything is held in memory.
LandscapeMap map_landscape(const Objective& objective,
                           const std::vector<NamedPoint>& points,
                           const LandscapeOptions& options,
                           const ProgressCallback& progress = {});

/// The same for a problem's objective; the result names the problem and its data.
LandscapeMap map_landscape(const Problem& problem,
                           const std::vector<NamedPoint>& points,
                           const LandscapeOptions& options,
                           const ProgressCallback& progress = {});

}  // namespace hesscope
