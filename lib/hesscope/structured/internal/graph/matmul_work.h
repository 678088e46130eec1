// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <hesscope/structured/internal/graph/tangent_sweep.h>

namespace hesscope::detail {

/// Multiply-adds for the tangents of a kMatmul node and of its operands' adjoints, per direction
/// and sample, as performed by tangent_products.h.
/// @param own  interval of the node; a, b those of its operands.
double matmul_work(std::span<const Graph::Node> nodes,
                   int i,
                   const NodeSweep& own,
                   const NodeSweep& a,
                   const NodeSweep& b);

}  // namespace hesscope::detail
