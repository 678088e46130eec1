// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/status.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

/// The loss on the straight path theta(t) = first + t (second - first).
struct StraightPath {
  Eigen::VectorXd places;  ///< t, evenly from 0 to 1
  Eigen::VectorXd losses;  ///< at these places
  /// max over t of loss(t) - ((1 - t) loss(0) + t loss(1)), at least 0. kNonFinite if a loss is not
  /// finite.
  double barrier = kNaN;
  double barrier_place = kNaN;  ///< the t of the barrier
  Status status = Status::kNotComputed;
};

/// The maximum is the highest among the places and the maxima between them. Each of those is found
/// to rounding as the point where the exact slope, d.g(theta(t)) - (loss(1) - loss(0)) with d =
/// second - first, changes its sign. A maximum between two places is missed if neither losses nor
/// slopes show it.
/// @param  num_places  at least 2. @throws PreconditionError, also for points of other sizes.
/// @cost   a gradient for each place, and some 50 gradients for each maximum between two.
/// @source J. Frankle et al. (2020), Linear mode connectivity and the lottery ticket hypothesis,
///         arXiv 1912.05671.
StraightPath straight_path(const Objective& objective,
                           const Eigen::Ref<const Eigen::VectorXd>& first,
                           const Eigen::Ref<const Eigen::VectorXd>& second,
                           Eigen::Index num_places);

}  // namespace hesscope
