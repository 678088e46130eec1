// SPDX-License-Identifier: BSD-3-Clause
//
// Copies nodes from one graph to another.
#pragma once

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

/// Records a node of `from` in `to`; its operands become moved(operand), nodes of `to`.
template <typename Moved>
Var copied_node(const Graph& from, Graph::Node node, Graph& to, Moved moved) {
  using Op = Graph::Op;
  const auto offset = static_cast<std::size_t>(node.offset);
  const auto size = static_cast<std::size_t>(node.size());
  switch (node.op) {
    case Op::kParameter:
      return to.parameter(node.offset, node.rows, node.cols);
    case Op::kInput:
      return to.input(node.offset, node.rows, node.cols);
    case Op::kConstant:
      return to.constant(from.constants().subspan(offset, size), node.rows, node.cols);
    case Op::kGather:
      node.offset = to.keep_indices(from.indices().subspan(offset, size));
      break;
    default:
      break;
  }
  for (std::int32_t* operand : {&node.a, &node.b, &node.choice}) {
    if (*operand >= 0) *operand = moved(*operand);
  }
  return to.record(node);
}

}  // namespace hesscope::detail
