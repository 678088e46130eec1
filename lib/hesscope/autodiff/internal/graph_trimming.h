// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

/// The graph without the entries of nodes on which neither its output nor its prediction depends:
/// an operation on rows is one on fewer rows, a product has fewer rows and columns. All parameters
/// are kept. Null if no such operation would become smaller.
/// @cost linear in the entries of all nodes
std::shared_ptr<Graph> trimmed(const Graph& graph);

}  // namespace hesscope::detail
