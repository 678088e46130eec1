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
#include <vector>

#include <hesscope/autodiff/internal/batch_products.h>
#include <hesscope/autodiff/internal/node_numbers.h>
#include <hesscope/autodiff/internal/sweep_plan.h>
#include <hesscope/autodiff/sweep.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

class BatchTape {
 public:
  /// `graph` must outlive the tape and have an output.
  explicit BatchTape(const Graph& graph)
      : graph_(&graph), nodes_(graph.nodes()), common_(nodes_), own_(nodes_) {
    const detail::SweepPlan plan = detail::plan_sweep(graph, 0, graph.num_parameters(), 0);
    Eigen::Index entries = 0;
    Eigen::Index slopes = 0;
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      const Node& n = node(i);
      Info own{.is_needed = plan[static_cast<std::size_t>(i)].needed};
      own.is_common = n.op != Op::kInput && is_common(n.a) && is_common(n.b) && is_common(n.choice);
      if (!own.is_common) {
        own.takes_rows = takes_rows(n);
        if (n.op != Op::kReshape) entries += n.size();
        if (n.op == Op::kElementary && own.is_needed) {
          own.slopes = slopes;
          slopes += n.size();
        }
      }
      info_.push_back(own);
      if (own.is_common || n.op == Op::kMatmul) continue;
      for (const std::int32_t o : {n.a, n.b, n.choice}) {
        if (o >= 0) info_[index(o)].is_spread = info(o).is_common;
      }
    }
    max_packs_ = packs_of(entries, slopes);
    slopes_.resize(static_cast<std::size_t>(slopes * max_packs_));
    for (std::int32_t i = num_nodes(); i-- > 0;) {
      if (info(i).is_spread && node(i).op == Op::kReshape) info_[index(node(i).a)].is_spread = true;
    }
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      const Info& n = info(i);
      common_.place(i, n.is_common ? 1 : 0);
      own_.place(i, n.is_common ? (n.is_spread ? 1 : 0) : max_packs_);
    }
    common_.allocate();
    own_.allocate();
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
      forward_by_kernels(common_, i, {0, 1});
      if (!info(i).is_spread) continue;
      const S* const from = common_.values(i);
      B* const to = own_.values(i);
      for (Eigen::Index e = 0; e < node(i).size(); ++e) to[e] = B(from[e][0]);
    }
  }

  /// body(first, count) for each batch of samples, with their records loaded.
  template <typename F>
  void for_each_batch(Records records, F body) {
    for (Eigen::Index first = 0; first < records.count; first += max_packs_ * kLanes) {
      const Eigen::Index count = std::min(max_packs_ * kLanes, records.count - first);
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
          for_each_part(i, [&](Part part) { forward_by_kernels(own_, i, part); });
      }
    }
  }

  /// Of a sample of the batch.
  double value(std::int32_t i, Eigen::Index entry, Eigen::Index sample) {
    if (info(i).is_common) return common_.values(i)[entry][0];
    return own_.values(
        i)[sample / kLanes * node(i).size() + entry][static_cast<int>(sample % kLanes)];
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
      common_.clear_adjoints(i, 1);
      if (info(i).is_spread) own_.clear_adjoints(i, 1);
    }
  }

  /// After forward(true), of `count` samples: adds to the adjoints of what is common.
  void reverse(Eigen::Index count) {
    for (std::int32_t i = 0; i < num_nodes(); ++i) {
      if (!info(i).is_common && info(i).is_needed) own_.clear_adjoints(i, packs_);
    }
    const std::int32_t output = graph_->output();
    if (info(output).is_common) {
      common_.adjoints(output)[0] += S(static_cast<double>(count));
      return;
    }
    for (Eigen::Index s = 0; s < count; ++s) {
      own_.adjoints(output)[s / kLanes].set(static_cast<int>(s % kLanes), 1.0);
    }
    for (std::int32_t i = output + 1; i-- > 0;) {
      const Node& n = node(i);
      if (info(i).is_common || !info(i).is_needed || n.a < 0) continue;
      switch (n.op) {
        case Op::kMatmul:
          reverse_product(i);
          break;
        case Op::kElementary:
          reverse_elementary(i);
          break;
        default:
          for_each_part(i, [&](Part part) { reverse_by_kernels(own_, i, part); });
      }
    }
  }

  /// After the reverse sweeps of a sum: adds the parameters' adjoints.
  void add_gradient(std::span<double> gradient) {
    for (std::int32_t i = num_nodes(); i-- > 0;) {
      const Node& n = node(i);
      if (!info(i).is_common || !info(i).is_needed) continue;
      S* const sum = common_.adjoints(i);
      if (info(i).is_spread && n.op != Op::kReshape) {
        const Lane* const each = lanes_of(own_.adjoints(i));
        for (Eigen::Index e = 0; e < n.size(); ++e) sum[e] += S(sum_of(each[e]));
      }
      if (n.a >= 0) reverse_by_kernels(common_, i, {0, 1});
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

  struct Info {
    bool is_needed = false;  // has an adjoint
    bool is_common = false;
    bool is_spread = false;    // common, and taken by others than products
    bool takes_rows = false;   // rows of all packs may be taken as one matrix's
    Eigen::Index slopes = -1;  // of one pack, where it is elementary and needed
  };

  // Packs that are taken at once.
  struct Part {
    Eigen::Index first;
    Eigen::Index count;
  };

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  std::int32_t num_nodes() const { return static_cast<std::int32_t>(nodes_.size()); }

  const Node& node(std::int32_t i) const { return nodes_[index(i)]; }

  const Info& info(std::int32_t i) const { return info_[index(i)]; }

  // Of an operand: that there is none, or that it is common.
  bool is_common(std::int32_t operand) const { return operand < 0 || info(operand).is_common; }

  static Eigen::Index packs_of(Eigen::Index entries, Eigen::Index slopes) {
    const double bytes_of_one = static_cast<double>(2 * entries + slopes + 1) * sizeof(B);
    return std::clamp<Eigen::Index>(
        static_cast<Eigen::Index>(kBatchBytes / bytes_of_one), 1, kMaxPacks);
  }

  // Of a node that is not common: whether it does the same to each row, and its operands have one for
  // each of its own, or one for all.
  bool takes_rows(const Node& n) const {
    bool has_spread_operands = false;
    switch (n.op) {
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kHadamard:
      case Op::kDivide:
      case Op::kLess:
      case Op::kEqual:
        has_spread_operands = true;
        break;
      case Op::kScale:
      case Op::kSoftmaxRows:
      case Op::kStandardizeRows:
      case Op::kLogSumExpRows:
      case Op::kCrossEntropyRows:
      case Op::kSumRows:
      case Op::kMaxRows:
      case Op::kSelect:
      case Op::kSlice:  // of columns, where there are as many rows
      case Op::kEmbed:
        break;
      default:
        return false;
    }
    for (const std::int32_t o : {n.a, n.b, n.choice}) {
      if (o < 0) continue;
      if (info(o).is_common ? !has_spread_operands || node(o).rows != 1 : node(o).rows != n.rows) {
        return false;
      }
    }
    return true;
  }

  template <typename F>
  void for_each_part(std::int32_t i, F body) const {
    if (info(i).takes_rows) return body(Part{0, packs_});
    for (Eigen::Index p = 0; p < packs_; ++p) body(Part{p, 1});
  }

  void set_common(std::int32_t i, std::span<const double> entries) {
    S* const values = common_.values(i);
    for (Eigen::Index e = 0; e < node(i).size(); ++e) {
      values[e] = S(entries[static_cast<std::size_t>(node(i).offset + e)]);
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
        B* const to = own_.values(i) + s / kLanes * n.size();
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
  detail::View<const T> values(NodeNumbers<T>& numbers, std::int32_t i, Part part) const {
    if (i < 0) return {};
    return view<const T>(numbers.values(i), i, part);
  }

  template <typename T>
  detail::NodeData<T> data_of(NodeNumbers<T>& numbers, const Node& n, Part part) const {
    return {.choice = values(numbers, n.choice, part),
            .indices = n.op == Op::kGather ? graph_->indices().data() + n.offset : nullptr};
  }

  template <typename T>
  void forward_by_kernels(NodeNumbers<T>& numbers, std::int32_t i, Part part) {
    const Node& n = node(i);
    if (n.a < 0) return;
    const auto out = view<T>(numbers.values(i), i, part);
    const auto own = data_of(numbers, n, part);
    if (n.b >= 0) {
      detail::forward_binary(n, own, out, values(numbers, n.a, part), values(numbers, n.b, part));
    } else {
      detail::forward_unary(n, own, out, values(numbers, n.a, part));
    }
  }

  template <typename T>
  void reverse_by_kernels(NodeNumbers<T>& numbers, std::int32_t i, Part part) {
    const Node& n = node(i);
    const auto own = data_of(numbers, n, part);
    const detail::View<const T> bar = view<const T>(numbers.adjoints(i), i, part);
    const auto value_of = [&](std::int32_t o, auto use) { use(values(numbers, o, part)); };
    const auto bar_of = [&](std::int32_t o) { return view<T>(numbers.adjoints(o), o, part); };
    if (n.b < 0) {
      if (info(n.a).is_needed) detail::reverse_unary(n, i, own, bar_of(n.a), bar, value_of);
    } else {
      detail::reverse_binary(n,
                             i,
                             own,
                             bar_of(n.a),
                             info(n.a).is_needed,
                             bar_of(n.b),
                             info(n.b).is_needed,
                             bar,
                             value_of);
    }
  }

  void forward_elementary(std::int32_t i, bool has_slopes) {
    const Node& n = node(i);
    const B* const x = own_.values(n.a);
    B* const slopes = has_slopes ? slopes_.data() + info(i).slopes * max_packs_ : nullptr;
    detail::visit_elementary(n.function, n.factor, n.beta, [&](auto phi) {
      evaluate(phi, x, own_.values(i), slopes, packs_ * n.size());
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

  void reverse_elementary(std::int32_t i) {
    const Eigen::Index size = packs_ * node(i).size();
    const B* const slopes = slopes_.data() + info(i).slopes * max_packs_;
    const B* const y_bar = own_.adjoints(i);
    B* const x_bar = own_.adjoints(node(i).a);
    for (Eigen::Index e = 0; e < size; ++e) x_bar[e] += y_bar[e] * slopes[e];
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
        is_common ? reinterpret_cast<double*>(is_adjoint ? common_.adjoints(i) : common_.values(i))
                  : reinterpret_cast<double*>(is_adjoint ? own_.adjoints(i) : own_.values(i));
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
    const auto add = [&](BatchMatrix bar, BatchMatrix x, BatchMatrix y, Extents e) {
      const auto packs = static_cast<int>(packs_);
      if (bar.is_shared) {
        add_sum(bar, x, y, e.rows, e.inner, e.cols, packs);
      } else {
        multiply<Store::kAdd>(bar, x, y, e.rows, e.inner, e.cols, packs);
      }
    };
    for (Eigen::Index k = 0; k < n.stack; ++k) {
      const BatchMatrix c_bar = matrix(i, true, k, n.stack, false);
      if (info(n.a).is_needed) {
        add(left(n, true, k), c_bar, right(n, false, k).transposed(), {m.rows, m.cols, m.inner});
      }
      if (info(n.b).is_needed) {
        add(right(n, true, k), left(n, false, k).transposed(), c_bar, {m.inner, m.rows, m.cols});
      }
    }
  }

  const Graph* graph_;
  std::span<const Node> nodes_;
  std::vector<Info> info_;
  NodeNumbers<S> common_;
  NodeNumbers<B> own_;  // of packs, and of what is spread
  std::vector<B> slopes_;
  Eigen::Index max_packs_ = 1;
  Eigen::Index packs_ = 0;  // of the batch at hand
};

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
