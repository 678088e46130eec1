// SPDX-License-Identifier: BSD-3-Clause
//
// A kernel source: compiled once for each instruction set (cmake/HesscopeKernels.cmake).
#include <hesscope/simd/internal/lane.h>
#include <hesscope/structured/internal/graph/point_sweep.h>
#include <hesscope/structured/internal/graph/tangent_sweep.h>

namespace hesscope::HESSCOPE_ISA {

const detail::TangentKernels& tangent_kernels();

namespace {

using detail::Interval;
using detail::kDirections;
using detail::kPackSamples;
using detail::kPanelRows;
using detail::SweepNode;
using detail::TangentSweep;
using Node = Graph::Node;
using Op = Graph::Op;

constexpr int kParts = kPackSamples / kLanes;  // registers of a pack
constexpr int kEntry = kDirections * kParts;   // registers of an entry's tangents

#if HESSCOPE_LANES == 8
constexpr InstructionSet kSet = InstructionSet::kAvx512;
#elif HESSCOPE_LANES == 4
constexpr InstructionSet kSet = InstructionSet::kAvx2;
#else
constexpr InstructionSet kSet = InstructionSet::kBaseline;
#endif

using Mask [[gnu::vector_size(8 * HESSCOPE_LANES)]] = long long;

// ---------------------------------------------------------------------------------------------------
// One entry: y += c x over directions, c a pack, a number or absent.

[[gnu::always_inline]] inline void add_scaled(Lane* y, const Lane* x, const Lane* c) {
  for (int part = 0; part < kParts; ++part) {
    const Lane factor = c[part];
    for (int d = part; d < kEntry; d += kParts) y[d] += factor * x[d];
  }
}

[[gnu::always_inline]] inline void assign_scaled(Lane* y, const Lane* x, const Lane* c) {
  for (int part = 0; part < kParts; ++part) {
    const Lane factor = c[part];
    for (int d = part; d < kEntry; d += kParts) y[d] = factor * x[d];
  }
}

[[gnu::always_inline]] inline void subtract_scaled(Lane* y, const Lane* x, const Lane* c) {
  for (int part = 0; part < kParts; ++part) {
    const Lane factor = c[part];
    for (int d = part; d < kEntry; d += kParts) y[d] -= factor * x[d];
  }
}

[[gnu::always_inline]] inline void add(Lane* y, const Lane* x) {
  for (int d = 0; d < kEntry; ++d) y[d] += x[d];
}

[[gnu::always_inline]] inline void add_times(Lane* y, const Lane* x, double factor) {
  for (int d = 0; d < kEntry; ++d) y[d] += factor * x[d];
}

// y += x where the mask is not 0.
[[gnu::always_inline]] inline void add_where(Lane* y,
                                             const Lane* x,
                                             const Lane* mask,
                                             bool is_wanted) {
  const Lane zero = {};
  for (int part = 0; part < kParts; ++part) {
    const Mask wanted = is_wanted ? mask[part] != zero : mask[part] == zero;
    for (int d = part; d < kEntry; d += kParts) y[d] += wanted ? x[d] : zero;
  }
}

void clear(Lane* y, int num_entries) {
  for (int d = 0; d < num_entries * kEntry; ++d) y[d] = Lane{};
}

// ---------------------------------------------------------------------------------------------------
// out[p, q] += sum_r plain[p, r] tangent[r, q], entries of which have all directions. Strides count
// entries.

template <typename T>
struct Plain {
  const T* data;  // doubles, or packs
  int p_stride;
  int r_stride;
};

struct Entries {
  Lane* data;
  int first_stride;
  int second_stride;
};

template <typename T>
void add_product(Entries out, Plain<T> plain, Entries tangent, int p_size, int r_size, int q_size) {
  constexpr int kPlain = sizeof(T) == sizeof(double) ? 1 : kParts;
  const bool is_run = out.second_stride == 1 && tangent.second_stride == 1;
  const int num_runs = is_run ? 1 : q_size;
  const int run = is_run ? q_size * kDirections : kDirections;
  for (int q = 0; q < num_runs; ++q) {
    for (int part = 0; part < kParts; ++part) {
      product<Store::kAdd>(
          Strided<Lane>{
              out.data + q * out.second_stride * kEntry + part, out.first_stride * kEntry, kParts},
          Strided<const T>{plain.data + (kPlain == 1 ? 0 : part),
                           plain.p_stride * kPlain,
                           plain.r_stride * kPlain},
          Strided<const Lane>{tangent.data + q * tangent.second_stride * kEntry + part,
                              tangent.first_stride * kEntry,
                              kParts},
          p_size,
          r_size,
          run);
    }
  }
}

// ---------------------------------------------------------------------------------------------------

class Sweeper {
 public:
  explicit Sweeper(const TangentSweep& s) : s_(s), num_nodes_(static_cast<int>(s.nodes.size())) {}

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
  // op(operand) of one product of a stack, or its result.
  struct Matrix {
    int rows;
    int cols;
    int row_stride;  // in entries
    int col_stride;
    int first;           // entry
    Interval live_rows;  // outside of which it is zero
    Interval live_cols;

