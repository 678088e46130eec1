// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

/// How a node of a batch uses one of its operands.
struct BatchOperand {
  bool is_entrywise = false;  ///< it has one entry per sample for each of the node's
  /// On the way back, the node's share is the first of the operand's adjoint: assigned, not added.
  bool is_first = false;
  bool is_in_place = false;  ///< and its adjoint overwrites the node's own
};

/// How a batch of samples passes through a node, forward and backward. Places are counted in
/// registers, one per entry of a pack (batch_numbers.h); a kReshape shares those of its operand.
struct BatchNode {
  bool is_needed = false;   ///< has an adjoint, which depends on the output's
  bool is_common = false;   ///< depends on no sample
  bool is_spread = false;   ///< common, and used by others than products: also in all lanes
  bool takes_rows = false;  ///< rows of all packs may be taken as those of one matrix
  BatchOperand a;
  BatchOperand b;
  Eigen::Index common = -1;   ///< place among the common numbers, for values and adjoints
  Eigen::Index value = -1;    ///< if not common, or if spread
  Eigen::Index adjoint = -1;  ///< if needed and not common, or if spread
  Eigen::Index slopes = -1;   ///< of a kElementary that is needed and not common
};

/// How batches pass through a graph. Memory bandwidth is the bottleneck, so numbers are stored
/// compactly: entrywise operations work in place if their operand is not needed again, values that
/// the backward pass does not read make room for others, and so does each adjoint once it is passed
/// on.
struct BatchPlan {
  /// @param max_bytes  for a batch's numbers, unless one pack of `lanes` samples needs more.
  BatchPlan(const Graph& graph, int lanes, Eigen::Index max_packs, double max_bytes);

  const BatchNode& operator[](std::int32_t i) const { return nodes[static_cast<std::size_t>(i)]; }

  std::vector<BatchNode> nodes;
  Eigen::Index num_common = 0;
  Eigen::Index num_values = 0;
  Eigen::Index num_adjoints = 0;
  Eigen::Index num_slopes = 0;
  Eigen::Index max_packs = 1;  ///< of a batch
};

}  // namespace hesscope::detail
