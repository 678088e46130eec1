// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <hesscope/structured/internal/graph/tangent_sweep.h>

namespace hesscope::detail {

/// Multiply-adds of the tangents of a kMatmul node and of its operands' adjoints, of one direction
/// and one sample: what tangent_products.h does.
/// @param own  of the node; a, b of its operands.
double matmul_work(std::span<const Graph::Node> nodes,
                   int i,
                   const NodeSweep& own,
                   const NodeSweep& a,
                   const NodeSweep& b);

}  // namespace hesscope::detail
