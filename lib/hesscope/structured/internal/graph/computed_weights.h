// SPDX-License-Identifier: BSD-3-Clause
//
// Where a graph meets samples in weights that it computes from parameters alone: normalised
// weights, merged low-rank updates, positive ones.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

/// The loss as a function of w, and w as one of theta: parameters that samples meet themselves, in
/// their order, and computed weights behind them.
struct ComputedWeights {
  std::shared_ptr<const Graph> outer;  ///< of w and samples, with the graph's records
  /// Of theta and a record lambda, a number for each computed weight: sum of lambda times these,
  /// which are its prediction, a column.
  std::shared_ptr<const Graph> inner;
  Eigen::Index num_parameters = 0;  ///< of theta
  std::vector<Eigen::Index> kept;   ///< w[k] = theta[kept[k]]
  Eigen::Index num_computed = 0;
  double max_slopes = 0;  ///< entries of dw/dtheta that are not zero, at most

  Eigen::Index num_weights() const { return std::ssize(kept) + num_computed; }
};

/// None where samples meet nothing but parameters, moved and scaled at most.
std::optional<ComputedWeights> find_computed_weights(const Graph& graph);

}  // namespace hesscope::detail
