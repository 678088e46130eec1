// SPDX-License-Identifier: BSD-3-Clause
//
// The Hessian of any graph, using the structure found in it.
//
// Parameters that enter linearly (weights, biases, gains, tables) do so at sites, z = W x + b. With
// delta = dL/dz, the blocks of H follow from how deltas and x change with the entries z of all
// sites,
//   E_kl = ddelta_k / dz_l,   J_kl = dx_k / dz_l,
// by products of matrices over samples and positions (internal/graph/curvature_products.h):
//   H_kl = sum (E_kl) x_k x_l^T + delta_k (J_kl) x_l^T.
// A multilayer perceptron 2-64-64-3 has 131 entries z and 4,547 parameters: 131 tangents replace
// 4,547 columns. If a site has more entries than parameters, as a convolution may have, tangents in
// its parameters cost less and are used instead. Tangents are propagated through the graph, which
// is linearised at the point once for each sample (internal/graph/tangent_sweep.h); what is zero by
// the graph's shapes is not computed (internal/graph/direction_blocks.h). Products of three
// matrices are associated so that parameters enter late, where that is less work
// (internal/graph/late_parameters.h).
#pragma once

#include <memory>

#include <hesscope/autodiff/graph.h>
#include <hesscope/simd/instruction_set.h>
#include <hesscope/structured/structured_hessian.h>

namespace hesscope {

/// The work required.
struct HessianPlan {
  Eigen::Index directions = 0;       ///< tangents propagated through the graph
  double sweep_multiply_adds = 0;    ///< per sample
  double product_multiply_adds = 0;  ///< per sample

  double multiply_adds() const { return sweep_multiply_adds + product_multiply_adds; }
};

class GraphHessian : public StructuredHessian {
 public:
  virtual const HessianPlan& plan() const = 0;
};

/// Plans the graph's products as they are and with late parameters, for the last layers first, and
/// takes the plan with less arithmetic. Weights that the graph computes from parameters alone are
/// first treated as parameters; their dependence on the parameters is applied afterwards
/// (internal/graph/composed_hessian.h). Null for a graph that only the generic engine can handle:
/// one whose computed weights themselves look up rows of a computed table.
/// @cost   see plan(); scratch bounded by about 256 MiB, or by the needs of one pack of eight
///         samples.
/// @throws PreconditionError if the set is not supported, or the graph has no output.
std::shared_ptr<const GraphHessian> graph_hessian(const std::shared_ptr<const Graph>& graph,
                                                  InstructionSet set = best_instruction_set());

}  // namespace hesscope
