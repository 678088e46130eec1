// SPDX-License-Identifier: BSD-3-Clause
//
// A kernel source: compiled once for each instruction set (cmake/HesscopeKernels.cmake).
#include <hesscope/structured/internal/graph/direction_sums.h>
#include <hesscope/structured/internal/graph/point_sweep.h>
#include <hesscope/structured/internal/graph/row_products.h>
#include <hesscope/structured/internal/graph/tangent_functions.h>

namespace hesscope::HESSCOPE_ISA {

const detail::TangentKernels& tangent_kernels();

namespace {

class Sweeper : FunctionSweep {
 public:
  explicit Sweeper(const TangentSweep& s) : FunctionSweep(s) {}

  void run() {
    std::size_t seed = 0;
    for (int i = 0; i < num_nodes_; ++i) {
      const Interval out = plan(i).tangent;
      if (!out.is_empty() && node(i).op != Op::kReshape) {
        kept(i).is_part ? complete_tangent(i) : forward(i, out);
      }
      for (; seed < s_.seeds.size() && s_.seeds[seed].node == i; ++seed) {
        if (!out.is_empty()) set(s_.seeds[seed]);
      }
    }
    for (int i = 0; i < num_nodes_; ++i) s_.is_begun[i] = 0;
    for (int i = num_nodes_; i-- > 0;) {
      if (node(i).op == Op::kReshape) continue;
      if (has_adjoint(i)) prepare_to_add(i);  // nothing has contributed to it
      if (node(i).a >= 0 && varies(i)) reverse(i);
    }
  }

 private:
  void set(const detail::Seed& seed) {
    const Lane x = seed.x < 0 ? Lane{} + 1.0 : *packs(s_.point.values, seed.x);
    tangent(seed.node)[seed.tangent * kEntry + seed.direction] += seed.factor * x;
  }

  // If a part comprises its whole operand, sets what the operand omits; and vice versa.
  void complete_tangent(int i) const {
    if (node(i).op != Op::kSlice)
      clear_between(tangent(i), plan(i).tangent, plan(node(i).a).tangent);
  }

  void complete_adjoint(int i) const {
    const int operand = node(i).a;
    if (node(i).op != Op::kSlice) {
      clear_between(adjoint(operand), plan(operand).adjoint, plan(i).adjoint);
    }
  }

  // Clears the entries of `all` that are not in `there`.
  static void clear_between(Lane* entries, Interval all, Interval there) {
    there = common_part(all, there);
    if (there.is_empty()) there = {all.end, all.end};
    clear(entries + all.begin * kEntry, there.begin - all.begin);
    clear(entries + there.end * kEntry, all.end - there.end);
  }

  void forward(int i, Interval out) {
    const Node& n = node(i);
    Lane* const y = tangent(i);
    const Interval a = n.a >= 0 ? plan(n.a).tangent : Interval{};
    switch (n.op) {
      case Op::kMatmul:
        return forward_product(i);
      case Op::kSoftmaxRows:
        return forward_softmax(i, rows_of(out, static_cast<int>(n.cols)));
      case Op::kStandardizeRows:
        return forward_standardize(i, rows_of(out, static_cast<int>(n.cols)));
      case Op::kSquaredDistances:
        return forward_distances(i, out);
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kScale:
      case Op::kElementary:
      case Op::kHadamard:
      case Op::kDivide:
        return forward_function(i, out);
      case Op::kSlice:
      case Op::kEmbed:
      case Op::kGather:
        return forward_moves(i, out);
      default:
        break;
    }
    clear(y + out.begin * kEntry, out.end - out.begin);
    switch (n.op) {
      case Op::kLogSumExpRows:
      case Op::kCrossEntropyRows: {
        const auto cols = static_cast<int>(node(n.a).cols);
        const auto all = static_cast<int>(node(n.a).size());
        const Lane* c = coefficient(i);  // p, variance, scale, slope
        if (n.op == Op::kCrossEntropyRows) c += (2 * all + static_cast<int>(n.rows)) * kParts;
        for (int e = a.begin; e < a.end; ++e) {
          add_scaled(y + e / cols * kEntry, tangent(n.a) + e * kEntry, c[e * kParts]);
        }
        break;
      }
      case Op::kSum:
        for (int e = a.begin; e < a.end; ++e) add(y, tangent(n.a) + e * kEntry);
        break;
      case Op::kSumRows:
      case Op::kMaxRows: {
        const auto cols = static_cast<int>(node(n.a).cols);
        for (int e = a.begin; e < a.end; ++e) {
          if (n.op == Op::kSumRows) {
            add(y + e / cols * kEntry, tangent(n.a) + e * kEntry);
          } else {
            add_chosen(
                y + e / cols * kEntry, tangent(n.a) + e * kEntry, coefficient(i)[e * kParts], true);
          }
        }
        break;
      }
      case Op::kSelect: {
        const Lane* c = coefficient(i);
        for (const int o : {n.a, n.b}) {
          if (!has_tangent(o)) continue;
          for_spread(i, o, out, plan(o).tangent, [&](int e, int from) {
            add_chosen(y + e * kEntry, tangent(o) + from * kEntry, c[e * kParts], o == n.a);
          });
        }
        break;
      }
      default:
        break;
    }
  }

