// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: computes values, adjoints and coefficients of a pack with the plain
// tape.
#pragma once

#include <algorithm>

#include <hesscope/autodiff/internal/tape.h>
#include <hesscope/structured/internal/graph/chain_derivatives.h>

namespace hesscope::detail {

/// Uses W lanes, where W divides kPackSamples, one part of a pack after the other.
template <int W, InstructionSet kSet>
class TapePointSweep final : public PointSweep {
 public:
  using B = Lanes<W, kSet>;

  TapePointSweep(const Graph& graph, const PointLayout& layout)
      : nodes_(graph.nodes()),
        layout_(layout),
        tape_(graph),
        plan_(nodes_.size()),
        chain_derivatives_(nodes_, layout_.nodes, tape_) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) plan_[i].needed = layout.has_adjoint[i] != 0;
  }

  void set_theta(std::span<const double> theta) override {
    tape_.set_parameters([&](Eigen::Index j) { return B(theta[static_cast<std::size_t>(j)]); });
  }

  void read_common(int node, double* entries) override {
    const std::span<const B> values = tape_.values(static_cast<std::size_t>(node));
    for (std::size_t e = 0; e < values.size(); ++e) entries[e] = values[e][0];
  }

  double run(Records records, PackPoint point) override {
    double total = 0;
    for (part_ = 0; part_ < kParts; ++part_) total += run_part(records, point);
    return total;
  }

 private:
  static_assert(sizeof(B) == W * sizeof(double) && kPackSamples % W == 0);
  static constexpr int kParts = kPackSamples / W;

  // The current part of the entries of packs.
  struct Parts {
    B* data;

    B& operator[](Eigen::Index e) const { return data[e * kParts]; }

    Parts operator+(Eigen::Index entries) const { return {data + entries * kParts}; }

    View<B> view(Eigen::Index rows, Eigen::Index cols) const {
      return {data, rows, cols, cols * kParts, kParts};
    }
  };

  Parts packs(double* data, int first) const {
    return {reinterpret_cast<B*>(data) + Eigen::Index{first} * kParts + part_};
  }

  static void copy(Parts to, std::span<const B> from) {
    for (std::size_t e = 0; e < from.size(); ++e) to[static_cast<Eigen::Index>(e)] = from[e];
  }

  double run_part(Records records, PackPoint point) {
    const auto count = static_cast<int>(records.count);
    const int first = part_ * W;
    tape_.set_inputs([&](Eigen::Index entry) {
      B packed;
      for (int lane = 0; lane < W; ++lane) {
        const int sample = std::min(first + lane, count - 1);
        packed.set(lane, records.data[sample * records.stride + entry]);
      }
      return packed;
    });
    B seed(0);
    for (int lane = 0; lane < std::min(W, count - first); ++lane) seed.set(lane, 1);
    tape_.forward();
    tape_.reverse(plan_, seed);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const SweepNode& kept = layout_.nodes[i];
      if (nodes_[i].op == Graph::Op::kReshape) continue;
      if (kept.value >= 0) copy(packs(point.values, kept.value), tape_.values(i));
      if (kept.adjoint >= 0) copy(packs(point.adjoints, kept.adjoint), tape_.adjoints(i));
      if (kept.coefficient >= 0 && !kept.is_chain) {
        set_coefficients(i, packs(point.coefficients, kept.coefficient));
      }
    }
    for (const ElementwiseChain& chain : layout_.chains) set_coefficients(chain, point);
    for (const OneHotValues& rows : layout_.one_hots) set_one_hot(rows, point);
    double total = 0;
    for (int lane = 0; lane < std::min(W, count - first); ++lane) total += tape_.output()[lane];
    return total;
  }

  const B* values(std::int32_t node) const {
    return tape_.values(static_cast<std::size_t>(node)).data();
  }

  // The entry of an operand that entry (r, c) of an elementwise operation uses.
  const B& spread(std::int32_t operand, Eigen::Index r, Eigen::Index c) const {
    const Graph::Node& n = nodes_[static_cast<std::size_t>(operand)];
    return values(operand)[(n.rows == 1 ? 0 : r) * n.cols + (n.cols == 1 ? 0 : c)];
  }

  // Calls set(kind, e) for the derivatives that a function has, one after the other; the second
  // ones include the factor ybar.
  template <typename Set>
  void set_derivatives(std::size_t i, Parts out, Set set) {
    const B* y_bar = tape_.adjoints(i).data();
    const Eigen::Index size = nodes_[i].size();
    for (int kind = 0; kind < kNumDerivatives; ++kind) {
      if (!layout_.nodes[i].derivatives.has[kind]) continue;
      const bool is_slope = kind < second_derivative(0, 0);
      for (Eigen::Index e = 0; e < size; ++e) {
        out[e] = is_slope ? set(kind, e) : set(kind, e) * y_bar[e];
      }
      out = out + size;
    }
  }

  void set_coefficients(const ElementwiseChain& chain, PackPoint point) {
    const auto last = static_cast<std::size_t>(chain.nodes.back());
    const Parts out = packs(point.coefficients, layout_.nodes[last].coefficient);
    const B* next = chain_derivatives_.of(chain);
    set_derivatives(last, out, [&](int, Eigen::Index) { return *next++; });
  }

  void set_coefficients(std::size_t i, Parts out) {
    using Op = Graph::Op;
    const Graph::Node& node = nodes_[i];
    const B* y = tape_.values(i).data();
    const Eigen::Index size = node.size();
    switch (node.op) {
      case Op::kElementary: {  // phi', phi''
        const B* x = values(node.a);
        return visit_elementary(node.function, node.factor, node.beta, [&](auto phi) {
          set_derivatives(i, out, [&](int kind, Eigen::Index e) {
            return kind == 0 ? phi.df(x[e]) : phi.ddf(x[e]);
          });
        });
      }
      case Op::kDivide:  // for y = a / b: 1 / b, -y / b, -1 / b^2, 2 y / b^2
        return set_derivatives(i, out, [&](int kind, Eigen::Index e) {
          const B inverse = B(1) / spread(node.b, e / node.cols, e % node.cols);
          if (kind == 0) return inverse;
          if (kind == 1) return -(y[e] * inverse);
          const B square = inverse * inverse;
          return kind == second_derivative(0, 1) ? -square : B(2) * y[e] * square;
        });
      case Op::kSoftmaxRows:  // ybar_j - sum_k p_k ybar_k
        return set_softmax_coefficients(i, out);
      case Op::kStandardizeRows:
        return set_standardizing_coefficients(i, out);
      case Op::kLogSumExpRows:
      case Op::kCrossEntropyRows:
        return set_row_coefficients(i, out);
      case Op::kMaxRows: {  // 1 at the selected entry
        const View<const B> x = view(node.a);
        const View<B> taken = out.view(x.rows, x.cols);
        fill(taken, [](Eigen::Index, Eigen::Index) { return B(0); });
        const B one(1);
        return max_rows_reverse(taken, View<const B>{&one, x.rows, 1, 0, 0}, x);
      }
      case Op::kSelect: {
        const B* choice = values(node.choice);
        for (Eigen::Index e = 0; e < size; ++e) out[e] = select(choice[e] != B(0), B(1), B(0));
        return;
      }
      default:
        return;
    }
  }

  View<const B> view(std::int32_t i) const {
    const Graph::Node& n = nodes_[static_cast<std::size_t>(i)];
    return {values(i), n.rows, n.cols, n.cols, 1};
  }

  // As in softmax_rows_reverse().
  void set_softmax_coefficients(std::size_t i, Parts out) {
    const Graph::Node& node = nodes_[i];
    const View<const B> p{tape_.values(i).data(), node.rows, node.cols, node.cols, 1};
    const View<const B> p_bar{tape_.adjoints(i).data(), node.rows, node.cols, node.cols, 1};
    const View<B> slopes = out.view(node.rows, node.cols);
    for (Eigen::Index r = 0; r < node.rows; ++r) {
      const B common = bar_of_most(p_bar, p, r);
      B inner(0);
      for (Eigen::Index c = 0; c < node.cols; ++c) {
        slopes(r, c) = p_bar(r, c) - common;
        inner += p(r, c) * slopes(r, c);
      }
      for (Eigen::Index c = 0; c < node.cols; ++c) slopes(r, c) -= inner;
    }
  }

  // For y_j = r (x_j - m), with a = mean(ybar) (0 if not centred) and b = mean(ybar y): r^2 (ybar_j
  // - a - y_j b) for each entry, then r, r^2 a and r^2 b for each row.
  void set_standardizing_coefficients(std::size_t i, Parts out) {
    const Graph::Node& node = nodes_[i];
    const View<const B> x = view(node.a);
    const View<const B> y{tape_.values(i).data(), node.rows, node.cols, node.cols, 1};
    const View<const B> y_bar{tape_.adjoints(i).data(), node.rows, node.cols, node.cols, 1};
    const Parts of_rows = out + node.size();
    const B share = B(1) / B(static_cast<double>(node.cols));
    for (Eigen::Index r = 0; r < node.rows; ++r) {
      const B inverse = row_statistics(x, r, node).inverse_deviation;
      B mean(0);
      B inner(0);
      for (Eigen::Index c = 0; c < node.cols; ++c) {
        if (node.is_centred) mean += y_bar(r, c) * share;
        inner += y_bar(r, c) * y(r, c) * share;
      }
      const B square = inverse * inverse;
      for (Eigen::Index c = 0; c < node.cols; ++c) {
        out[r * node.cols + c] = square * (y_bar(r, c) - mean - y(r, c) * inner);
      }
      of_rows[r] = inverse;
      of_rows[node.rows + r] = square * mean;
      of_rows[2 * node.rows + r] = square * inner;
    }
  }

  // For y = log sum_j exp(x_j): p_j, p_j (1 - p_j), and ybar for each row, so that the second
  // derivative is ybar (p_j (1 - p_j) dx_j - p_j sum_{k != j} p_k dx_k). For the cross-entropy the
  // same with ybar times the sum of the targets, and its slopes. 1 - p_j is computed as ((1 - r_j)
  // + (s - e_j)) / (1 + s), with terms as in row_kernels.h, which is not a difference of numbers
  // near 1.
  void set_row_coefficients(std::size_t i, Parts out) {
    const Graph::Node& node = nodes_[i];
    const View<const B> x = view(node.a);
    const Eigen::Index size = x.size();
    const Parts p = out;
    const Parts variance = out + size;
    const Parts scale = out + 2 * size;
    const Parts slope = scale + x.rows;
    CrossEntropyTerms<B> terms(x.cols);
    for (Eigen::Index r = 0; r < x.rows; ++r) {
      terms.set(x, r);
      const B inverse = B(1) / (B(1) + terms.excess);
      for (Eigen::Index c = 0; c < x.cols; ++c) {
        const auto j = static_cast<std::size_t>(c);
        const Eigen::Index e = r * x.cols + c;
        p[e] = (terms.each[j] + terms.is_largest[j]) * inverse;
        variance[e] =
            p[e] * (((B(1) - terms.is_largest[j]) + (terms.excess - terms.each[j])) * inverse);
      }
      scale[r] = tape_.adjoints(i)[static_cast<std::size_t>(r)];
      if (node.op == Graph::Op::kCrossEntropyRows) scale[r] *= row_sum(view(node.b), r);
    }
    if (node.op != Graph::Op::kCrossEntropyRows) return;
    fill(slope.view(x.rows, x.cols), [](Eigen::Index, Eigen::Index) { return B(0); });
    const B one(1);
    cross_entropy_rows_reverse(
        slope.view(x.rows, x.cols), View<const B>{&one, x.rows, 1, 0, 0}, x, view(node.b));
  }

  void set_one_hot(const OneHotValues& rows, PackPoint point) {
    const Parts out = packs(point.values, rows.value);
    const Eigen::Index size = Eigen::Index{rows.positions} * rows.table_rows;
    for (Eigen::Index e = 0; e < size; ++e) out[e] = B(0);
    for_each_row(
        view(rows.rows_node), rows.table_rows, [&](Eigen::Index t, int lane, Eigen::Index k) {
          if (k >= 0) out[t * rows.table_rows + k].set(lane, 1);
        });
  }

  std::span<const Graph::Node> nodes_;
  PointLayout layout_;
  Tape<B, ceres::Jet<B, 1>> tape_;
  SweepPlan plan_;
  ChainDerivatives<B, Tape<B, ceres::Jet<B, 1>>> chain_derivatives_;
  int part_ = 0;  // of the current pack
};

}  // namespace hesscope::detail
