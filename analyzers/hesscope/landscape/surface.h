// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/core/executor.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/landscape/grid.h>
#include <hesscope/landscape/plane.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

/// An objective over the points of a grid in a plane, tile by tile. A tile is a range of
/// consecutive points; their number depends only on the size of the problem.
///
/// The quantities are those of quantities(); each has a status at each point. A point at which the
/// loss is not finite has the status non_finite: a landscape that overflows far out is not a
/// failure.
class Surface {
 public:
  struct Options {
    /// Also computes gradient norm, spectrum of the Hessian and second derivatives in the plane.
    bool curvature = false;
    int num_threads = 0;    ///< points at a time; as in Executor. No result depends on it.
    StopRequest stop = {};  ///< as in Executor
  };

  /// `objective` must outlive this. @throws PreconditionError as require_grid(), if the sizes do
  /// not fit, or if the grid needs a second direction that the plane lacks.
  Surface(const Objective& objective, Plane plane, Grid grid, const Options& options);
  Surface(const Objective&& objective, Plane plane, Grid grid, const Options& options) = delete;

  const Plane& plane() const { return plane_; }

  const Grid& grid() const { return grid_; }

  /// What is computed at each point, the loss first.
  const std::vector<Variable>& quantities() const { return quantities_; }

  /// Points that are computed at a time: limited by threads and, with curvature, by memory.
  static int points_at_once(const Objective& objective, const Options& options);

  Eigen::Index num_tiles() const;

  /// Number of points of a tile. @throws PreconditionError if there is no such tile.
  Eigen::Index size_of(Eigen::Index tile) const;

  /// quantities() with a value and a status for each point of the tile; NaN if there is no value.
  /// @param  advance  called with the part of a point, or the number of points, that was just done,
  ///                  from one thread at a time; if it throws, the tile ends and the exception is
  ///                  rethrown. May be empty.
  /// @throws PreconditionError if there is no such tile.
  /// @cost   a value for each point; with curvature a gradient, a Hessian and a full decomposition
  ///         (dense_spectrum), and four n x n matrices for each thread, up to 2 GiB in all.
  Group tile(Eigen::Index tile, const std::function<void(double)>& advance) const;

 private:
  struct Value {
    double value;
    Status status;
  };

  std::vector<Value> evaluate(Eigen::Index point, const std::function<void(double)>& advance) const;

  const Objective* objective_;
  Plane plane_;
  Grid grid_;
  Options options_;
  std::vector<Variable> quantities_;
  Eigen::Index points_per_tile_;
  Executor executor_;
};

/// The quantities of a surface, with or without curvature.
std::vector<Variable> surface_quantities(bool curvature);

}  // namespace hesscope