    bool is_zero() const { return live_rows.is_empty() || live_cols.is_empty(); }
  };

  const SweepNode& kept(int i) const { return s_.nodes[static_cast<std::size_t>(i)]; }

  const Node& node(int i) const { return *kept(i).node; }

  const detail::NodeSweep& plan(int i) const { return s_.plan[static_cast<std::size_t>(i)]; }

  Lane* tangent(int i) const { return lanes(s_.tangents) + long{kept(i).tangent} * kEntry; }

  Lane* adjoint(int i) const { return lanes(s_.adjoints) + long{kept(i).tangent} * kEntry; }

  const Lane* value(int i) const { return lanes(s_.point.values) + long{kept(i).value} * kParts; }

  const Lane* bar(int i) const { return lanes(s_.point.adjoints) + long{kept(i).adjoint} * kParts; }

  const Lane* coefficient(int i) const {
    return lanes(s_.point.coefficients) + long{kept(i).coefficient} * kParts;
  }

  bool has_tangent(int i) const { return i >= 0 && !plan(i).tangent.is_empty(); }

  bool has_adjoint(int i) const { return i >= 0 && !plan(i).adjoint.is_empty(); }

  static Interval common_part(Interval a, Interval b) {
    return {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
  }

  static Interval rows_of(Interval entries, int cols) {
    return {entries.begin / cols, (entries.end + cols - 1) / cols};
  }

  void set(const detail::Seed& seed) {
    Lane* y = tangent(seed.node) + seed.tangent * kEntry + seed.direction * kParts;
    for (int part = 0; part < kParts; ++part) {
      const Lane x =
          seed.x < 0 ? Lane{} + 1.0 : lanes(s_.point.values)[long{seed.x} * kParts + part];
      y[part] += seed.factor * x;
    }
  }

  // visit(entry, entry of the operand) for the entries of node i in `out` whose operand, one row or
  // column or number of which may stand for all, is in `live`.
  template <typename F>
  void for_spread(int i, int operand, Interval out, Interval live, F visit) const {
    const Node& n = node(i);
    const Node& o = node(operand);
    if (o.rows == n.rows && o.cols == n.cols) {
      const Interval both = common_part(out, live);
      for (int e = both.begin; e < both.end; ++e) visit(e, e);
      return;
    }
    const auto cols = static_cast<int>(n.cols);
    const int row_step = o.rows == 1 ? 0 : static_cast<int>(o.cols);
    const int col_step = o.cols == 1 ? 0 : 1;
    for (int e = out.begin; e < out.end; ++e) {
      const int from = e / cols * row_step + e % cols * col_step;
      if (from >= live.begin && from < live.end) visit(e, from);
    }
  }

  // Entry of an operand that entry e of node i takes.
  int spread(int i, int operand, int e) const {
    const Node& n = node(i);
    const Node& o = node(operand);
    const auto cols = static_cast<int>(n.cols);
    return (o.rows == 1 ? 0 : e / cols * static_cast<int>(o.cols)) + (o.cols == 1 ? 0 : e % cols);
  }

  static Interval rows_in(Interval entries, int first, int rows, int cols) {
    const Interval own =
        common_part({entries.begin - first, entries.end - first}, {0, rows * cols});
    return own.is_empty() ? Interval{} : rows_of(own, cols);
  }

  Interval all_of(int i) const { return {0, static_cast<int>(node(i).size())}; }

  // Of product k of node i; `entries` of the operand may differ from 0.
  Matrix operand_matrix(int i, bool is_left, int k, Interval entries) const {
    const Node& n = node(i);
    const Node& o = node(is_left ? n.a : n.b);
    const bool is_shared = is_left ? n.is_shared_a : n.is_shared_b;
    const auto rows = static_cast<int>(is_shared ? o.rows : o.rows / n.stack);
    const auto cols = static_cast<int>(o.cols);
    const int first = is_shared ? 0 : k * rows * cols;
    const Interval live = rows_in(entries, first, rows, cols);
    if (is_left ? n.transpose_a : n.transpose_b) {
      return {cols, rows, 1, cols, first, {0, cols}, live};
    }
    return {rows, cols, cols, 1, first, live, {0, cols}};
  }

  Matrix left(int i, int k) const { return operand_matrix(i, true, k, all_of(node(i).a)); }

  Matrix right(int i, int k) const { return operand_matrix(i, false, k, all_of(node(i).b)); }

  Matrix left_tangent(int i, int k) const {
    return operand_matrix(i, true, k, plan(node(i).a).tangent);
  }

  Matrix right_tangent(int i, int k) const {
    return operand_matrix(i, false, k, plan(node(i).b).tangent);
  }

  Matrix result(int i, int k, Interval entries) const {
    const Node& n = node(i);
    const auto rows = static_cast<int>(n.rows / n.stack);
    const auto cols = static_cast<int>(n.cols);
    const int first = k * rows * cols;
    return {rows, cols, cols, 1, first, rows_in(entries, first, rows, cols), {0, cols}};
  }

  static Entries entries(Lane* base, const Matrix& m, int row, int col) {
    return {base + (m.first + row * m.row_stride + col * m.col_stride) * kEntry,
            m.row_stride,
            m.col_stride};
  }

  static Entries transposed(Entries e) { return {e.data, e.second_stride, e.first_stride}; }

  static int size(Interval range) { return range.end - range.begin; }

  // out += M tangent for rows p and columns r of M, the plain matrix of an operand, or its transpose.
  void add_plain_product(Entries out,
                         int operand,
                         const Matrix& m,
                         bool is_transposed,
                         Interval p,
                         Interval r,
                         Entries tangent,
                         int q_size) const {
    const int p_stride = is_transposed ? m.col_stride : m.row_stride;
    const int r_stride = is_transposed ? m.row_stride : m.col_stride;
    const int first = m.first + p.begin * p_stride + r.begin * r_stride;
    if (kept(operand).is_common) {
      const Plain<double> plain{kept(operand).common + first, p_stride, r_stride};
      add_product(out, plain, tangent, size(p), size(r), q_size);
    } else {
      const Plain<Lane> plain{value(operand) + first * kParts, p_stride, r_stride};
      add_product(out, plain, tangent, size(p), size(r), q_size);
    }
  }

  // dC = A dB + dA B
  void forward_product(int i) {
    const Node& n = node(i);
    const Interval out = plan(i).tangent;
    clear(tangent(i) + out.begin * kEntry, size(out));
    for (int k = 0; k < static_cast<int>(n.stack); ++k) {
      const Matrix c = result(i, k, out);
      if (has_tangent(n.b)) {
        const Matrix db = right_tangent(i, k);
        if (!db.is_zero()) {
          add_plain_product(entries(tangent(i), c, 0, db.live_cols.begin),
                            n.a,
                            left(i, k),
                            false,
                            {0, c.rows},
                            db.live_rows,
                            entries(tangent(n.b), db, db.live_rows.begin, db.live_cols.begin),
                            size(db.live_cols));
        }
      }
      if (!has_tangent(n.a)) continue;
      const Matrix da = left_tangent(i, k);
      if (da.is_zero()) continue;
      for (int row = da.live_rows.begin; row < da.live_rows.end; ++row) {  // each as B^T dA^T
        add_plain_product(transposed(entries(tangent(i), c, row, 0)),
                          n.b,
                          right(i, k),
                          true,
                          {0, c.cols},
                          da.live_cols,
                          transposed(entries(tangent(n.a), da, row, da.live_cols.begin)),
                          1);
      }
    }
  }

  // dAbar += dCbar B^T + Cbar dB^T, dBbar += A^T dCbar + dA^T Cbar
  void reverse_product(int i) {
    const Node& n = node(i);
    for (int k = 0; k < static_cast<int>(n.stack); ++k) {
      const Matrix dc = result(i, k, plan(i).adjoint);
      const Matrix c = result(i, k, all_of(i));
      const Lane* const c_bar = bar(i) + c.first * kParts;
      const Matrix a = left(i, k);
      const Matrix b = right(i, k);
      if (has_adjoint(n.a)) {
        for (int row = dc.live_rows.begin; row < dc.live_rows.end; ++row) {  // each as B dCbar^T
          add_plain_product(transposed(entries(adjoint(n.a), a, row, 0)),
                            n.b,
                            b,
                            false,
                            {0, b.rows},
                            {0, b.cols},
                            transposed(entries(adjoint(i), dc, row, 0)),
                            1);
        }
        if (has_tangent(n.b)) {
          const Matrix db = right_tangent(i, k);
          if (!db.is_zero()) {
            const Plain<Lane> plain{c_bar + db.live_cols.begin * kParts, c.cols, 1};
            add_product(
                entries(adjoint(n.a), a, 0, db.live_rows.begin),
                plain,
                transposed(entries(tangent(n.b), db, db.live_rows.begin, db.live_cols.begin)),
                c.rows,
                size(db.live_cols),
                size(db.live_rows));
          }
        }
      }
      if (!has_adjoint(n.b)) continue;
      if (!dc.is_zero()) {
        add_plain_product(entries(adjoint(n.b), b, 0, 0),
                          n.a,
                          a,
                          true,
                          {0, a.cols},
                          dc.live_rows,
                          entries(adjoint(i), dc, dc.live_rows.begin, 0),
                          c.cols);
      }
      if (!has_tangent(n.a)) continue;
      const Matrix da = left_tangent(i, k);
      if (da.is_zero()) continue;  // the product as that of Cbar^T and dA
      add_product(transposed(entries(adjoint(n.b), b, da.live_cols.begin, 0)),
                  Plain<Lane>{c_bar + da.live_rows.begin * c.cols * kParts, 1, c.cols},
                  entries(tangent(n.a), da, da.live_rows.begin, da.live_cols.begin),
                  c.cols,
                  size(da.live_rows),
                  size(da.live_cols));
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

  // dp_j = p_j (dx_j - sum_k p_k dx_k)
  void forward_softmax(int i, Interval rows) {
    const auto cols = static_cast<int>(node(i).cols);
    const Interval live = plan(node(i).a).tangent;
    for (int r = rows.begin; r < rows.end; ++r) {
      Lane inner[kEntry] = {};
      const Interval own = common_part(live, {r * cols, (r + 1) * cols});
      for (int e = own.begin; e < own.end; ++e) {
        add_scaled(inner, tangent(node(i).a) + e * kEntry, value(i) + e * kParts);
      }
      for (int e = r * cols; e < (r + 1) * cols; ++e) {
        Lane difference[kEntry];
        const bool is_live = e >= live.begin && e < live.end;
        const Lane* x = tangent(node(i).a) + e * kEntry;
        for (int d = 0; d < kEntry; ++d) difference[d] = is_live ? x[d] - inner[d] : -inner[d];
        assign_scaled(tangent(i) + e * kEntry, difference, value(i) + e * kParts);
      }
    }
  }

  // dxbar_j += dp_j (ybar_j - sum_k p_k ybar_k) + p_j (dybar_j - sum_k (dp_k ybar_k + p_k dybar_k))
  void reverse_softmax(int i) {
    const int a = node(i).a;
    if (!has_adjoint(a)) return;
    const auto cols = static_cast<int>(node(i).cols);
    const Interval bars = plan(i).adjoint;
    const Interval live = plan(i).tangent;
    const Lane* const p = value(i);
    for (int r = 0; r < static_cast<int>(node(i).rows); ++r) {
      const Interval row{r * cols, (r + 1) * cols};
      const Interval of_bar = common_part(bars, row);
      const Interval of_tangent = common_part(live, row);
      if (of_bar.is_empty() && of_tangent.is_empty()) continue;
      Lane inner[kEntry] = {};
      for (int e = of_bar.begin; e < of_bar.end; ++e) {
        add_scaled(inner, adjoint(i) + e * kEntry, p + e * kParts);
      }
      for (int e = of_tangent.begin; e < of_tangent.end; ++e) {
        add_scaled(inner, tangent(i) + e * kEntry, bar(i) + e * kParts);
        add_scaled(adjoint(a) + e * kEntry, tangent(i) + e * kEntry, coefficient(i) + e * kParts);
      }
      for (int e = of_bar.begin; e < of_bar.end; ++e) {
        add_scaled(adjoint(a) + e * kEntry, adjoint(i) + e * kEntry, p + e * kParts);
      }
      for (int e = row.begin; e < row.end; ++e) {
        subtract_scaled(adjoint(a) + e * kEntry, inner, p + e * kParts);
      }
    }
  }

  // TapePointSweep::set_row_coefficients(). Sums over k < j and k > j are added apart, so that nothing
  // is taken off again.
  void reverse_log_sum(int i) {
    const Node& n = node(i);
    if (!has_adjoint(n.a)) return;
    const auto cols = static_cast<int>(node(n.a).cols);
    const auto all = static_cast<int>(node(n.a).size());
    const Lane* const p = coefficient(i);
    const Lane* const variance = p + all * kParts;
    const Lane* const scale = variance + all * kParts;
    const Lane* const slope =
        n.op == Op::kCrossEntropyRows ? scale + static_cast<int>(n.rows) * kParts : p;
    const Interval bars = plan(i).adjoint;
    for (int e = bars.begin * cols; e < bars.end * cols; ++e) {
      add_scaled(adjoint(n.a) + e * kEntry, adjoint(i) + e / cols * kEntry, slope + e * kParts);
    }
    const Interval live = plan(n.a).tangent;
    if (live.is_empty()) return;
    const Interval rows = rows_of(live, cols);
    for (int r = rows.begin; r < rows.end; ++r) {
      const Interval own = common_part(live, {r * cols, (r + 1) * cols});
      Lane before[kEntry] = {};
      Lane after[kEntry] = {};
      const auto step = [&](int e, Lane* others, bool is_first) {
        Lane change[kEntry] = {};
        subtract_scaled(change, others, p + e * kParts);
        if (e >= own.begin && e < own.end) {
          const Lane* const x = tangent(n.a) + e * kEntry;
          if (is_first) add_scaled(change, x, variance + e * kParts);
          add_scaled(others, x, p + e * kParts);
        }
        add_scaled(adjoint(n.a) + e * kEntry, change, scale + r * kParts);
      };
      for (int e = r * cols; e < (r + 1) * cols; ++e) step(e, before, true);
      for (int e = (r + 1) * cols; e-- > r * cols;) step(e, after, false);
    }
  }

  // visit(e, entry of a, entry of b) for D_e = sum_c (a_ic - b_jc)^2 and each c.
  template <typename F>
  void for_differences(int i, Interval out, F visit) const {
    const Node& n = node(i);
    const auto cols = static_cast<int>(n.cols);
    const auto size = static_cast<int>(node(n.a).cols);
    for (int e = out.begin; e < out.end; ++e) {
      for (int c = 0; c < size; ++c) visit(e, e / cols * size + c, e % cols * size + c);
    }
  }

  // da_ic - db_jc, where they are.
  void tangent_difference(int i, int x, int y, Lane* difference) const {
    const Node& n = node(i);
    const auto is_in = [](Interval live, int e) { return e >= live.begin && e < live.end; };
    const bool has_x = is_in(plan(n.a).tangent, x);
    const bool has_y = is_in(plan(n.b).tangent, y);
    for (int d = 0; d < kEntry; ++d) difference[d] = has_x ? tangent(n.a)[x * kEntry + d] : Lane{};
    if (!has_y) return;
    for (int d = 0; d < kEntry; ++d) difference[d] -= tangent(n.b)[y * kEntry + d];
  }

  void value_difference(int i, int x, int y, Lane* twice) const {
    for (int part = 0; part < kParts; ++part) {
      twice[part] =
          2.0 * (value(node(i).a)[x * kParts + part] - value(node(i).b)[y * kParts + part]);
    }
  }

  void forward_distances(int i, Interval out) {
    for_differences(i, out, [&](int e, int x, int y) {
      Lane twice[kParts];
      Lane difference[kEntry];
      value_difference(i, x, y, twice);
      tangent_difference(i, x, y, difference);
      add_scaled(tangent(i) + e * kEntry, difference, twice);
    });
  }

  // dabar_ic += 2 (dDbar_ij (a_ic - b_jc) + Dbar_ij (da_ic - db_jc)), dbbar_jc the same with a minus
  void reverse_distances(int i) {
    const Node& n = node(i);
    const Interval bars = plan(i).adjoint;
    const bool has_tangents = has_tangent(n.a) || has_tangent(n.b);
    for_differences(i, {0, static_cast<int>(n.size())}, [&](int e, int x, int y) {
      const bool has_bar = e >= bars.begin && e < bars.end;
      if (!has_bar && !has_tangents) return;
      Lane change[kEntry] = {};
      if (has_bar) {
        Lane twice[kParts];
        value_difference(i, x, y, twice);
        add_scaled(change, adjoint(i) + e * kEntry, twice);
      }
      if (has_tangents) {
        Lane difference[kEntry];
        tangent_difference(i, x, y, difference);
        for (int d = 0; d < kEntry; ++d) difference[d] *= 2.0;
        add_scaled(change, difference, bar(i) + e * kParts);
      }
      if (has_adjoint(n.a)) add(adjoint(n.a) + x * kEntry, change);
      if (has_adjoint(n.b)) add_times(adjoint(n.b) + y * kEntry, change, -1);
    });
  }

  const TangentSweep& s_;
  int num_nodes_;
};

// ---------------------------------------------------------------------------------------------------

// a(i, 0) b(0, j), and once more of a second term, for kCols columns from j on.
template <int kTerms, int kCols>
void outer_products(const detail::RowProduct& m, int i, int j) {
  const Lane* a[kTerms];
  const Lane* b[kTerms][kCols];
  Lane* out[kCols];
  for (int t = 0; t < kTerms; ++t) {
    a[t] = lanes(m.terms[t].a.data + i * m.terms[t].a.first_stride);
    for (int c = 0; c < kCols; ++c) {
      b[t][c] = lanes(m.terms[t].b.data + (j + c) * m.terms[t].b.second_stride);
    }
  }
  for (int c = 0; c < kCols; ++c) {
    out[c] = lanes(m.out + i * m.out_first_stride + (j + c) * m.out_second_stride);
  }
  const long step = m.out_pack_stride / kLanes;
  for (int p = 0; p < m.num_packs; ++p) {
    for (int part = 0; part < kParts; ++part) {
      const int from = p * kParts + part;
      for (int c = 0; c < kCols; ++c) {
        Lane sum = a[0][from] * b[0][c][from];
        if constexpr (kTerms > 1) sum += a[1][from] * b[1][c][from];
        out[c][p * step + part] = sum;
      }
    }
  }
}

template <int kTerms>
void outer_products(const detail::RowProduct& m) {
  for (int i = 0; i < m.rows; ++i) {
    int j = 0;
    for (; j + kPanelRows <= m.cols; j += kPanelRows) outer_products<kTerms, kPanelRows>(m, i, j);
    for (; j < m.cols; ++j) outer_products<kTerms, 1>(m, i, j);
  }
}

template <Store kStore>
void multiply_rows(const detail::RowProduct& m, const detail::RowTerm& term) {
  const auto lane = [](long doubles) { return static_cast<int>(doubles / kLanes); };
  for (int p = 0; p < m.num_packs; ++p) {
    for (int part = 0; part < kParts; ++part) {
      product<kStore>(Strided<Lane>{lanes(m.out + p * m.out_pack_stride) + part,
                                    lane(m.out_first_stride),
                                    lane(m.out_second_stride)},
                      Strided<const Lane>{lanes(term.a.data + p * kPackSamples) + part,
                                          lane(term.a.first_stride),
                                          lane(term.a.second_stride)},
                      Strided<const Lane>{lanes(term.b.data + p * kPackSamples) + part,
                                          lane(term.b.first_stride),
                                          lane(term.b.second_stride)},
                      m.rows,
                      term.inner,
                      m.cols);
    }
  }
}

void multiply(const detail::RowProduct& m) {
  const bool is_outer = m.terms[0].inner == 1 && (m.num_terms == 1 || m.terms[1].inner == 1);
  if (is_outer) return m.num_terms == 1 ? outer_products<1>(m) : outer_products<2>(m);
  multiply_rows<Store::kAssign>(m, m.terms[0]);
  if (m.num_terms > 1) multiply_rows<Store::kAdd>(m, m.terms[1]);
}

std::unique_ptr<detail::PointSweep> point_sweep(const Graph& graph,
                                                const detail::PointLayout& layout) {
  return std::make_unique<detail::TapePointSweep<kSet>>(graph, layout);
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
