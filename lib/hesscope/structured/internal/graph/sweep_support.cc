// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/autodiff/internal/moved_entries.h>
#include <hesscope/autodiff/internal/product_entries.h>
#include <hesscope/structured/internal/graph/sweep_support.h>

namespace hesscope::detail {
namespace {

using Op = Graph::Op;

}  // namespace

void SweepSupport::forward(int i, EntryMarks& tangents) const {
  const Graph::Node& n = nodes_[at(i)];
  if (n.a < 0) return;
  Marks* const out = tangents.data() + entries_.first(i);
  const Marks* const a = marks_of(tangents, n.a);
  const int size = size_of(n);
  const auto cols = static_cast<int>(n.cols);
  const auto a_cols = static_cast<int>(nodes_[at(n.a)].cols);
  switch (n.op) {
    case Op::kSoftmaxRows:
    case Op::kStandardizeRows:
      for (int row = 0; row < size; row += cols) {
        std::fill_n(out + row, cols, any_of(a + row, cols));
      }
      break;
    case Op::kLogSumExpRows:
    case Op::kCrossEntropyRows:
    case Op::kSumRows:
    case Op::kMaxRows:
      for (int row = 0; row < size; ++row) out[row] = any_of(a + long{row} * a_cols, a_cols);
      break;
    case Op::kSum:
      out[0] = any_of_node(tangents, n.a);
      break;
    case Op::kSquaredDistances: {
      const Marks all = any_of_node(tangents, n.b);
      for (int row = 0; row < static_cast<int>(n.rows); ++row) {
        std::fill_n(out + long{row} * cols, cols, all | any_of(a + long{row} * a_cols, a_cols));
      }
      break;
    }
    case Op::kMatmul:
      forward_product(i, tangents, out);
      break;
    case Op::kSlice:
    case Op::kEmbed:
    case Op::kGather:
      for_moved(nodes_, graph_.indices, i, [&](int e, MovedEntry from) {
        out[e] = from.node < 0 ? 0 : marks_of(tangents, from.node)[from.entry];
      });
      break;
    default:
      if (!is_elementwise(n.op)) return;
      for (const int operand : {n.a, n.b}) {
        if (operand < 0) continue;
        const Marks* const from = marks_of(tangents, operand);
        for_spread(n, nodes_[at(operand)], [&](int e, int entry) { out[e] |= from[entry]; });
      }
  }
  if (!graph_.idle.has_any(i)) return;
  for (int e = 0; e < size; ++e) out[e] = graph_.idle.is_idle(i, e) ? 0 : out[e];
}

// dC = A dB + dA B
void SweepSupport::forward_product(int i, const EntryMarks& tangents, Marks* out) const {
  const Graph::Node& n = nodes_[at(i)];
  const ProductEntries product(nodes_, i);
  const Marks* const a = marks_of(tangents, n.a);
  const Marks* const b = marks_of(tangents, n.b);
  const int rows = product.rows();
  const int cols = product.cols();
  const bool has_zeros = graph_.idle.has_zeros(n.a);
  const bool has_a = any_of_node(tangents, n.a) != 0;
  const bool has_b = any_of_node(tangents, n.b) != 0;
  std::vector<Marks> of_cols(at(cols));  // what a column of B contributes to that of C
  for (int k = 0; k < product.count(); ++k) {
    std::ranges::fill(of_cols, 0);
    for (int j = 0; has_b && j < product.inner(); ++j) {
      for (int c = 0; c < cols; ++c) {
        const Marks marks = b[product.right(k, j, c)];
        if (!has_zeros) of_cols[at(c)] |= marks;
        for (int row = 0; has_zeros && marks != 0 && row < rows; ++row) {
          if (!graph_.idle.is_zero(n.a, product.left(k, row, j))) {
            out[product.result(k, row, c)] |= marks;
          }
        }
      }
    }
    for (int row = 0; row < rows; ++row) {
      Marks of_row = 0;
      for (int j = 0; has_a && j < product.inner(); ++j) of_row |= a[product.left(k, row, j)];
      Marks* const to = out + product.result(k, row, 0);
      for (int c = 0; c < cols; ++c) to[c] |= of_row | of_cols[at(c)];
    }
  }
}

void SweepSupport::reverse(int i,
                           const EntryMarks& tangents,
                           std::span<const char> takes,
                           EntryMarks& adjoints) const {
  const Graph::Node& n = nodes_[at(i)];
  const Marks* const bar = marks_of(adjoints, i);
  const bool has_idle =
      (n.a >= 0 && graph_.idle.has_any(n.a)) || (n.b >= 0 && graph_.idle.has_any(n.b));
  const auto give = [&](int operand, int entry, Marks marks) {
    if (!takes[at(operand)] || (has_idle && graph_.idle.is_idle(operand, entry))) return;
    adjoints[at(entries_.first(operand) + entry)] |= marks;
  };
  switch (n.op) {
    case Op::kMatmul:
      return reverse_product(i, bar, tangents, takes, give);
    case Op::kSlice:
    case Op::kEmbed:
    case Op::kGather:
      return for_moved(nodes_, graph_.indices, i, [&](int e, MovedEntry from) {
        if (from.node >= 0) give(from.node, from.entry, bar[e]);
      });
    case Op::kLookup:
      return;
    case Op::kSum:
      for (int e = 0; e < size_of(nodes_[at(n.a)]); ++e) give(n.a, e, bar[0]);
      return;
    default:
      if (is_elementwise(n.op)) return reverse_elementwise(i, tangents, takes, adjoints);
      return reverse_rows(i, bar, tangents, give);
  }
}

// Processes all entries at once if operands have the shape of the node: planning spends most of its
// time here.
void SweepSupport::reverse_elementwise(int i,
                                       const EntryMarks& tangents,
                                       std::span<const char> takes,
                                       EntryMarks& adjoints) const {
  const Graph::Node& n = nodes_[at(i)];
  const auto give = [&](int operand, const Marks* marks) {
    if (operand < 0 || !takes[at(operand)]) return;
    const Graph::Node& o = nodes_[at(operand)];
    Marks* const to = adjoints.data() + entries_.first(operand);
    if (is_same_shape(n, o) && !graph_.idle.has_any(operand)) {
      for (int e = 0; e < size_of(n); ++e) to[e] |= marks[e];
      return;
    }
    for_spread(n, o, [&](int e, int entry) {
      if (!graph_.idle.is_idle(operand, entry)) to[entry] |= marks[e];
    });
  };
  const Marks* const bar = marks_of(adjoints, i);
  for (const int operand : {n.a, n.b}) give(operand, bar);
  // Tangents of one operand that reach the adjoint of another, or its own.
  const int operands[] = {n.a, n.b};
  std::vector<Marks> spread;
  for (const int other : {0, 1}) {
    if (operands[other] < 0) continue;
    const Graph::Node& o = nodes_[at(operands[other])];
    const Marks* marks = marks_of(tangents, operands[other]);
    if (!is_same_shape(n, o)) {
      spread.resize(at(size_of(n)));
      for_spread(n, o, [&](int e, int entry) { spread[at(e)] = marks[entry]; });
      marks = spread.data();
    }
    for (const int which : {0, 1}) {
      const bool bends = graph_.derivatives[at(i)].has[second_derivative(which, other)];
      if (bends) give(operands[which], marks);
    }
  }
}

template <typename Give>
void SweepSupport::reverse_rows(int i,
                                const Marks* bar,
                                const EntryMarks& tangents,
                                Give give) const {
  const Graph::Node& n = nodes_[at(i)];
  const Marks* const own = marks_of(tangents, i);
  const Marks* const a = marks_of(tangents, n.a);
  const auto rows = static_cast<int>(nodes_[at(n.a)].rows);
  const auto a_cols = static_cast<int>(nodes_[at(n.a)].cols);
  const int cols = size_of(n) / rows;
  const Marks of_b = n.b >= 0 ? any_of_node(tangents, n.b) : 0;
  Marks of_all = of_b;
  for (int row = 0; row < rows; ++row) {
    Marks of_row = any_of(bar + long{row} * cols, cols);
    switch (n.op) {
      case Op::kSoftmaxRows:
        of_row |= any_of(own + long{row} * cols, cols);
        break;
      case Op::kStandardizeRows:
      case Op::kLogSumExpRows:
      case Op::kCrossEntropyRows:
        of_row |= any_of(a + long{row} * a_cols, a_cols);
        break;
      case Op::kSquaredDistances:
        of_row |= of_b | any_of(a + long{row} * a_cols, a_cols);
        break;
      default:
        break;
    }
    of_all |= of_row;
    for (int c = 0; of_row != 0 && c < a_cols; ++c) give(n.a, row * a_cols + c, of_row);
  }
  if (n.op != Op::kSquaredDistances) return;
  for (int e = 0; e < size_of(nodes_[at(n.b)]); ++e) give(n.b, e, of_all);
}

// dAbar += dCbar B^T + Cbar dB^T, dBbar += A^T dCbar + dA^T Cbar
template <typename Give>
void SweepSupport::reverse_product(int i,
                                   const Marks* bar,
                                   const EntryMarks& tangents,
                                   std::span<const char> takes,
                                   Give give) const {
  const Graph::Node& n = nodes_[at(i)];
  const ProductEntries product(nodes_, i);
  const Marks* const a = marks_of(tangents, n.a);
  const Marks* const b = marks_of(tangents, n.b);
  const int rows = product.rows();
  const int inner = product.inner();
  const int cols = product.cols();
  const auto is_zero = [&](int k, int row, int j) {
    return graph_.idle.is_zero(n.a, product.left(k, row, j));
  };
  const auto is_idle = [&](int k, int row, int c) {
    return graph_.idle.is_idle(i, product.result(k, row, c));
  };
  const bool has_masks = graph_.idle.has_zeros(n.a) || graph_.idle.has_any(i);
  const bool has_a = any_of_node(tangents, n.a) != 0;
  const bool has_b = any_of_node(tangents, n.b) != 0;
  // What C contributes to rows of A and columns of B, and what columns of A and rows of B
  // contribute.
  std::vector<Marks> bar_of_row(at(rows));
  std::vector<Marks> bar_of_col(at(cols));
  std::vector<Marks> any_a(at(inner));
  std::vector<Marks> any_b(at(inner));
  for (int k = 0; k < product.count(); ++k) {
    std::ranges::fill(bar_of_col, 0);
    for (int row = 0; row < rows; ++row) {
      const Marks* const of_row = bar + product.result(k, row, 0);
      bar_of_row[at(row)] = any_of(of_row, cols);
      for (int c = 0; c < cols; ++c) bar_of_col[at(c)] |= of_row[c];
    }
    for (int j = 0; j < inner; ++j) {
      any_a[at(j)] = any_b[at(j)] = 0;
      for (int row = 0; has_a && row < rows; ++row) any_a[at(j)] |= a[product.left(k, row, j)];
      for (int c = 0; has_b && c < cols; ++c) any_b[at(j)] |= b[product.right(k, j, c)];
    }
    // Entry (row, j) of A is reached by dB through entries of C that are not idle.
    const auto of_b = [&](int row, int j) {
      if (!has_masks || any_b[at(j)] == 0) return any_b[at(j)];
      Marks marks = 0;
      for (int c = 0; c < cols; ++c) {
        if (!is_idle(k, row, c)) marks |= b[product.right(k, j, c)];
      }
      return marks;
    };
    // Entry (j, c) of B is reached by dCbar through entries of A that are not zero, and by dA
    // through entries of C that are not idle.
    const auto of_bars_and_a = [&](int j, int c) {
      const Marks most = bar_of_col[at(c)] | any_a[at(j)];
      if (!has_masks || most == 0) return most;
      Marks marks = 0;
      for (int row = 0; row < rows; ++row) {
        if (!is_zero(k, row, j)) marks |= bar[product.result(k, row, c)];
        if (!is_idle(k, row, c)) marks |= a[product.left(k, row, j)];
      }
      return marks;
    };
    for (int row = 0; takes[at(n.a)] && row < rows; ++row) {
      if (bar_of_row[at(row)] == 0 && !has_b) continue;
      for (int j = 0; j < inner; ++j) {
        give(n.a, product.left(k, row, j), bar_of_row[at(row)] | of_b(row, j));
      }
    }
    for (int j = 0; takes[at(n.b)] && j < inner; ++j) {
      for (int c = 0; c < cols; ++c) give(n.b, product.right(k, j, c), of_bars_and_a(j, c));
    }
  }
}

}  // namespace hesscope::detail
