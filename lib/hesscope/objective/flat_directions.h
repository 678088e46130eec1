// SPDX-License-Identifier: BSD-3-Clause
//
// Directions in which a model's loss is flat for whatever sample, though no list of invariances has
// them.
//
// If theta moves along u(theta) and no sample's loss changes, u(theta) is orthogonal to the
// gradients of all losses: of the samples there are and of those that could be. So the space of
// such directions at theta is the null space of gradients of as many random samples as are needed,
// and what it does not hold is of no invariance, affine or not. Layer normalisation, say, makes a
// layer's weights W_ik flat along m_i / gamma_k (with m_i sum_k beta_k / gamma_k taken from its
// bias), and a layer that sees the same input in every sample, as the queries of a class token do,
// is flat in all directions but that input.
#pragma once

#include <cstdint>
#include <optional>

#include <hesscope/core/eigen.h>
#include <hesscope/objective/graph_objective.h>

namespace hesscope {

struct FlatDirectionsOptions {
  std::uint64_t seed = 1;
  Eigen::Index max_parameters = 600;  ///< of larger models nothing is said
};

/// The name that results have for zero modes along flat_directions().
inline constexpr const char* kFlatDirectionsName = "any that is flat for all samples";

/// An orthonormal basis, n x d, of the directions in which no sample's loss changes to first order.
///
/// Samples are random numbers: real ones normal with the mean and the deviation of their array, and
/// classes and signs from among those there can be, whole numbers from among those there are.
/// @return nothing where that cannot be told: for models with more than max_parameters parameters
///         or a weight decay; where too many random samples have no finite gradient; where
///         directions are flat by less than rounding allows to tell; and where theta is special, in
///         that more directions are flat there than at a random point nearby, as where a layer's
///         weights are 0.
/// @throws PreconditionError for a theta of another size.
/// @cost   2 (n + 32) gradients, and two QR decompositions of matrices (n + 32) x n.
std::optional<Eigen::MatrixXd> flat_directions(const GraphObjective& objective,
                                               const Eigen::VectorXd& theta,
                                               const FlatDirectionsOptions& options = {});

}  // namespace hesscope
