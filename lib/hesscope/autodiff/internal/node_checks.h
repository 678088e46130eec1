// SPDX-License-Identifier: BSD-3-Clause
//
// What kernels take for granted of a node.
#pragma once

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

/// Whether a node that may follow those of the graph has the operands that its operation takes, of
/// shapes that fit its own, and no others; and whether its places lie in what they are places of.
/// Operands are -1 or nodes of the graph, and its shape is one.
bool fits(const Graph& graph, const Graph::Node& node);

}  // namespace hesscope::detail
