// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: values and gradients of a recorded graph, node by node for a batch of
// samples.
//
// Common nodes (batch_numbers.h) are computed once for a point. Products sum their adjoints over
// positions, packs and lanes in registers. These adjoints are kept until all batches are done, and
// are then propagated to the parameters once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include <hesscope/autodiff/internal/batch_elementwise.h>
#include <hesscope/autodiff/internal/batch_matmul.h>
#include <hesscope/autodiff/internal/batch_numbers.h>
#include <hesscope/autodiff/internal/node_forward.h>
#include <hesscope/autodiff/internal/node_reverse.h>
#include <hesscope/autodiff/sweep.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

class BatchTape {
 public:
  /// `graph` must outlive the tape and have an output.
  explicit BatchTape(const Graph& graph) : numbers_(graph) {
    for (std::int32_t i = 0; i < numbers_.num_nodes(); ++i) {
      if (node(i).op == Op::kConstant) numbers_.set_common(i, graph.constants());
    }
  }

  /// Upper bound of the memory of one tape.
  static double bytes(const Graph& graph) { return BatchNumbers::bytes(graph); }

  /// Computes everything that depends on no sample.
  void set_theta(std::span<const double> theta) {
    for (std::int32_t i = 0; i < numbers_.num_nodes(); ++i) {
      if (!info(i).is_common) continue;
      if (node(i).op == Op::kParameter) numbers_.set_common(i, theta);
      forward_by_kernels<S>(i, {0, 1});
      if (info(i).is_spread) numbers_.spread(i);
    }
  }

  /// body(first, count) for each batch of samples, with their records loaded.
  template <typename F>
  void for_each_batch(Records records, F body) {
    for (Eigen::Index first = 0; first < records.count; first += numbers_.max_samples()) {
      const Eigen::Index count = std::min(numbers_.max_samples(), records.count - first);
      numbers_.set_inputs({records.data + first * records.stride, count, records.stride});
      body(first, count);
    }
  }

  /// Values of all nodes, and slopes if a backward pass will follow.
  void forward(bool has_reverse) {
    for (std::int32_t i = 0; i < numbers_.num_nodes(); ++i) {
      if (info(i).is_common) continue;
      switch (node(i).op) {
        case Op::kMatmul:
          BatchMatmul(numbers_, i).forward();
          break;
        case Op::kElementary:
          forward_elementary(numbers_, i, has_reverse && info(i).is_needed);
          break;
        default:
          numbers_.for_each_part(i, [&](Part part) { forward_by_kernels<B>(i, part); });
      }
    }
  }

  /// A value for one sample of the batch.
  double value(std::int32_t i, Eigen::Index entry, Eigen::Index sample) {
    return numbers_.value(i, entry, sample);
  }

  /// Sum of the losses of `count` samples.
  double sum_of_outputs(Eigen::Index count) {
    double total = 0;
    for (Eigen::Index s = 0; s < count; ++s) total += value(output(), 0, s);
    return total;
  }

  /// To be called before the reverse sweeps of a sum.
  void clear_sums() {
    for (std::int32_t i = 0; i < numbers_.num_nodes(); ++i) {
      if (!info(i).is_common) continue;
      clear(numbers_.adjoints<S>(i), node(i).size());
      if (info(i).is_spread) clear(numbers_.adjoints<B>(i), node(i).size());
    }
  }

  /// To be called after forward(true), for `count` samples: adds to the adjoints of common nodes.
  void reverse(Eigen::Index count) {
    if (info(output()).is_common) {
      numbers_.adjoints<S>(output())[0] += S(static_cast<double>(count));
      return;
    }
    if (!info(output()).is_needed) return;
    B* const seeds = numbers_.adjoints<B>(output());
    clear(seeds, numbers_.packs());
    for (Eigen::Index s = 0; s < count; ++s) {
      seeds[s / kLanes].set(static_cast<int>(s % kLanes), 1.0);
    }
    for (std::int32_t i = output() + 1; i-- > 0;) {
      if (info(i).is_common || !info(i).is_needed || node(i).a < 0) continue;
      switch (node(i).op) {
        case Op::kMatmul:
          BatchMatmul(numbers_, i).reverse();
          break;
        case Op::kElementary:
          reverse_elementary(numbers_, i);
          break;
        case Op::kScale:
          reverse_scale(numbers_, i);
          break;
        case Op::kAdd:
        case Op::kSubtract:
        case Op::kHadamard:
          reverse_entrywise(
              numbers_, i, [&](bool to_a, bool to_b) { reverse_others(i, to_a, to_b); });
          break;
        default:
          reverse_others(i, true, true);
      }
    }
  }

