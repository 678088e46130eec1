// SPDX-License-Identifier: BSD-3-Clause
//
// Invariances of a loss that nobody has declared, found by what they do to gradients.
//
// A loss that a one-parameter family of maps leaves as it is, theta' = u(theta) = B theta, has
// u(theta) . grad l(theta) = 0 for every sample's loss l at every theta. For the maps that networks
// have (units rescaled from one tensor to the next, a basis changed between two factors, a number
// added to all logits), u is a sum over tensors of terms with whole coefficients, one for each axis
// on which the units may stand:
//
//   sum_T c_T <T_i, dl/dT_j> = 0,   T_i the slice of tensor T at unit i of that axis.
//
// The terms are evaluated at random points for many samples, which gives a linear system for the
// coefficients c: its null space are the invariances, and its solutions, rounded to simple
// fractions, are verified once more at points that were not used to find them. What holds there to
// rounding for all samples holds by the model's structure: relu layers, products of queries and
// keys, normalisation before or after a layer, and others that no list has.
#pragma once

#include <cstdint>
#include <vector>

#include <hesscope/core/invariance.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

struct InvarianceSearchOptions {
  std::uint64_t seed = 1;
  Eigen::Index max_samples = 24;  ///< at each point; at least 1
  Eigen::Index max_units = 64;    ///< longest axis on which changes of basis are looked for
  double tolerance = 1e-10;       ///< of a sum of terms, relative to the sum of their magnitudes
};

/// Rescalings and changes of basis that act on units of one axis of each tensor, of equal parts of
/// an axis (queries, keys and values in one tensor; heads), or of one matrix of a stack; shifts
/// along an axis; vectors that are added to some tensors and taken from others, perhaps through a
/// matrix; and shifts without any effect but rounding. One family of each name. Invariances of
/// other kinds are not found (flat_directions.h has their directions at a point); dead parameters
/// are no invariance.
///
/// Each generator is verified at further points until there are some where it could change losses:
/// of a relu unit that hardly ever fires nothing is said.
/// @throws PreconditionError by require_blocks(), and if max_samples is below 1.
/// @cost gradients of max_samples samples at five random points or more, and at 46 more at most;
///       for T tensors, axes and parts of m units decompositions of m^2 / 2 matrices 2 T x 2 T.
std::vector<Invariance> find_invariances(const Objective& objective,
                                         const InvarianceSearchOptions& options = {});

/// The generators, of invariances that were found, along which no sample's loss changes, to first
/// order, at theta. With relu units a loss is made of pieces, and a map may leave it as it is on
/// those that random points lie on, as where all units of a channel fire alike, and not on that of
/// theta. All families are there, some perhaps without generators.
/// @throws PreconditionError for a theta of another size.
/// @param tolerance  as of InvarianceSearchOptions.
/// @cost a pass of per-sample gradients; for N samples N times the entries of all generators.
std::vector<Invariance> invariances_at(const Objective& objective,
                                       const Eigen::VectorXd& theta,
                                       const std::vector<Invariance>& found,
                                       double tolerance = InvarianceSearchOptions{}.tolerance);

}  // namespace hesscope
