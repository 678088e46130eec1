// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/autodiff/curvature.h>
#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

/// How a sweep treats a node.
struct NodePlan {
  bool active = false;  ///< carries Jets forwards; implies needed
  bool needed = false;  ///< has an adjoint
  /// Its own second derivatives count: backwards, it multiplies by its derivative at its operands'
  /// Jets rather than at their plain values. True for all nodes for the Hessian, and for those that
  /// depend on the prediction (not the prediction itself) for the Gauss-Newton matrix.
  bool curved = false;
};

/// For each node of a graph. One vector, whose destructor is inlined: kernels share no function.
using SweepPlan = std::vector<NodePlan>;

/// Number of entries of all nodes' matrices together.
double num_entries(const Graph& graph);

/// The plan for directions in the span of e_j, first_seeded <= j < end_seeded, and rows i >=
/// first_needed. Requires first_needed <= first_seeded.
/// @throws PreconditionError for the Gauss-Newton matrix of a graph without a prediction.
SweepPlan plan_sweep(const Graph& graph,
                     Eigen::Index first_seeded,
                     Eigen::Index end_seeded,
                     Eigen::Index first_needed,
                     Curvature curvature = Curvature::kHessian);

/// The plan for the loss as a function of the prediction, which carries the seeds. Requires a
/// prediction.
SweepPlan plan_loss(const Graph& graph);

/// @throws PreconditionError for a graph without a prediction.
void require_prediction(const Graph& graph);

}  // namespace hesscope::detail