  /// To be called after the reverse sweeps of a sum: adds the parameters' adjoints.
  void add_gradient(std::span<double> gradient) {
    for (std::int32_t i = numbers_.num_nodes(); i-- > 0;) {
      const Node& n = node(i);
      if (!info(i).is_common || !info(i).is_needed) continue;
      S* const sum = numbers_.adjoints<S>(i);
      if (info(i).is_spread && n.op != Op::kReshape) {
        const auto* const each = reinterpret_cast<const Lane*>(numbers_.adjoints<B>(i));
        for (Eigen::Index e = 0; e < n.size(); ++e) sum[e] += S(sum_of(each[e]));
      }
      if (n.a >= 0) reverse_by_kernels<S>(i, {0, 1}, true, true);
      if (n.op != Op::kParameter) continue;
      for (Eigen::Index e = 0; e < n.size(); ++e) {
        gradient[static_cast<std::size_t>(n.offset + e)] += sum[e][0];
      }
    }
  }

 private:
  using B = BatchNumbers::B;
  using S = BatchNumbers::S;
  using Node = Graph::Node;
  using Op = Graph::Op;
  using Part = BatchNumbers::Part;

  const Node& node(std::int32_t i) const { return numbers_.node(i); }

  const detail::BatchNode& info(std::int32_t i) const { return numbers_.info(i); }

  std::int32_t output() const { return numbers_.graph().output(); }

  template <typename T>
  static void clear(T* first, Eigen::Index count) {
    for (Eigen::Index e = 0; e < count; ++e) first[e] = T();
  }

  // Entrywise operations treat columns as rows, since the kernels' inner loops run along rows.
  static bool takes_columns(const Node& n) {
    switch (n.op) {
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kHadamard:
      case Op::kDivide:
      case Op::kScale:
        return n.cols == 1;
      default:
        return false;
    }
  }

  template <typename T>
  void forward_by_kernels(std::int32_t i, Part part) {
    const Node& n = node(i);
    if (n.a < 0) return;
    const bool is_turned = takes_columns(n);
    const auto out = numbers_.view<T>(numbers_.values<T>(i), i, part).transposed_if(is_turned);
    const auto own = numbers_.data_of<T>(n, part);
    const auto a = numbers_.operand<T>(n.a, part).transposed_if(is_turned);
    if (n.b >= 0) {
      detail::forward_binary(
          n, own, out, a, numbers_.operand<T>(n.b, part).transposed_if(is_turned));
    } else {
      detail::forward_unary(n, own, out, a);
    }
  }

  // To the requested operands.
  template <typename T>
  void reverse_by_kernels(std::int32_t i, Part part, bool to_a, bool to_b) {
    const Node& n = node(i);
    const bool is_turned = takes_columns(n);
    const auto own = numbers_.data_of<T>(n, part);
    const auto bar =
        numbers_.view<const T>(numbers_.adjoints<T>(i), i, part).transposed_if(is_turned);
    const auto value_of = [&](std::int32_t o, auto use) {
      use(numbers_.operand<T>(o, part).transposed_if(is_turned));
    };
    const auto bar_of = [&](std::int32_t o) {
      return numbers_.view<T>(numbers_.adjoints<T>(o), o, part).transposed_if(is_turned);
    };
    const bool needs_a = to_a && info(n.a).is_needed;
    if (n.b < 0) {
      if (needs_a) detail::reverse_unary(n, i, own, bar_of(n.a), bar, value_of);
      return;
    }
    const bool needs_b = to_b && info(n.b).is_needed;
    detail::reverse_binary(n, i, own, bar_of(n.a), needs_a, bar_of(n.b), needs_b, bar, value_of);
  }

  void reverse_others(std::int32_t i, bool to_a, bool to_b) {
    const Node& n = node(i);
    const auto begin = [&](std::int32_t o) {
      clear(numbers_.adjoints<B>(o), numbers_.packs() * node(o).size());
    };
    if (to_a && info(i).a.is_first) begin(n.a);
    if (to_b && info(i).b.is_first) begin(n.b);
    numbers_.for_each_part(i, [&](Part part) { reverse_by_kernels<B>(i, part, to_a, to_b); });
  }

  BatchNumbers numbers_;
};

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
