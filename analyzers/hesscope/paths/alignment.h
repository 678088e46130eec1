// SPDX-License-Identifier: BSD-3-Clause
//
// Moves one checkpoint as near to another as the model's invariances allow, without changing its
// loss.
//
// Two trainings of one network end at points that differ by the names of hidden units, by signs, by
// scales, and by bases of factors that only occur in products. No sample notices these differences,
// but they alone put a barrier between the points. What remains between aligned checkpoints is a
// property of the loss.
#pragma once

#include <string>
#include <vector>

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/invariance.h>
#include <hesscope/core/progress.h>
#include <hesscope/objective/objective.h>
#include <hesscope/objective/unit_search.h>

namespace hesscope {

/// The maps that an alignment may use.
struct AlignmentMaps {
  std::vector<InterchangeableUnits> units = {};
  std::vector<Invariance> invariances = {};
};

/// The maps of the objective: its invariances, declared or found, and the units that a search
/// finds.
AlignmentMaps alignment_maps(const Objective& objective);

struct Alignment {
  Eigen::VectorXd theta;          ///< the moved point
  double distance_before = kNaN;  ///< |reference - theta| before
  double distance = kNaN;         ///< |reference - theta| now
  Eigen::Index num_moved = 0;     ///< units that have changed places
  Eigen::Index num_flipped = 0;   ///< units that have changed signs
  /// The families that were left out because they have too many continuous maps: generators times
  /// parameters are above kMaxAlignmentWork.
  std::vector<std::string> left_out = {};
};

/// 2e7 numbers, from which each iteration builds a least-squares problem.
inline constexpr double kMaxAlignmentWork = 2e7;

/// The point of the orbit of theta that is nearest to `reference`, as far as it can be found:
///   min |reference - m(theta)|,
/// where m is composed of permutations of units with signs and of flows of continuous invariances.
///
/// Permutations are found family by family, as assignments with the largest inner products: first
/// by parameters that no later family touches, then in turns until nothing improves. If units of a
/// family contain those of others, as heads contain coordinates, pairs are also exchanged, and the
/// units in them are matched again. Flows exp(sum_k t_k G_k), which are computed to rounding, are
/// found by damped Newton steps. Units are matched as they are, and again with both points moved to
/// where their norms are smallest, so that scales do not hide which units belong together; the
/// nearer result is taken. Both are local minima. They are exact for copies of one network in
/// general position, and otherwise not proved to be global minima: that would be a quadratic
/// assignment problem.
/// @throws PreconditionError for points with other sizes, or that are not finite.
/// @cost   a few hundred assignments, O(m^3) for families of m units; least squares with n x K for
///         K generators.
/// @source R. Entezari et al. (2021), arXiv 2110.06296; S. Ainsworth et al. (2022), arXiv
///         2209.04836: for models without continuous invariances, this is their matching of
///         weights.
Alignment align(const Objective& objective,
                const AlignmentMaps& maps,
                const Eigen::Ref<const Eigen::VectorXd>& reference,
                const Eigen::Ref<const Eigen::VectorXd>& theta,
                const ProgressCallback& progress = {});

}  // namespace hesscope
