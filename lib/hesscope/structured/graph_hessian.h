// SPDX-License-Identifier: BSD-3-Clause
//
// The Hessian of any graph, from the structure that is found in it.
//
// Parameters that enter linearly - weights, biases, gains, tables - do so at sites, z = W x + b.
// With delta = dL/dz, the blocks of H follow from how deltas and x change with the entries z of all
// sites,
//   E_kl = ddelta_k / dz_l,   J_kl = dx_k / dz_l,
// by products of matrices over samples and positions (internal/graph/curvature_products.h):
//   H_kl = sum (E_kl) x_k x_l^T + delta_k (J_kl) x_l^T.
// A multilayer perceptron 2-64-64-3 has 131 entries z and 4,547 parameters: as many tangents
// instead of as many columns. Where a site has more entries than parameters, a convolution's say,
// tangents in its parameters cost less and are taken instead. Tangents are swept through the graph,
// linearised at the point once for each sample (internal/graph/tangent_sweep.h); what the graph's
// shapes say is zero is not computed (internal/graph/direction_blocks.h).
#pragma once

#include <memory>

#include <hesscope/autodiff/graph.h>
#include <hesscope/simd/instruction_set.h>
#include <hesscope/structured/structured_hessian.h>

namespace hesscope {

/// What it takes.
struct HessianPlan {
  Eigen::Index directions = 0;       ///< tangents swept through the graph
  double sweep_multiply_adds = 0;    ///< of one sample
  double product_multiply_adds = 0;  ///< of one sample

  double multiply_adds() const { return sweep_multiply_adds + product_multiply_adds; }
};

class GraphHessian : public StructuredHessian {
 public:
  virtual const HessianPlan& plan() const = 0;
};

/// Weights that the graph computes from parameters alone are taken for parameters first, and what
/// they are of parameters comes after (internal/graph/composed_hessian.h). Null for a graph that
/// only the generic engine takes: one whose computed weights themselves look up rows of a computed
/// table.
/// @cost   as plan() says; scratch bounded by about 256 MiB, or what one pack of eight samples
///         needs.
/// @throws PreconditionError if the set is not supported, or the graph has no output.
std::shared_ptr<const GraphHessian> graph_hessian(std::shared_ptr<const Graph> graph,
                                                  InstructionSet set = best_instruction_set());

}  // namespace hesscope
