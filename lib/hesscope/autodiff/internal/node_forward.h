// SPDX-License-Identifier: BSD-3-Clause
//
// From a recorded node to the kernel that computes its value.
#pragma once

#include <type_traits>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/internal/kernels.h>

namespace hesscope::detail {

/// The value of a node with one operand. T is the scalar of both.
template <typename T>
void forward_unary(const Graph::Node& node, View<T> out, View<const T> a) {
  switch (node.op) {
    case Graph::Op::kScale: {
      const std::decay_t<decltype(base_value(a(0, 0)))> factor(node.factor);
      return fill(out, [&](Eigen::Index r, Eigen::Index c) { return T(a(r, c) * factor); });
    }
    case Graph::Op::kElementary:
      return elementary_forward(node.function, out, a);
    case Graph::Op::kSoftmaxRows:
      return softmax_rows_forward(out, a);
    case Graph::Op::kLogSumExp:
      return log_sum_exp_forward(out, a);
    case Graph::Op::kSum: {
      T total{};
      for (Eigen::Index e = 0; e < a.rows * a.cols; ++e) total += a.data[e];
      out(0, 0) = total;
      return;
    }
    case Graph::Op::kSlice: {
      const auto part = a.part(node.row, node.col, node.rows, node.cols);
      return fill(out, [&](Eigen::Index r, Eigen::Index c) { return part(r, c); });
    }
    case Graph::Op::kEmbed: {
      fill(out, [](Eigen::Index, Eigen::Index) { return T{}; });
      return fill(out.part(node.row, node.col, a.rows, a.cols),
                  [&](Eigen::Index r, Eigen::Index c) { return a(r, c); });
    }
    default:
      return;
  }
}

/// The value of a node with two operands, in any mixture of plain scalars and Jets that gives T.
template <typename T, typename A, typename C>
void forward_binary(const Graph::Node& node, View<T> out, View<const A> a, View<const C> b) {
  switch (node.op) {
    case Graph::Op::kAdd:
      return fill(out, [&](Eigen::Index r, Eigen::Index c) { return T(a(r, c) + b(r, c)); });
    case Graph::Op::kSubtract:
      return fill(out, [&](Eigen::Index r, Eigen::Index c) { return T(a(r, c) - b(r, c)); });
    case Graph::Op::kHadamard:
      return fill(out, [&](Eigen::Index r, Eigen::Index c) { return T(a(r, c) * b(r, c)); });
    case Graph::Op::kMatmul:
      fill(out, [](Eigen::Index, Eigen::Index) { return T{}; });
      return accumulate_product(
          out, a.transposed_if(node.transpose_a), b.transposed_if(node.transpose_b));
    case Graph::Op::kCrossEntropy:
      // The target is data, so it is plain whatever the logits are.
      if constexpr (std::is_same_v<T, A> &&
                    std::is_same_v<C, std::decay_t<decltype(base_value(b(0, 0)))>>) {
        cross_entropy_forward(out, a, b);
      }
      return;
    case Graph::Op::kSquaredDistances:
      return squared_distances_forward(out, a, b);
    default:
      return;
  }
}

}  // namespace hesscope::detail
