// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <hesscope/autodiff/graph_work.h>

namespace hesscope {
namespace {

// For all products of a stack.
double product_multiply_adds(const Graph::Node& product, const Graph::Node& a) {
  const Eigen::Index rows = product.is_shared_a ? a.rows : a.rows / product.stack;
  const Eigen::Index inner = product.transpose_a ? rows : a.cols;
  return static_cast<double>(product.size()) * static_cast<double>(inner);
}

}  // namespace

double gradient_multiply_adds(const Graph& graph) {
  const auto nodes = graph.nodes();
  std::vector<bool> varies(nodes.size());
  const auto operand_varies = [&](std::int32_t operand) {
    return operand >= 0 && varies[static_cast<std::size_t>(operand)];
  };
  double sum = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Graph::Node& node = nodes[i];
    const bool a_varies = operand_varies(node.a);
    const bool b_varies = operand_varies(node.b);
    varies[i] = node.op == Graph::Op::kParameter || (!node.is_step() && (a_varies || b_varies));
    if (node.a < 0 || node.op == Graph::Op::kReshape) continue;
    if (node.op == Graph::Op::kMatmul) {
      const double once = product_multiply_adds(node, nodes[static_cast<std::size_t>(node.a)]);
      sum += once * (1 + (a_varies ? 1 : 0) + (b_varies ? 1 : 0));
    } else {
      constexpr double kPerStandardized = 4;  // mean, its subtraction, variance, its root
      const double once = node.op == Graph::Op::kStandardizeRows ? kPerStandardized : 1;
      sum += once * static_cast<double>(node.size()) * (varies[i] ? 2 : 1);
    }
  }
  return sum;
}

}  // namespace hesscope
