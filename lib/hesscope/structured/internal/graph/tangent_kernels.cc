// SPDX-License-Identifier: BSD-3-Clause
//
// A kernel source: compiled once for each instruction set (cmake/HesscopeKernels.cmake).
#include <hesscope/structured/internal/graph/point_sweep.h>
#include <hesscope/structured/internal/graph/row_products.h>
#include <hesscope/structured/internal/graph/tangent_rows.h>

namespace hesscope::HESSCOPE_ISA {

const detail::TangentKernels& tangent_kernels();

namespace {

class Sweeper : RowSweep {
 public:
  explicit Sweeper(const TangentSweep& s) : RowSweep(s) {}

  void run() {
    std::size_t seed = 0;
    for (int i = 0; i < num_nodes_; ++i) {
      const Interval out = plan(i).tangent;
      if (!out.is_empty() && node(i).op != Op::kReshape) forward(i, out);
      for (; seed < s_.seeds.size() && s_.seeds[seed].node == i; ++seed) {
        if (!out.is_empty()) set(s_.seeds[seed]);
      }
    }
    for (int i = 0; i < num_nodes_; ++i) {
      const Interval bar = plan(i).adjoint;
      if (!bar.is_empty() && node(i).op != Op::kReshape) {
        clear(adjoint(i) + bar.begin * kEntry, bar.end - bar.begin);
      }
    }
    for (int i = num_nodes_; i-- > 0;) {
      if (node(i).a >= 0 && node(i).op != Op::kReshape) reverse(i);
    }
  }

 private:
  void set(const detail::Seed& seed) {
    Lane* y = tangent(seed.node) + seed.tangent * kEntry + seed.direction * kParts;
    for (int part = 0; part < kParts; ++part) {
      const Lane x =
          seed.x < 0 ? Lane{} + 1.0 : lanes(s_.point.values)[long{seed.x} * kParts + part];
      y[part] += seed.factor * x;
    }
  }

  void forward(int i, Interval out) {
    const Node& n = node(i);
    Lane* const y = tangent(i);
    if (n.op == Op::kMatmul) return forward_product(i);
    clear(y + out.begin * kEntry, out.end - out.begin);
    const auto operand = [&](int o, auto visit) {
      if (!has_tangent(o)) return;
      Lane* const x = tangent(o);
      for_spread(i, o, out, plan(o).tangent, [&](int e, int from) {
        visit(y + e * kEntry, x + from * kEntry, e);
      });
    };
    const auto size = static_cast<int>(n.size());
    const Interval a = n.a >= 0 ? plan(n.a).tangent : Interval{};
    switch (n.op) {
      case Op::kAdd:
        operand(n.a, [](Lane* to, const Lane* x, int) { add(to, x); });
        operand(n.b, [](Lane* to, const Lane* x, int) { add(to, x); });
        return;
      case Op::kSubtract:
        operand(n.a, [](Lane* to, const Lane* x, int) { add(to, x); });
        operand(n.b, [](Lane* to, const Lane* x, int) { add_times(to, x, -1); });
        return;
      case Op::kScale:
        return operand(n.a, [&](Lane* to, const Lane* x, int) { add_times(to, x, n.factor); });
      case Op::kElementary: {
        const Lane* c = coefficient(i);
        return operand(
            n.a, [&](Lane* to, const Lane* x, int e) { assign_scaled(to, x, c + e * kParts); });
      }
      case Op::kHadamard:
        operand(n.a, [&](Lane* to, const Lane* x, int e) {
          add_scaled(to, x, value(n.b) + spread(i, n.b, e) * kParts);
        });
        operand(n.b, [&](Lane* to, const Lane* x, int e) {
          add_scaled(to, x, value(n.a) + spread(i, n.a, e) * kParts);
        });
        return;
      case Op::kDivide: {
        const Lane* c = coefficient(i);
        operand(n.a, [&](Lane* to, const Lane* x, int e) { add_scaled(to, x, c + e * kParts); });
        operand(n.b, [&](Lane* to, const Lane* x, int e) {
          add_scaled(to, x, c + (size + e) * kParts);
        });
        return;
      }
      case Op::kSoftmaxRows:
        return forward_softmax(i, rows_of(out, static_cast<int>(n.cols)));
      case Op::kLogSumExpRows:
      case Op::kCrossEntropyRows: {
        const auto cols = static_cast<int>(node(n.a).cols);
        const auto all = static_cast<int>(node(n.a).size());
        const Lane* c = coefficient(i);  // p, variance, scale, slope
        if (n.op == Op::kCrossEntropyRows) c += (2 * all + static_cast<int>(n.rows)) * kParts;
        for (int e = a.begin; e < a.end; ++e) {
          add_scaled(y + e / cols * kEntry, tangent(n.a) + e * kEntry, c + e * kParts);
        }
        return;
      }
      case Op::kSquaredDistances:
        return forward_distances(i, out);
      case Op::kSum:
        for (int e = a.begin; e < a.end; ++e) add(y, tangent(n.a) + e * kEntry);
        return;
      case Op::kSumRows:
      case Op::kMaxRows: {
        const auto cols = static_cast<int>(node(n.a).cols);
        for (int e = a.begin; e < a.end; ++e) {
          if (n.op == Op::kSumRows) {
            add(y + e / cols * kEntry, tangent(n.a) + e * kEntry);
          } else {
            add_where(y + e / cols * kEntry,
                      tangent(n.a) + e * kEntry,
                      coefficient(i) + e * kParts,
                      true);
          }
        }
        return;
      }
      case Op::kSlice:
      case Op::kEmbed:
      case Op::kGather:
        for (int e = out.begin; e < out.end; ++e) {
          const auto [from, entry] = source(i, e);
          if (from >= 0 && has_tangent(from) && entry >= plan(from).tangent.begin &&
              entry < plan(from).tangent.end) {
            add(y + e * kEntry, tangent(from) + entry * kEntry);
          }
        }
        return;
      case Op::kSelect: {
        const Lane* c = coefficient(i);
        operand(n.a,
                [&](Lane* to, const Lane* x, int e) { add_where(to, x, c + e * kParts, true); });
        operand(n.b,
                [&](Lane* to, const Lane* x, int e) { add_where(to, x, c + e * kParts, false); });
        return;
      }
      default:
        return;
    }
  }

