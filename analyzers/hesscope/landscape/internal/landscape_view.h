// SPDX-License-Identifier: BSD-3-Clause
//
// A requested landscape, for points from any source: its directions, its plane, and everything that
// is put together once the loss on the grid is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoints.h>
#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/landscape/directions.h>
#include <hesscope/landscape/landscape.h>
#include <hesscope/landscape/plane.h>
#include <hesscope/landscape/surface.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

/// What a result file says about a landscape in addition to its numbers.
struct LandscapeDescription {
  std::string directions;
  std::vector<std::string> direction_descriptions;
  std::vector<std::string> direction_digests;  ///< SHA-256 of the files from which they are read
  std::string normalization;                   ///< empty for kinds that scale nothing
  bool leaves_out_vectors = false;
  bool curvature = false;
  std::uint64_t seed = 0;
  std::size_t centre = 0;
};

/// What a result file holds about a landscape.
struct LandscapeParts {
  Group surface;     ///< at every point of the grid, alpha fastest; the loss first
  Group trajectory;  ///< see trajectory_of()
  Group directions;  ///< those of the kind come last
  Group scalars;     ///< the others, in the order of the summary
};

/// The plane and the positions on it.
struct FoundPlane {
  Plane plane;
  std::vector<Plane::Projection> places;  ///< of the points
  Grid grid;
  std::string left_out = {};  ///< a warning about points outside of the grid; empty = none
};

/// The kind of directions, if the options fit it. @param function begins the message if there are
/// no points or no grid. @throws ConfigError, PreconditionError.
NamedDirections checked_directions(const char* function,
                                   const LandscapeOptions& options,
                                   std::size_t num_points);

/// Which of that many points is the centre.
std::size_t centre_among(std::size_t num_points, const DirectionKind& kind);

class LandscapeView {
 public:
  /// Prepares the directions. Objective, points and files must outlive the view.
  /// @param named      from checked_directions().
  /// @param objective  that of the centre.
  /// @param points     with their names for messages, one for each.
  /// @param key        the part of the files that was read; empty = all.
  /// @param map        for the names in it; null = none.
  /// @param follow     called during the work at the centre.
  /// @throws ConfigError, InputError.
  LandscapeView(const LandscapeOptions& options,
                const NamedDirections& named,
                const Objective& objective,
                std::span<const Eigen::VectorXd> points,
                std::span<const CheckpointFile> files,
                const std::string& key,
                const io::TensorMap* map,
                ProgressCallback follow);
  LandscapeView(const LandscapeView&) = delete;
  LandscapeView& operator=(const LandscapeView&) = delete;

  const LandscapeOptions& options() const { return options_; }

  const DirectionKind& kind() const { return kind_; }

  std::size_t centre_index() const { return centre_index_; }

  PointAnalysis& centre() { return centre_; }

  const PreparedDirections& prepared() const { return prepared_; }

  LandscapeDescription description() const;

  /// Adds everything that a result depends on, apart from points and objective.
  void add_configuration(io::RunConfiguration& all) const;

  /// Quantities of the directions, including those of their kind.
  std::vector<Variable> direction_quantities() const;

  /// The other quantities without dimensions, in the order of the summary and of the file, where
  /// those of the kind come first.
  std::vector<Variable> scalars() const;

  /// A record of direction_quantities(): computed, or with a status if there are no directions.
  /// @throws InputError for directions that are zero or parallel.
  Group make_directions() const;

  /// Whether the grid is laid around the points once their positions are known.
  bool is_framed() const { return options_.has_default_span && kind_.frames_trajectory; }

  /// The plane of such a record with status kOk.
  FoundPlane find_plane(const Group& directions) const;

  /// The curvature at the centre, without the numbers that need the grid. @cost as
  /// measure_centre().
  Group measure_centre(const Plane& plane);

  /// The objective on the grid of a plane.
  Surface make_surface(const FoundPlane& found) const;

  /// Assembles everything.
  /// @param directions   from make_directions().
  /// @param checkpoints  of the points, in their order.
  /// @param runs         of the checkpoints.
  /// @param found        with the result of measure_centre(); null if there are no directions.
  /// @param tile         returns the tiles of the surface, `num_tiles` of them.
  LandscapeParts assemble(const Group& directions,
                          std::span<const CheckpointSummary> checkpoints,
                          std::span<const CheckpointRun> runs,
                          const FoundPlane* found,
                          const Group* centre,
                          Eigen::Index num_tiles,
                          const std::function<Group(Eigen::Index)>& tile) const;

 private:
  void require_independent(const Eigen::MatrixXd& directions) const;
  bool has_barrier() const;
  Group join_tiles(Status status,
                   Eigen::Index num_tiles,
                   const std::function<Group(Eigen::Index)>& tile) const;

  const LandscapeOptions options_;
  const DirectionKind& kind_;
  std::span<const Eigen::VectorXd> points_;
  std::span<const CheckpointFile> files_;
  std::size_t centre_index_;
  PointAnalysis centre_;
  DirectionContext context_;
  PreparedDirections prepared_;
};

}  // namespace hesscope::detail
