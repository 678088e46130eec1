// SPDX-License-Identifier: BSD-3-Clause
//
// Maps a recorded node and its adjoint to the kernels that add to its operands' adjoints.
//
// Bar is the scalar of adjoints. `value_of(operand, use)` calls use(view) with an operand's values
// as the backward sweep sees them: plain, or as Jets.
#pragma once

#include <hesscope/autodiff/internal/node_forward.h>

namespace hesscope::detail {

/// @param self  the node itself, for value_of().
template <typename Bar, typename ValueOf>
void reverse_unary(const Graph::Node& node,
                   std::int32_t self,
                   const NodeData<BaseOf<Bar>>& own,
                   View<Bar> a_bar,
                   View<const Bar> bar,
                   ValueOf value_of) {
  using Op = Graph::Op;
  switch (node.op) {
    case Op::kScale: {
      const BaseOf<Bar> factor(node.factor);
      return accumulate(a_bar,
                        [&](Eigen::Index r, Eigen::Index c) { return Bar(bar(r, c) * factor); });
    }
    case Op::kElementary:
      return value_of(node.a, [&](auto a) { elementary_reverse(node, a_bar, bar, a); });
    case Op::kSoftmaxRows:
      return value_of(self, [&](auto p) { softmax_rows_reverse(a_bar, bar, p); });
    case Op::kStandardizeRows:
      return value_of(node.a, [&](auto a) { standardize_rows_reverse(a_bar, bar, a, node); });
    case Op::kLogSumExpRows:
      return value_of(node.a, [&](auto a) { log_sum_exp_rows_reverse(a_bar, bar, a); });
    case Op::kSum:
      return accumulate(a_bar, [&](Eigen::Index, Eigen::Index) { return bar(0, 0); });
    case Op::kSumRows:
      return accumulate(a_bar, [&](Eigen::Index r, Eigen::Index) { return bar(r, 0); });
    case Op::kMaxRows:
      return value_of(node.a, [&](auto a) { max_rows_reverse(a_bar, bar, a); });
    case Op::kSlice:
      return accumulate(a_bar.part(node.row, node.col, bar.rows, bar.cols),
                        [&](Eigen::Index r, Eigen::Index c) { return bar(r, c); });
    case Op::kEmbed: {
      const auto part = bar.part(node.row, node.col, a_bar.rows, a_bar.cols);
      return accumulate(a_bar, [&](Eigen::Index r, Eigen::Index c) { return part(r, c); });
    }
    case Op::kGather:
      return gather_reverse(a_bar, own.indices, 0, bar);
    case Op::kLookup:
      return lookup_reverse(a_bar, bar, own.choice);
    default:
      return;  // kReshape shares its operand's adjoint
  }
}

/// @param a_needed, b_needed  whether the operands' adjoints are needed; others are not touched.
template <typename Bar, typename ValueOf>
void reverse_binary(const Graph::Node& node,
                    std::int32_t self,
                    const NodeData<BaseOf<Bar>>& own,
                    View<Bar> a_bar,
                    bool a_needed,
                    View<Bar> b_bar,
                    bool b_needed,
                    View<const Bar> bar,
                    ValueOf value_of) {
  using Op = Graph::Op;
  const auto spread = [&](auto view) { return view.spread(bar.rows, bar.cols); };
  const auto bar_at = [&](Eigen::Index r, Eigen::Index c) { return bar(r, c); };
  switch (node.op) {
    case Op::kAdd:
      if (a_needed) accumulate(spread(a_bar), bar_at);
      if (b_needed) accumulate(spread(b_bar), bar_at);
      return;
    case Op::kSubtract:
      if (a_needed) accumulate(spread(a_bar), bar_at);
      if (b_needed) {
        accumulate(spread(b_bar), [&](Eigen::Index r, Eigen::Index c) { return Bar(-bar(r, c)); });
      }
      return;
    case Op::kHadamard:
      if (a_needed) {
        value_of(node.b, [&](auto b) { hadamard_reverse(spread(a_bar), bar, spread(b)); });
      }
      if (b_needed) {
        value_of(node.a, [&](auto a) { hadamard_reverse(spread(b_bar), bar, spread(a)); });
      }
      return;
    case Op::kDivide:
      value_of(node.b, [&](auto b) {
        if (a_needed) quotient_reverse_numerator(spread(a_bar), bar, spread(b));
        if (!b_needed) return;
        value_of(self,
                 [&](auto c) { quotient_reverse_denominator(spread(b_bar), bar, c, spread(b)); });
      });
      return;
    case Op::kMatmul:
      // C = op(A) op(B): op(A)bar += Cbar op(B)^T, op(B)bar += op(A)^T Cbar.
      for (Eigen::Index k = 0; k < node.stack; ++k) {
        const auto c_bar = of_stack(bar, k, node.stack, false, false);
        if (a_needed) {
          value_of(node.b, [&](auto b) {
            accumulate_product(
                left_of_stack(node, a_bar, k), c_bar, right_of_stack(node, b, k).transposed());
          });
        }
        if (b_needed) {
          value_of(node.a, [&](auto a) {
            accumulate_product(
                right_of_stack(node, b_bar, k), left_of_stack(node, a, k).transposed(), c_bar);
          });
        }
      }
      return;
    case Op::kCrossEntropyRows:
      // The targets do not vary: they are plain and have no adjoint.
      return value_of(node.a, [&](auto a) {
        value_of(node.b, [&](auto b) {
          using T = std::remove_const_t<std::remove_pointer_t<decltype(b.data)>>;
          if constexpr (std::is_same_v<T, BaseOf<Bar>>) {
            cross_entropy_rows_reverse(a_bar, bar, a, b);
          }
        });
      });
    case Op::kSquaredDistances:
      return value_of(node.a, [&](auto a) {
        value_of(node.b, [&](auto b) {
          squared_distances_reverse(
              a_needed ? &a_bar : nullptr, b_needed ? &b_bar : nullptr, bar, a, b);
        });
      });
    case Op::kGather:
      if (a_needed) gather_reverse(a_bar, own.indices, 0, bar);
      if (b_needed) gather_reverse(b_bar, own.indices, a_bar.size(), bar);
      return;
    case Op::kSelect:
      return select_reverse(
          a_needed ? &a_bar : nullptr, b_needed ? &b_bar : nullptr, own.choice, bar);
    default:
      return;
  }
}

}  // namespace hesscope::detail
