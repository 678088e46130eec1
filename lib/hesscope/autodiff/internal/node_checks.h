// SPDX-License-Identifier: BSD-3-Clause
//
// The properties of a node on which kernels rely.
#pragma once

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

/// Whether a node that is to be appended to the graph has the operands that its operation takes,
/// with shapes that fit its own, and no others; and whether its offsets and positions are in range.
/// Operands must be -1 or nodes of the graph, and the node's shape valid.
bool fits(const Graph& graph, const Graph::Node& node);

}  // namespace hesscope::detail
