// SPDX-License-Identifier: BSD-3-Clause
//
// What is the same at every point is computed once, while recording.
#pragma once

#include <vector>

#include <hesscope/autodiff/graph.h>

namespace hesscope {

/// Computes nodes that depend on constants alone.
class ConstantFolder {
 public:
  /// `graph` must outlive the folder; nodes may be recorded meanwhile.
  explicit ConstantFolder(Graph& graph) : graph_(&graph) {}

  /// Whether no parameter and no input is among what the node depends on.
  bool is_constant(Var a);

  /// A kConstant node with the value of `a` where is_constant(a), `a` itself elsewhere. The nodes
  /// on the way stay in the graph (simplified()).
  /// @cost what one evaluation of those nodes costs that no constant stands for yet.
  Var folded(Var a);

 private:
  Graph* graph_;
  std::vector<char> is_constant_;  // of the nodes looked at so far, from the first
};

}  // namespace hesscope
