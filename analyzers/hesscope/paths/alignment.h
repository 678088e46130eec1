// SPDX-License-Identifier: BSD-3-Clause
//
// One checkpoint brought as near to another as the model's invariances let it, its loss being the
// same.
//
// Two trainings of one network end in places that differ by the names of hidden units, by signs, by
// scales and by bases of what is only seen in products: differences that no sample notices, and
// that alone put a barrier between them. What is left between aligned checkpoints is of the loss.
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

/// Those of the objective: its invariances, known or found, and the units that a search finds.
AlignmentMaps alignment_maps(const Objective& objective);

struct Alignment {
  Eigen::VectorXd theta;          ///< that was brought near
  double distance_before = kNaN;  ///< |reference - theta|, as given
  double distance = kNaN;         ///< |reference - theta| now
  Eigen::Index num_moved = 0;     ///< units that have changed their place
  Eigen::Index num_flipped = 0;   ///< units that have changed their sign
  /// The families whose continuous maps are too many: their generators times parameters are above
  /// kMaxAlignmentWork. They are left out.
  std::vector<std::string> left_out = {};
};

/// 2e7 numbers, of which an iteration makes a least squares problem.
inline constexpr double kMaxAlignmentWork = 2e7;

/// The point of the orbit of theta that is nearest to `reference`, as far as it is found:
///   min |reference - m(theta)|,  m composed of permutations of units with signs and of flows of
/// continuous invariances.
///
/// Permutations are found family by family, as least assignments of inner products, first by
/// parameters that no family still to come touches, then in turns until nothing improves; of
/// families whose units hold those of others, as heads hold coordinates, pairs are exchanged, too,
/// and what is in them is matched anew. Flows exp(sum_k t_k G_k), which are followed to rounding,
/// by damped Newton steps. Units are matched as they are, and once more with both points moved to
/// where their norms are least, so that scales do not hide what belongs together; the nearer of the
/// two results is taken. Both are minima, exact for copies of one network in general position, and
/// otherwise not proved to be the least of all: that would be a quadratic assignment.
/// @throws PreconditionError for points of other sizes, or that are not finite.
/// @cost   a few hundred assignments, O(m^3) of families of m units; least squares n x K of K
///         generators.
/// @source R. Entezari et al. (2021), arXiv 2110.06296; S. Ainsworth et al. (2022), arXiv
///         2209.04836, whose matching of weights this is for models without continuous invariances.
Alignment align(const Objective& objective,
                const AlignmentMaps& maps,
                const Eigen::Ref<const Eigen::VectorXd>& reference,
                const Eigen::Ref<const Eigen::VectorXd>& theta,
                const ProgressCallback& progress = {});

}  // namespace hesscope
