// SPDX-License-Identifier: BSD-3-Clause
//
// Computes values that are the same at every point once, while recording.
#pragma once

#include <vector>

#include <hesscope/autodiff/graph.h>

namespace hesscope {

/// Evaluates nodes that depend on constants only.
class ConstantFolder {
 public:
  /// `graph` must outlive the folder; nodes may be recorded meanwhile.
  explicit ConstantFolder(Graph& graph) : graph_(&graph) {}

  /// Whether the node depends on no parameter and no input.
  bool is_constant(Var a);

  /// A kConstant node with the value of `a` if is_constant(a), else `a` itself. The intermediate
  /// nodes stay in the graph (see simplified()).
  /// @cost one evaluation of those nodes that have not yet been replaced by a constant.
  Var folded(Var a);

 private:
  Graph* graph_;
  std::vector<char> is_constant_;  // for the nodes examined so far, from the first
};

}  // namespace hesscope
