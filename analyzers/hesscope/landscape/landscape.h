// SPDX-License-Identifier: BSD-3-Clause
//
// The loss and its curvature on a line or a plane through the parameters of a checkpoint: a result
// file with the group /landscape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoint_run.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/team.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/landscape/directions.h>
#include <hesscope/landscape/grid.h>

namespace hesscope {

/// What is drawn, and how.
struct LandscapeOptions {
  std::string directions;  ///< KIND or KIND:ARGUMENT, see direction_kinds()
  Grid grid;               ///< see parse_grid()
  /// Whether the ends of the grid were left to hesscope. For kinds of directions along the
  /// trajectory (DirectionKind::frames_trajectory), only the numbers of points then come from
  /// `grid`; the grid shows all checkpoints, with a margin of a tenth of their extent.
  bool has_default_span = false;
  std::optional<Normalization> normalization = {};  ///< of random directions; none = the kind's own
  bool leaves_out_vectors = false;                  ///< random: zero in tensors of rank 0 and 1
  bool curvature = false;                           ///< also the exact Hessian at every point
  std::uint64_t seed = 0;                           ///< of all random numbers
  int num_threads = 0;                              ///< 0 = one per core; never changes a result
  /// When it is requested, the run ends soon, wherever it is, by Interrupted.
  std::stop_token stop = {};
};

/// The centre is the last checkpoint in the order of the steps (CheckpointReading::order). If the
/// kind of directions leads from the first checkpoint to others, they are taken as given, and the
/// centre is the first. All are projected on the plane. Tiles of the grid are divided among parts.
struct LandscapeRequest : CheckpointRunRequest, LandscapeOptions {};

/// All variables that the group /landscape can have, as they are in a result, without values; the
/// root is that of analysis_quantities().
Group landscape_quantities();

struct LandscapeTimings {
  double load_seconds = 0;
  double directions_seconds = 0;  ///< including measurements at the checkpoints
  double grid_seconds = 0;
  double write_seconds = 0;
  double total_seconds = 0;
};

/// The numbers of a checkpoint are its position on the plane. A number without proof makes the
/// result inconclusive. A loss that is not finite somewhere on the grid is a property of the
/// landscape, and does not. `part` counts tiles of the grid and other work that one part does
/// alone.
struct LandscapeResult : CheckpointRunResult {
  std::size_t centre = 0;               ///< which of the checkpoints
  std::vector<HeadlineNumber> numbers;  ///< of the landscape
  Eigen::Index num_points = 0;
  Grid grid;
  Eigen::Index num_non_finite = 0;  ///< points at which the loss is not finite
  LandscapeTimings timings;         ///< wall time
};

struct LandscapePlan : CheckpointRunPlan {
  std::size_t num_checkpoints = 0;
  std::filesystem::path centre;
  std::vector<std::string> directions;  ///< in words
  Eigen::Index num_points = 0;
  Grid grid;
};

/// Computes a landscape and writes the result file.
///
/// Every input is checked before anything is computed. Finished work is kept, tile by tile, in the
/// folder OUTPUT.units (unit_folder.h), as in run_analysis(): the same request continues from there
/// and ends with the same bytes, except for the time in its history. Each part finds the directions
/// for itself.
/// @param  progress  called with the fraction done; if it returns false, the run stops by
///                   Interrupted.
/// @throws ConfigError, InputError (also for directions that are zero or parallel, or a centre that
///         is not finite), OutputError, LockedError, MissingPartsError; Interrupted. Then no output
///         exists that did not exist before.
/// @cost   one value for each point; with curvature, one Hessian and one full decomposition.
LandscapeResult run_landscape(const LandscapeRequest& request,
                              const ProgressCallback& progress = {});

/// As serve_analysis().
void serve_landscape(Team& team, const std::function<LandscapeRequest()>& request);

/// Checks the inputs as run_landscape() does and estimates its cost. Writes nothing.
LandscapePlan plan_landscape(const LandscapeRequest& request);

}  // namespace hesscope
