// SPDX-License-Identifier: BSD-3-Clause
//
// The path from one checkpoint to another: alignment by the model's invariances, the straight path,
// the path of minimum energy, its pass, and the spectrum along it, as a result file with the group
// /path.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoint_run.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/team.h>
#include <hesscope/dataset/dataset.h>

namespace hesscope {

/// There are two checkpoints, taken as given. Images are divided among parts; each finds the band
/// itself.
struct PathRequest : CheckpointRunRequest {
  bool aligns = true;             ///< whether the second is aligned with the first
  bool has_spectrum = true;       ///< whether the exact Hessian is analyzed at every image
  std::int64_t num_images = 17;   ///< of the band, with its ends; at least 3
  std::int64_t max_steps = 5000;  ///< of the band; at least 0
  double tolerance = 1e-3;        ///< as in ElasticBand; above 0
  std::uint64_t seed = 0;         ///< unused, since nothing is drawn at random; results record it
  int num_threads = 0;            ///< 0 = one per core; never changes a result
  /// When it is requested, the run ends soon, wherever it is, by Interrupted.
  std::stop_token stop = {};
};

/// All variables that the group /path can have, as they are in a result, without values.
Group path_quantities();

struct PathTimings {
  double load_seconds = 0;
  double alignment_seconds = 0;
  double band_seconds = 0;       ///< including the straight path
  double curvature_seconds = 0;  ///< the pass and the spectra
  double write_seconds = 0;
  double total_seconds = 0;
};

/// A number without proof, or a band that has not come to rest, makes the result inconclusive.
/// `part` counts images and other work that one part does alone.
struct PathResult : CheckpointRunResult {
  std::vector<HeadlineNumber> numbers;  ///< of the path
  std::vector<std::string> aligned_by;  ///< names of the available families of maps
  PathTimings timings;                  ///< wall time
};

/// `seconds` are for all steps of the band, from one gradient and one Hessian, without the
/// alignment.
struct PathPlan : CheckpointRunPlan {
  std::int64_t num_images = 0;
};

/// Finds a path and writes the result file.
///
/// Every input is checked before anything is computed. Finished work is kept, the band every
/// hundred steps, in the folder OUTPUT.units (unit_folder.h), as in run_analysis(): the same
/// request continues from there and ends with the same bytes, except for the time in its history.
/// @param  progress  called with the fraction done; if it returns false, the run stops by
///                   Interrupted.
/// @throws ConfigError, also unless there are two checkpoints, and for options out of range;
///         InputError, also for weights that are not finite; OutputError, LockedError,
///         MissingPartsError; Interrupted. Then no output exists that did not exist before.
/// @cost   up to max_steps gradients for each image; a Hessian and its spectrum for each image;
///         some Hessians and eigensystems for the pass.
PathResult run_path(const PathRequest& request, const ProgressCallback& progress = {});

/// As serve_analysis().
void serve_path(Team& team, const std::function<PathRequest()>& request);

/// Checks the inputs as run_path() does and estimates its cost. Writes nothing.
PathPlan plan_path(const PathRequest& request);

}  // namespace hesscope