  // Calls visit(e, operand, entry) for entries of a node that moves entries, with the place that
  // they come from: entry `entry` of a for operand 0 and of b for 1; -1 for a zero.
  template <typename F>
  void for_moved(int i, Interval entries, F visit) const {
    const Node& n = node(i);
    const auto cols = static_cast<int>(n.cols);
    const auto rows = static_cast<int>(n.row);
    const auto first_col = static_cast<int>(n.col);
    const Node& a = node(n.a);
    const auto a_rows = static_cast<int>(a.rows);
    const auto a_cols = static_cast<int>(a.cols);
    if (n.op == Op::kGather) {
      const std::int32_t* const from = s_.indices.data() + n.offset;
      const int a_size = a_rows * a_cols;
      for (int e = entries.begin; e < entries.end; ++e) {
        const bool is_b = from[e] >= a_size;
        visit(e, from[e] < 0 ? -1 : int{is_b}, is_b ? from[e] - a_size : from[e]);
      }
      return;
    }
    const bool is_slice = n.op == Op::kSlice;
    for (int e = entries.begin; e < entries.end;) {
      const int row = is_slice ? e / cols + rows : e / cols - rows;
      const int end = std::min((e / cols + 1) * cols, entries.end);
      for (int col = is_slice ? e % cols + first_col : e % cols - first_col; e < end; ++e, ++col) {
        const bool is_there = row >= 0 && row < a_rows && col >= 0 && col < a_cols;
        visit(e, is_there ? 0 : -1, row * a_cols + col);
      }
    }
  }

  void forward_moves(int i, Interval out) const {
    Lane* const y = tangent(i);
    const Lane* x[2] = {};
    Interval live[2];
    for (const int k : {0, 1}) {
      const int operand = k == 0 ? node(i).a : node(i).b;
      if (!has_tangent(operand)) continue;
      x[k] = tangent(operand);
      live[k] = plan(operand).tangent;
    }
    for_moved(i, out, [&](int e, int operand, int entry) {
      if (operand >= 0 && is_in(live[operand], entry)) {
        assign(y + e * kEntry, x[operand] + entry * kEntry);
      } else {
        clear_entry(y + e * kEntry);
      }
    });
  }

  void reverse_moves(int i, Interval bars) const {
    const Lane* const y = adjoint(i);
    Lane* x[2] = {};
    for (const int k : {0, 1}) {
      const int operand = k == 0 ? node(i).a : node(i).b;
      if (bars.is_empty() || !has_adjoint(operand)) continue;
      prepare_to_add(operand);
      x[k] = adjoint(operand);
    }
    for_moved(i, bars, [&](int e, int operand, int entry) {
      if (operand >= 0 && x[operand] != nullptr) {
        add(x[operand] + entry * kEntry, y + e * kEntry);
      }
    });
  }

  void reverse(int i) {
    const Node& n = node(i);
    if (kept(i).is_part) {  // and therefore already there
      complete_adjoint(i);
      s_.is_begun[kept(n.a).root] = 1;
      return;
    }
    const Interval bars = plan(i).adjoint;
    switch (n.op) {
      case Op::kMatmul:
        return reverse_product(i);
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kScale:
      case Op::kElementary:
      case Op::kHadamard:
      case Op::kDivide:
        return reverse_function(i);
      case Op::kSoftmaxRows:
        return reverse_softmax(i);
      case Op::kStandardizeRows:
        return reverse_standardize(i);
      case Op::kLogSumExpRows:
      case Op::kCrossEntropyRows:
        return reverse_log_sum(i);
      case Op::kSquaredDistances:
        return reverse_distances(i);
      case Op::kSum:
      case Op::kSumRows: {
        if (bars.is_empty() || !has_adjoint(n.a)) return;
        const auto cols = static_cast<int>(node(n.a).size() / n.size());
        const Interval to{bars.begin * cols, bars.end * cols};
        const bool assigns = is_to_assign(n.a, to);
        for (int e = to.begin; e < to.end; ++e) {
          Lane* const x = adjoint(n.a) + e * kEntry;
          const Lane* const y = adjoint(i) + e / cols * kEntry;
          if (assigns) {
            assign(x, y);
          } else {
            add(x, y);
          }
        }
        return;
      }
      case Op::kMaxRows: {
        if (bars.is_empty() || !has_adjoint(n.a)) return;
        prepare_to_add(n.a);
        const auto cols = static_cast<int>(node(n.a).cols);
        for (int e = bars.begin * cols; e < bars.end * cols; ++e) {
          add_chosen(adjoint(n.a) + e * kEntry,
                     adjoint(i) + e / cols * kEntry,
                     coefficient(i)[e * kParts],
                     true);
        }
        return;
      }
      case Op::kSlice:
      case Op::kEmbed:
      case Op::kGather:
        return reverse_moves(i, bars);
      case Op::kSelect: {
        const Lane* c = coefficient(i);
        for (const int o : {n.a, n.b}) {
          if (bars.is_empty() || !has_adjoint(o)) continue;
          prepare_to_add(o);
          for (int e = bars.begin; e < bars.end; ++e) {
            add_chosen(adjoint(o) + spread(i, o, e) * kEntry,
                       adjoint(i) + e * kEntry,
                       c[e * kParts],
                       o == n.a);
          }
        }
        return;
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
    .lanes = kLanes,
    .point_sweep = point_sweep,
    .sweep = [](const TangentSweep& sweep) { Sweeper(sweep).run(); },
    .multiply = multiply,
    .add_sums = add_sums,
    .add_dots = add_dots,
};

}  // namespace

const detail::TangentKernels& tangent_kernels() { return kKernels; }

}  // namespace hesscope::HESSCOPE_ISA