  struct Source {
    int node;
    int entry;
  };

  // Of entry e of a node that moves entries; node -1 for a zero.
  Source source(int i, int e) const {
    const Node& n = node(i);
    const auto cols = static_cast<int>(n.cols);
    const Node& a = node(n.a);
    const auto a_cols = static_cast<int>(a.cols);
    if (n.op == Op::kSlice) {
      return {n.a,
              (static_cast<int>(n.row) + e / cols) * a_cols + static_cast<int>(n.col) + e % cols};
    }
    if (n.op == Op::kEmbed) {
      const int r = e / cols - static_cast<int>(n.row);
      const int c = e % cols - static_cast<int>(n.col);
      if (r < 0 || c < 0 || r >= static_cast<int>(a.rows) || c >= a_cols) return {-1, 0};
      return {n.a, r * a_cols + c};
    }
    const int index = s_.indices[static_cast<std::size_t>(n.offset + e)];
    const auto a_size = static_cast<int>(a.size());
    if (index < 0) return {-1, 0};
    return index < a_size ? Source{n.a, index} : Source{n.b, index - a_size};
  }

  void reverse(int i) {
    const Node& n = node(i);
    if (n.op == Op::kMatmul) return reverse_product(i);
    const Interval bars = plan(i).adjoint;
    const Interval whole{0, static_cast<int>(n.size())};
    // Calls visit(adjoint of the operand's entry, tangent of this node's, entry) for entries of `live`.
    const auto linear = [&](int o, auto visit) {
      if (bars.is_empty() || !has_adjoint(o)) return;
      const Lane* const y = adjoint(i);
      Lane* const x = adjoint(o);
      for_spread(i, o, bars, {0, static_cast<int>(node(o).size())}, [&](int e, int to) {
        visit(x + to * kEntry, y + e * kEntry, e);
      });
    };
    // visit(adjoint of o's entry, tangent of other's, entry).
    const auto bent = [&](int o, int other, auto visit) {
      if (!has_adjoint(o) || !has_tangent(other)) return;
      Lane* const x = adjoint(o);
      const Lane* const t = tangent(other);
      for_spread(i, other, whole, plan(other).tangent, [&](int e, int from) {
        visit(x + spread(i, o, e) * kEntry, t + from * kEntry, e);
      });
    };
    const auto size = static_cast<int>(n.size());
    switch (n.op) {
      case Op::kAdd:
        linear(n.a, [](Lane* to, const Lane* y, int) { add(to, y); });
        linear(n.b, [](Lane* to, const Lane* y, int) { add(to, y); });
        return;
      case Op::kSubtract:
        linear(n.a, [](Lane* to, const Lane* y, int) { add(to, y); });
        linear(n.b, [](Lane* to, const Lane* y, int) { add_times(to, y, -1); });
        return;
      case Op::kScale:
        return linear(n.a, [&](Lane* to, const Lane* y, int) { add_times(to, y, n.factor); });
      case Op::kElementary: {
        const Lane* c = coefficient(i);
        linear(n.a, [&](Lane* to, const Lane* y, int e) { add_scaled(to, y, c + e * kParts); });
        return bent(n.a, n.a, [&](Lane* to, const Lane* x, int e) {
          add_scaled(to, x, c + (size + e) * kParts);
        });
      }
      case Op::kHadamard: {
        const auto times = [&](int other) {
          return [this, i, other](Lane* to, const Lane* y, int e) {
            add_scaled(to, y, value(other) + spread(i, other, e) * kParts);
          };
        };
        const auto times_bar = [&](Lane* to, const Lane* x, int e) {
          add_scaled(to, x, bar(i) + e * kParts);
        };
        linear(n.a, times(n.b));
        linear(n.b, times(n.a));
        bent(n.a, n.b, times_bar);
        return bent(n.b, n.a, times_bar);
      }
      case Op::kDivide: {
        const auto by = [&](int which) {
          return [this, i, which, size](Lane* to, const Lane* x, int e) {
            add_scaled(to, x, coefficient(i) + (which * size + e) * kParts);
          };
        };
        linear(n.a, by(0));
        linear(n.b, by(1));
        bent(n.a, n.b, by(2));
        bent(n.b, n.a, by(2));
        return bent(n.b, n.b, by(3));
      }
      case Op::kSoftmaxRows:
        return reverse_softmax(i);
      case Op::kLogSumExpRows:
      case Op::kCrossEntropyRows:
        return reverse_log_sum(i);
      case Op::kSquaredDistances:
        return reverse_distances(i);
      case Op::kSum:
        if (bars.is_empty() || !has_adjoint(n.a)) return;
        for (int e = 0; e < static_cast<int>(node(n.a).size()); ++e) {
          add(adjoint(n.a) + e * kEntry, adjoint(i));
        }
        return;
      case Op::kSumRows:
      case Op::kMaxRows: {
        if (!has_adjoint(n.a)) return;
        const auto cols = static_cast<int>(node(n.a).cols);
        for (int e = bars.begin * cols; e < bars.end * cols; ++e) {
          Lane* const to = adjoint(n.a) + e * kEntry;
          const Lane* const y = adjoint(i) + e / cols * kEntry;
          if (n.op == Op::kSumRows) {
            add(to, y);
          } else {
            add_where(to, y, coefficient(i) + e * kParts, true);
          }
        }
        return;
      }
      case Op::kSlice:
      case Op::kEmbed:
      case Op::kGather:
        for (int e = bars.begin; e < bars.end; ++e) {
          const auto [to, entry] = source(i, e);
          if (to >= 0 && has_adjoint(to))
            add(adjoint(to) + entry * kEntry, adjoint(i) + e * kEntry);
        }
        return;
      case Op::kSelect: {
        const Lane* c = coefficient(i);
        linear(n.a,
               [&](Lane* to, const Lane* y, int e) { add_where(to, y, c + e * kParts, true); });
        return linear(
            n.b, [&](Lane* to, const Lane* y, int e) { add_where(to, y, c + e * kParts, false); });
      }
      default:
        return;
    }
  }
};

std::unique_ptr<detail::PointSweep> point_sweep(const Graph& graph,
                                                const detail::PointLayout& layout) {
  return std::make_unique<detail::TapePointSweep<kLanes, kSet>>(graph, layout);
}

constexpr detail::TangentKernels kKernels = {
    .point_sweep = point_sweep,
    .sweep = [](const TangentSweep& sweep) { Sweeper(sweep).run(); },
    .multiply = multiply,
    .add = [](const detail::RowProduct& m) { multiply_rows<Store::kAdd>(m, m.terms[0]); },
};

}  // namespace

const detail::TangentKernels& tangent_kernels() { return kKernels; }

}  // namespace hesscope::HESSCOPE_ISA
