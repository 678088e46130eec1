// SPDX-License-Identifier: BSD-3-Clause
//
// The Hessian of a loss L(w(theta)) with computed weights w (computed_weights.h). With J =
// dw/dtheta,
//   H = J^T (d2L/dw2) J + sum_k (dL/dw_k) d2w_k/dtheta2.
// The first term is computed as for any graph, in which samples interact with parameters only; the
// second is the Hessian of a graph without samples. So normalised weights, for example, cost as
// much as plain ones, plus two products with J, most of which is zero.
#pragma once

#include <memory>

#include <hesscope/structured/graph_hessian.h>
#include <hesscope/structured/internal/graph/computed_weights.h>

namespace hesscope::detail {

/// @param outer, inner  the Hessians of weights.outer and weights.inner.
/// @param direct  computes the same Hessian without this decomposition; used if there are so few
///                samples that it is faster. May be null.
std::shared_ptr<const GraphHessian> composed_hessian(ComputedWeights weights,
                                                     std::shared_ptr<const GraphHessian> outer,
                                                     std::shared_ptr<const GraphHessian> inner,
                                                     std::shared_ptr<const GraphHessian> direct,
                                                     InstructionSet set);

}  // namespace hesscope::detail
