// SPDX-License-Identifier: BSD-3-Clause
//
// Units of a model that may change places, found by what exact second derivatives say of them.
//
// The hidden units of a layer have no order: with a unit go its weights, its bias and the weights
// of what comes next, and the loss does not see it. Where a model hides its units nobody has to
// say: heads in a stack of matrices, channels in front of the positions of a flattened image, units
// of many layers that are all of one width.
//
// A swap of two units acts on some axes of some tensors; each alone changes the loss, together they
// do not. At a point theta that each of them leaves as it is, let d_a be a direction that changes
// its sign under the swap on axis a and does not under those on the other axes. If the swap on a
// set S of axes together leaves the loss as it is, so does it with second derivatives: d_a . H d_b
// is its own negative, and zero, wherever one of a and b is in S and the other is not. So H d_b of
// all axes b makes a graph whose connected parts are the smallest sets there can be. Each is then
// verified, by gradients of single samples at points that were not used to find it, for
// permutations of all units.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

/// Units that may change places, and perhaps signs, without any sample noticing.
struct InterchangeableUnits {
  /// Units x parameters of each on one axis of a tensor: (u, k) is the place in theta of the k-th
  /// parameter of unit u. A tensor of which two axes have the same units, as recurrent weights, has
  /// two.
  using Axis = Eigen::Matrix<Eigen::Index, Eigen::Dynamic, Eigen::Dynamic>;

  std::string name;        ///< the tensors that they are in, as "layers.0.weight, layers.0.bias"
  std::vector<Axis> axes;  ///< at least one
  /// For each axis, whether a unit may change its sign on it, on all such axes together, as around
  /// an activation that is odd. Empty if no such signs are known.
  std::vector<bool> flips = {};

  Eigen::Index num_units() const { return axes.front().rows(); }

  /// theta with what unit sources[u] has in the place of unit u, and where signs[u] is -1 with the
  /// signs of that unit's parameters on `flips` reversed.
  /// @param sources  a permutation of the units.
  /// @param signs    1 or -1 each; all 1 where there are no flips.
  /// @throws PreconditionError for other numbers of them.
  Eigen::VectorXd rearranged(const Eigen::Ref<const Eigen::VectorXd>& theta,
                             std::span<const Eigen::Index> sources,
                             std::span<const int> signs) const;
};

struct UnitSearchOptions {
  std::uint64_t seed = 1;
  Eigen::Index max_samples = 24;  ///< that are looked at; at least 1
  double tolerance = 1e-10;  ///< of a sample's gradient, relative to the largest entry among them
};

/// The smallest families of interchangeable units, without those whose permutations are among those
/// of another. Units lie along axes of tensors, equal parts of axes, or axes of the matrices of a
/// stack (unit_views.h); where an axis can be read in several ways, all tensors are read in the
/// same. Or they are tensors of their own, numbered, as layers.0.heads.1.P (placed_units.h). A unit
/// that is alone in its layer is a family of one if it may change its sign, where at most 10
/// tensors have an axis of one entry. Units whose exchange has to change anything but places and
/// signs, such as constants of the graph, are not found.
/// @throws PreconditionError by require_blocks(), and if max_samples is below 1.
/// @cost for each length that axes have in common, and each width of such units, four
///       Hessian-vector products of max_samples samples for each axis of that length, and some
///       gradients; as much again, for fewer axes, where units that may not change places hide what
///       others do.
std::vector<InterchangeableUnits> find_interchangeable_units(const Objective& objective,
                                                             const UnitSearchOptions& options = {});

}  // namespace hesscope
