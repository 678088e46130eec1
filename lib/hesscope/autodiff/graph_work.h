// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/autodiff/graph.h>

namespace hesscope {

/// Multiply-adds of the loss of one sample and its gradient. A product of matrices counts once
/// forward and once for each factor that depends on parameters, other nodes an operation for each
/// entry, four for standardised rows, once forward and once back.
/// @cost  linear in the number of nodes
double gradient_multiply_adds(const Graph& graph);

}  // namespace hesscope
