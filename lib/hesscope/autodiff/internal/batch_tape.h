// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: values and gradients of a recorded graph, node by node for a batch of
// samples.
//
// A number of kLanes samples fills a register (lanes.h); these are a pack. A node's numbers of all packs
// of a batch lie together, entry e of pack p at [p * size + e], so that one visit of a node serves many
// samples, and what it does to its rows is one long loop.
//
// Nodes that depend on no sample are common: computed once for a point, as plain numbers. Products take
// them as such, and sum their adjoints over positions, packs and lanes in registers; elsewhere they are
// spread to all lanes. Their adjoints wait until all batches are done, and are then carried back to the
// parameters once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <hesscope/autodiff/internal/batch_plan.h>
#include <hesscope/autodiff/internal/batch_products.h>
#include <hesscope/autodiff/internal/node_reverse.h>
#include <hesscope/autodiff/sweep.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

class BatchTape {
 public:
  /// `graph` must outlive the tape and have an output.
  explicit BatchTape(const Graph& graph)
      : graph_(&graph),
        nodes_(graph.nodes()),
        plan_(graph, kLanes, kMaxPacks, kBatchBytes),
        common_values_(static_cast<std::size_t>(plan_.num_common)),
        common_adjoints_(static_cast<std::size_t>(plan_.num_common)),
        values_(static_cast<std::size_t>(plan_.num_values)),
        adjoints_(static_cast<std::size_t>(plan_.num_adjoints)),
        slopes_(static_cast<std::size_t>(plan_.num_slopes)) {
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      if (node(i).op == Op::kConstant) set_common(i, graph.constants());
    }
  }

  /// Memory of one, at most.
  static double bytes(const Graph& graph) {
    double entries = 0;
    double entries_of_packs = 0;
    for (const Node& n : graph.nodes()) {
      const auto size = static_cast<double>(n.size());
      entries += size;
      if (n.op != Op::kParameter && n.op != Op::kConstant) entries_of_packs += size;
    }
    const double of_one_pack = (3 * entries_of_packs + 1) * sizeof(B);
    return std::max(of_one_pack, std::min(kBatchBytes, kMaxPacks * of_one_pack)) +
           2 * entries * (sizeof(B) + sizeof(double));
  }

  /// Computes what depends on no sample.
  void set_theta(std::span<const double> theta) {
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      if (!info(i).is_common) continue;
      if (node(i).op == Op::kParameter) set_common(i, theta);
      forward_by_kernels<S>(i, {0, 1});
      if (!info(i).is_spread) continue;
      const S* const from = values<S>(i);
      B* const to = values<B>(i);
      for (Eigen::Index e = 0; e < node(i).size(); ++e) to[e] = B(from[e][0]);
    }
  }

  /// body(first, count) for each batch of samples, with their records loaded.
  template <typename F>
  void for_each_batch(Records records, F body) {
    const Eigen::Index most = plan_.max_packs * kLanes;
    for (Eigen::Index first = 0; first < records.count; first += most) {
      const Eigen::Index count = std::min(most, records.count - first);
      set_inputs({records.data + first * records.stride, count, records.stride});
      body(first, count);
    }
  }

  /// Values of all nodes; slopes too, for a way back.
  void forward(bool has_reverse) {
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      if (info(i).is_common) continue;
      switch (node(i).op) {
        case Op::kMatmul:
          forward_product(i);
          break;
        case Op::kElementary:
          forward_elementary(i, has_reverse && info(i).is_needed);
          break;
        default:
          for_each_part(i, [&](Part part) { forward_by_kernels<B>(i, part); });
      }
    }
  }

  /// Of a sample of the batch.
  double value(std::int32_t i, Eigen::Index entry, Eigen::Index sample) {
    if (info(i).is_common) return values<S>(i)[entry][0];
    const B& pack = values<B>(i)[sample / kLanes * node(i).size() + entry];
    return pack[static_cast<int>(sample % kLanes)];
  }

  /// Sum of the losses of `count` samples.
  double sum_of_outputs(Eigen::Index count) {
    double total = 0;
    for (Eigen::Index s = 0; s < count; ++s) total += value(graph_->output(), 0, s);
    return total;
  }

  /// Before the reverse sweeps of a sum.
  void clear_sums() {
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      if (!info(i).is_common) continue;
      clear(adjoints<S>(i), node(i).size());
      if (info(i).is_spread) clear(adjoints<B>(i), node(i).size());
    }
  }

  /// After forward(true), of `count` samples: adds to the adjoints of what is common.
  void reverse(Eigen::Index count) {
    const std::int32_t output = graph_->output();
    if (info(output).is_common) {
      adjoints<S>(output)[0] += S(static_cast<double>(count));
      return;
    }
    if (!info(output).is_needed) return;
    clear(adjoints<B>(output), packs_);
    for (Eigen::Index s = 0; s < count; ++s) {
      adjoints<B>(output)[s / kLanes].set(static_cast<int>(s % kLanes), 1.0);
    }
    for (std::int32_t i = output + 1; i-- > 0;) {
      if (info(i).is_common || !info(i).is_needed || node(i).a < 0) continue;
      switch (node(i).op) {
        case Op::kMatmul:
          reverse_product(i);
          break;
        case Op::kElementary:
          reverse_elementary(i);
          break;
        case Op::kScale:
          reverse_scale(i);
          break;
        case Op::kAdd:
        case Op::kSubtract:
        case Op::kHadamard:
          reverse_entrywise(i);
          break;
        default:
          reverse_others(i, true, true);
      }
    }
  }

  /// After the reverse sweeps of a sum: adds the parameters' adjoints.
  void add_gradient(std::span<double> gradient) {
    for (std::int32_t i = num_nodes(); i-- > 0;) {
      const Node& n = node(i);
      if (!info(i).is_common || !info(i).is_needed) continue;
      S* const sum = adjoints<S>(i);
      if (info(i).is_spread && n.op != Op::kReshape) {
        const Lane* const each = lanes_of(adjoints<B>(i));
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
  using B = detail::Lanes<kLanes, kSet>;
  using S = detail::Lanes<1, kSet>;  // a plain number, of a type that no other kernel source has
  using Node = Graph::Node;
  using Op = Graph::Op;

  static_assert(sizeof(B) == sizeof(Lane) && sizeof(S) == sizeof(double));

  // More than a second-level cache: what nodes have in common pays for what is read from the third.
  static constexpr double kBatchBytes = 4 << 20;
  static constexpr Eigen::Index kMaxPacks = 64 / kLanes;

  // Packs that are taken at once.
  struct Part {
    Eigen::Index first;
    Eigen::Index count;
  };

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  std::int32_t num_nodes() const { return static_cast<std::int32_t>(nodes_.size()); }

  const Node& node(std::int32_t i) const { return nodes_[index(i)]; }

  const detail::BatchNode& info(std::int32_t i) const { return plan_[i]; }

  // Of what is common as S, of what is not, or spread, as B.
  template <typename T>
  T* values(std::int32_t i) {
    if constexpr (std::is_same_v<T, S>) {
      return common_values_.data() + info(i).common;
    } else {
      return values_.data() + info(i).value;
    }
  }

  template <typename T>
  T* adjoints(std::int32_t i) {
    if constexpr (std::is_same_v<T, S>) {
      return common_adjoints_.data() + info(i).common;
    } else {
      return adjoints_.data() + info(i).adjoint;
    }
  }

  template <typename T>
  static void clear(T* first, Eigen::Index count) {
    for (Eigen::Index e = 0; e < count; ++e) first[e] = T();
  }

  template <typename F>
  void for_each_part(std::int32_t i, F body) const {
    if (info(i).takes_rows) return body(Part{0, packs_});
    for (Eigen::Index p = 0; p < packs_; ++p) body(Part{p, 1});
  }

  void set_common(std::int32_t i, std::span<const double> entries) {
    S* const to = values<S>(i);
    for (Eigen::Index e = 0; e < node(i).size(); ++e) {
      to[e] = S(entries[static_cast<std::size_t>(node(i).offset + e)]);
    }
  }

  // Lanes without a sample repeat the last one's.
  void set_inputs(Records records) {
    packs_ = (records.count + kLanes - 1) / kLanes;
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      const Node& n = node(i);
      if (n.op != Op::kInput) continue;
      for (Eigen::Index s = 0; s < packs_ * kLanes; ++s) {
        const Eigen::Index sample = std::min(s, records.count - 1);
        const double* const from = records.data + sample * records.stride + n.offset;
        B* const to = values<B>(i) + s / kLanes * n.size();
        for (Eigen::Index e = 0; e < n.size(); ++e)
          to[e].set(static_cast<int>(s % kLanes), from[e]);
      }
    }
  }

  template <typename T>
  detail::View<T> view(T* first, std::int32_t i, Part part) const {
    const Node& n = node(i);
    if (info(i).is_common) part = {0, 1};
    return {first + part.first * n.size(), part.count * n.rows, n.cols, n.cols, 1};
  }

  template <typename T>
  detail::View<const T> operand(std::int32_t i, Part part) {
    if (i < 0) return {};
    return view<const T>(values<T>(i), i, part);
  }

  // What acts entry by entry takes columns as rows: kernels' inner loops are along rows.
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
  detail::NodeData<T> data_of(const Node& n, Part part) {
    return {.choice = operand<T>(n.choice, part),
            .indices = n.op == Op::kGather ? graph_->indices().data() + n.offset : nullptr};
  }

  template <typename T>
  void forward_by_kernels(std::int32_t i, Part part) {
    const Node& n = node(i);
    if (n.a < 0) return;
    const bool is_turned = takes_columns(n);
    const auto out = view<T>(values<T>(i), i, part).transposed_if(is_turned);
    const auto own = data_of<T>(n, part);
    const auto a = operand<T>(n.a, part).transposed_if(is_turned);
    if (n.b >= 0) {
      detail::forward_binary(n, own, out, a, operand<T>(n.b, part).transposed_if(is_turned));
    } else {
      detail::forward_unary(n, own, out, a);
    }
  }

  // To the operands asked for.
  template <typename T>
  void reverse_by_kernels(std::int32_t i, Part part, bool to_a, bool to_b) {
    const Node& n = node(i);
    const bool is_turned = takes_columns(n);
    const auto own = data_of<T>(n, part);
    const auto bar = view<const T>(adjoints<T>(i), i, part).transposed_if(is_turned);
    const auto value_of = [&](std::int32_t o, auto use) {
      use(operand<T>(o, part).transposed_if(is_turned));
    };
    const auto bar_of = [&](std::int32_t o) {
      return view<T>(adjoints<T>(o), o, part).transposed_if(is_turned);
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
    if (to_a && info(i).begins_a) clear(adjoints<B>(n.a), packs_ * node(n.a).size());
    if (to_b && info(i).begins_b) clear(adjoints<B>(n.b), packs_ * node(n.b).size());
    for_each_part(i, [&](Part part) { reverse_by_kernels<B>(i, part, to_a, to_b); });
  }

  void forward_elementary(std::int32_t i, bool has_slopes) {
    const Node& n = node(i);
    const B* const x = values<B>(n.a);
    B* const slopes = has_slopes ? slopes_.data() + info(i).slopes : nullptr;
    detail::visit_elementary(n.function, n.factor, n.beta, [&](auto phi) {
      evaluate(phi, x, values<B>(i), slopes, packs_ * n.size());
    });
  }

  // y = phi(x) and, unless it is null, phi'(x): in one function, since they share most of their work.
  template <typename Phi>
  [[gnu::flatten]] static void evaluate(
      const Phi& phi, const B* x, B* y, B* slopes, Eigen::Index size) {
    if (slopes == nullptr) {
      for (Eigen::Index e = 0; e < size; ++e) y[e] = phi.f(x[e]);
      return;
    }
    for (Eigen::Index e = 0; e < size; ++e) {
      const B argument = x[e];
      y[e] = phi.f(argument);
      slopes[e] = phi.df(argument);
    }
  }

  // abar = share(e) or, where it is not the first, abar += share(e), entry by entry; in place, where
  // the plan says so.
  template <typename F>
  void pass_back(B* a_bar, Eigen::Index size, bool is_first, F share) {
    if (is_first) {
      for (Eigen::Index e = 0; e < size; ++e) a_bar[e] = share(e);
    } else {
      for (Eigen::Index e = 0; e < size; ++e) a_bar[e] += share(e);
    }
  }

  void reverse_elementary(std::int32_t i) {
    const B* const bar = adjoints<B>(i);
    const B* const slopes = slopes_.data() + info(i).slopes;
    pass_back(adjoints<B>(node(i).a), packs_ * node(i).size(), info(i).begins_a, [&](auto e) {
      return bar[e] * slopes[e];
    });
  }

  void reverse_scale(std::int32_t i) {
    const B* const bar = adjoints<B>(i);
    const B factor(node(i).factor);
    pass_back(adjoints<B>(node(i).a), packs_ * node(i).size(), info(i).begins_a, [&](auto e) {
      return bar[e] * factor;
    });
  }

  // Whether operand o has an entry of each sample for each of node i.
  bool is_entrywise(std::int32_t i, std::int32_t o) const {
    return !info(o).is_common && node(o).rows == node(i).rows && node(o).cols == node(i).cols;
  }

  // c = a + b, a - b or a b of each entry.
  void reverse_entrywise(std::int32_t i) {
    const Node& n = node(i);
    const Eigen::Index size = packs_ * n.size();
    const B* const bar = adjoints<B>(i);
    const bool is_product = n.op == Op::kHadamard;
    const auto to = [&](std::int32_t o, std::int32_t other, bool is_first, bool is_negative) {
      if (!info(o).is_needed) return false;
      if (!is_entrywise(i, o) || (is_product && !is_entrywise(i, other))) return true;
      B* const o_bar = adjoints<B>(o);
      if (is_product) {
        const B* const factor = values<B>(other);
        pass_back(o_bar, size, is_first, [&](auto e) { return bar[e] * factor[e]; });
      } else if (is_negative) {
        pass_back(o_bar, size, is_first, [&](auto e) { return -bar[e]; });
      } else if (!is_first || o_bar != bar) {
        pass_back(o_bar, size, is_first, [&](auto e) { return bar[e]; });
      }
      return false;
    };
    const bool a_is_left = to(n.a, n.b, info(i).begins_a, false);
    const bool b_is_left = to(n.b, n.a, info(i).begins_b, n.op == Op::kSubtract);
    if (a_is_left || b_is_left) reverse_others(i, a_is_left, b_is_left);
  }

  static Lane* lanes_of(B* numbers) { return reinterpret_cast<Lane*>(numbers); }

  struct Extents {
    int rows, inner, cols;
  };

  // Matrix k of a stack, or what all of it share; transposed if asked for.
  BatchMatrix matrix(
      std::int32_t i, bool is_adjoint, Eigen::Index k, Eigen::Index stack, bool is_transposed) {
    const Node& n = node(i);
    const bool is_common = info(i).is_common;
    double* const first =
        is_common ? reinterpret_cast<double*>(is_adjoint ? adjoints<S>(i) : values<S>(i))
                  : reinterpret_cast<double*>(is_adjoint ? adjoints<B>(i) : values<B>(i));
    const Eigen::Index before = k * n.rows / stack * n.cols * (is_common ? 1 : kLanes);
    const BatchMatrix all{first + before,
                          is_common,
                          static_cast<int>(n.cols),
                          1,
                          is_common ? 0 : static_cast<int>(n.size())};
    return is_transposed ? all.transposed() : all;
  }

  BatchMatrix left(const Node& n, bool is_adjoint, Eigen::Index k) {
    return matrix(n.a, is_adjoint, n.is_shared_a ? 0 : k, n.stack, n.transpose_a);
  }

  BatchMatrix right(const Node& n, bool is_adjoint, Eigen::Index k) {
    return matrix(n.b, is_adjoint, n.is_shared_b ? 0 : k, n.stack, n.transpose_b);
  }

  Extents extents(const Node& n) const {
    const Node& a = node(n.a);
    const Eigen::Index a_rows = n.is_shared_a ? a.rows : a.rows / n.stack;
    return {static_cast<int>(n.rows / n.stack),
            static_cast<int>(n.transpose_a ? a_rows : a.cols),
            static_cast<int>(n.cols)};
  }

  void forward_product(std::int32_t i) {
    const Node& n = node(i);
    const Extents m = extents(n);
    for (Eigen::Index k = 0; k < n.stack; ++k) {
      multiply<Store::kAssign>(matrix(i, false, k, n.stack, false),
                               left(n, false, k),
                               right(n, false, k),
                               m.rows,
                               m.inner,
                               m.cols,
                               static_cast<int>(packs_));
    }
  }

  // C = op(A) op(B): op(A)bar += Cbar op(B)^T, op(B)bar += op(A)^T Cbar.
  void reverse_product(std::int32_t i) {
    const Node& n = node(i);
    const Extents m = extents(n);
    const auto packs = static_cast<int>(packs_);
    const auto add = [&](BatchMatrix bar, BatchMatrix x, BatchMatrix y, Extents e, bool is_first) {
      if (bar.is_shared) {
        add_sum(bar, x, y, e.rows, e.inner, e.cols, packs);
      } else if (is_first) {
        multiply<Store::kAssign>(bar, x, y, e.rows, e.inner, e.cols, packs);
      } else {
        multiply<Store::kAdd>(bar, x, y, e.rows, e.inner, e.cols, packs);
      }
    };
    for (Eigen::Index k = 0; k < n.stack; ++k) {
      const BatchMatrix c_bar = matrix(i, true, k, n.stack, false);
      if (info(n.a).is_needed) {
        add(left(n, true, k),
            c_bar,
            right(n, false, k).transposed(),
            {m.rows, m.cols, m.inner},
            info(i).begins_a && (k == 0 || !n.is_shared_a));
      }
      if (info(n.b).is_needed) {
        add(right(n, true, k),
            left(n, false, k).transposed(),
            c_bar,
            {m.inner, m.rows, m.cols},
            info(i).begins_b && (k == 0 || !n.is_shared_b));
      }
    }
  }

  const Graph* graph_;
  std::span<const Node> nodes_;
  detail::BatchPlan plan_;
  std::vector<S> common_values_;
  std::vector<S> common_adjoints_;
  std::vector<B> values_;  // of packs, and of what is spread
  std::vector<B> adjoints_;
  std::vector<B> slopes_;
  Eigen::Index packs_ = 0;  // of the batch at hand
};

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
