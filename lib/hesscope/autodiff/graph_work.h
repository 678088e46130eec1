// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/autodiff/graph.h>

namespace hesscope {

/// Multiply-adds for the loss of one sample and its gradient. A matrix product counts once forward
/// and once for each factor that depends on parameters; other nodes count one operation per entry,
/// standardised rows four, once forward and once backward.
/// @cost  linear in the number of nodes
double gradient_multiply_adds(const Graph& graph);

}  // namespace hesscope
