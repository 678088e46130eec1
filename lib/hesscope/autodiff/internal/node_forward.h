// SPDX-License-Identifier: BSD-3-Clause
//
// Maps a recorded node to the kernel that computes its value.
#pragma once

#include <type_traits>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/internal/kernels.h>
#include <hesscope/autodiff/internal/movement_kernels.h>
#include <hesscope/autodiff/internal/row_kernels.h>

namespace hesscope::detail {

/// The data of a node in addition to its operands' values.
template <typename B>
struct NodeData {
  View<const B> choice;         ///< of Node::choice
  const std::int32_t* indices;  ///< of kGather
};

/// Matrix k of a stack, optionally transposed; or the one matrix that all share.
template <typename T>
View<T> of_stack(
    View<T> all, Eigen::Index k, Eigen::Index stack, bool is_shared, bool is_transposed) {
  const Eigen::Index rows = is_shared ? all.rows : all.rows / stack;
  return all.part(is_shared ? 0 : k * rows, 0, rows, all.cols).transposed_if(is_transposed);
}

template <typename T>
View<T> left_of_stack(const Graph::Node& node, View<T> a, Eigen::Index k) {
  return of_stack(a, k, node.stack, node.is_shared_a, node.transpose_a);
}

template <typename T>
View<T> right_of_stack(const Graph::Node& node, View<T> b, Eigen::Index k) {
  return of_stack(b, k, node.stack, node.is_shared_b, node.transpose_b);
}

/// The value of a node with one operand. T is the scalar of both.
template <typename T>
void forward_unary(const Graph::Node& node,
                   const NodeData<BaseOf<T>>& own,
                   View<T> out,
                   View<const T> a) {
  switch (node.op) {
    case Graph::Op::kScale: {
      const BaseOf<T> factor(node.factor);
      return fill(out, [&](Eigen::Index r, Eigen::Index c) { return T(a(r, c) * factor); });
    }
    case Graph::Op::kElementary:
      return elementary_forward(node, out, a);
    case Graph::Op::kSoftmaxRows:
      return softmax_rows_forward(out, a);
    case Graph::Op::kStandardizeRows:
      return standardize_rows_forward(out, a, node);
    case Graph::Op::kLogSumExpRows:
      return log_sum_exp_rows_forward(out, a);
    case Graph::Op::kSum: {
      T total{};
      for (Eigen::Index e = 0; e < a.rows * a.cols; ++e) total += a.data[e];
      out(0, 0) = total;
      return;
    }
    case Graph::Op::kSumRows:
      return sum_rows_forward(out, a);
    case Graph::Op::kMaxRows:
      return max_rows_forward(out, a);
    case Graph::Op::kSlice: {
      const auto part = a.part(node.row, node.col, out.rows, out.cols);
      return fill(out, [&](Eigen::Index r, Eigen::Index c) { return part(r, c); });
    }
    case Graph::Op::kEmbed: {
      fill(out, [](Eigen::Index, Eigen::Index) { return T{}; });
      return fill(out.part(node.row, node.col, a.rows, a.cols),
                  [&](Eigen::Index r, Eigen::Index c) { return a(r, c); });
    }
    case Graph::Op::kGather:
      return gather_forward(out, own.indices, a, View<const T>{});
    case Graph::Op::kLookup:
      return lookup_forward(out, a, own.choice);
    default:
      return;  // kReshape is its operand
  }
}

/// The value of a node with two operands, in any combination of plain scalars and Jets that gives
/// T.
template <typename T, typename A, typename C>
void forward_binary(const Graph::Node& node,
                    const NodeData<BaseOf<T>>& own,
                    View<T> out,
                    View<const A> a,
                    View<const C> b) {
  using B = BaseOf<T>;
  const auto fill_entries = [&](auto entry) {
    const auto x = a.spread(out.rows, out.cols);
    const auto y = b.spread(out.rows, out.cols);
    fill(out, [&](Eigen::Index r, Eigen::Index c) { return T(entry(x(r, c), y(r, c))); });
  };
  switch (node.op) {
    case Graph::Op::kAdd:
      return fill_entries([](const A& x, const C& y) { return x + y; });
    case Graph::Op::kSubtract:
      return fill_entries([](const A& x, const C& y) { return x - y; });
    case Graph::Op::kHadamard:
      return fill_entries([](const A& x, const C& y) { return x * y; });
    case Graph::Op::kDivide:
      return fill_entries([](const A& x, const C& y) { return quotient(x, y); });
    case Graph::Op::kMatmul:
      fill(out, [](Eigen::Index, Eigen::Index) { return T{}; });
      for (Eigen::Index k = 0; k < node.stack; ++k) {
        accumulate_product(of_stack(out, k, node.stack, false, false),
                           left_of_stack(node, a, k),
                           right_of_stack(node, b, k));
      }
      return;
    case Graph::Op::kCrossEntropyRows:
      // The targets do not vary, so they are plain whatever the logits are.
      if constexpr (std::is_same_v<T, A> && std::is_same_v<C, B>) {
        cross_entropy_rows_forward(out, a, b);
      }
      return;
    case Graph::Op::kSquaredDistances:
      return squared_distances_forward(out, a, b);
    case Graph::Op::kGather:
      return gather_forward(out, own.indices, a, b);
    case Graph::Op::kSelect:
      return select_forward(out, own.choice, a, b);
    case Graph::Op::kLess:
      return fill_entries(
          [](const A& x, const C& y) { return select(base_value(x) < base_value(y), B(1), B(0)); });
    case Graph::Op::kEqual:
      return fill_entries([](const A& x, const C& y) {
        return select(base_value(x) == base_value(y), B(1), B(0));
      });
    default:
      return;
  }
}

}  // namespace hesscope::detail
