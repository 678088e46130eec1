// SPDX-License-Identifier: BSD-3-Clause
//
// Finds weights that a graph computes from parameters alone before samples enter: normalised
// weights, merged low-rank updates, positive weights.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

/// The loss as a function of w, and w as a function of theta. w consists of the parameters that
/// samples interact with directly, in their order, followed by the computed weights.
struct ComputedWeights {
  std::shared_ptr<const Graph> outer;  ///< of w and samples, with the graph's records
  /// A function of theta and a record lambda with one number per computed weight: the sum of lambda
  /// times these weights, which form its prediction, a column.
  std::shared_ptr<const Graph> inner;
  Eigen::Index num_parameters = 0;  ///< of theta
  std::vector<Eigen::Index> kept;   ///< w[k] = theta[kept[k]]
  Eigen::Index num_computed = 0;
  double max_slopes = 0;  ///< upper limit of the nonzero entries of dw/dtheta

  Eigen::Index num_weights() const { return std::ssize(kept) + num_computed; }
};

/// None if samples interact only with parameters that are at most moved and scaled.
std::optional<ComputedWeights> find_computed_weights(const Graph& graph);

}  // namespace hesscope::detail
