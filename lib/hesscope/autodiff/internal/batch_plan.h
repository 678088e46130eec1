// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

/// What a batch's node does to one of its operands.
struct BatchOperand {
  bool is_entrywise = false;  ///< it has an entry of each sample for each of the node's
  /// On the way back the node's share of its adjoint is the first: assigned, not added.
  bool is_first = false;
  bool is_in_place = false;  ///< and the adjoint lies where the node's own did
};

/// How a batch of samples is taken through a node and back. Places are in registers, one for an
/// entry of a pack (batch_numbers.h); a kReshape has those of its operand.
struct BatchNode {
  bool is_needed = false;   ///< has an adjoint, which the output's reaches
  bool is_common = false;   ///< depends on no sample
  bool is_spread = false;   ///< common, and taken by others than products: in all lanes, too
  bool takes_rows = false;  ///< rows of all packs may be taken as one matrix's
  BatchOperand a;
  BatchOperand b;
  Eigen::Index common = -1;   ///< place among the numbers of what is common, in values and adjoints
  Eigen::Index value = -1;    ///< of what is not common, or spread
  Eigen::Index adjoint = -1;  ///< of what is needed and not common, or spread
  Eigen::Index slopes = -1;   ///< of a kElementary that is needed and not common
};

/// The way of batches through a graph. Memory is what bounds it, so that numbers lie close
/// together: what acts entry by entry works in place where nobody asks for its operand again,
/// values that the way back does not read make room for others, and so does each adjoint once it is
/// passed on.
struct BatchPlan {
  /// @param max_bytes  of a batch's numbers, as far as one pack of `lanes` samples allows.
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
