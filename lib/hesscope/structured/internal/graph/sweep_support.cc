// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/autodiff/internal/moved_entries.h>
#include <hesscope/autodiff/internal/product_entries.h>
#include <hesscope/structured/internal/graph/sweep_support.h>

namespace hesscope::detail {
namespace {

using Op = Graph::Op;

bool is_any(const char* marks, int count) {
  return std::memchr(marks, 1, static_cast<std::size_t>(count)) != nullptr;
}

}  // namespace

void SweepSupport::forward(int i, EntryMarks& tangents) const {
  const Graph::Node& n = nodes_[at(i)];
  if (n.a < 0) return;
  char* const out = tangents.data() + entries_.first(i);
  const char* const a = marks_of(tangents, n.a);
  const int size = size_of(n);
  const auto cols = static_cast<int>(n.cols);
  const int a_size = size_of(nodes_[at(n.a)]);
  const auto a_cols = static_cast<int>(nodes_[at(n.a)].cols);
  switch (n.op) {
    case Op::kSoftmaxRows:
    case Op::kStandardizeRows:
      for (int row = 0; row < static_cast<int>(n.rows); ++row) {
        if (is_any(a + long{row} * cols, cols)) std::fill_n(out + long{row} * cols, cols, 1);
      }
      break;
    case Op::kLogSumExpRows:
    case Op::kCrossEntropyRows:
    case Op::kSumRows:
    case Op::kMaxRows:
      for (int row = 0; row < size; ++row) {
        out[row] = is_any(a + long{row} * a_cols, a_cols) ? 1 : 0;
      }
      break;
    case Op::kSum:
      out[0] = is_any(a, a_size) ? 1 : 0;
      break;
    case Op::kSquaredDistances: {
      const bool is_all = is_any(marks_of(tangents, n.b), size_of(nodes_[at(n.b)]));
      for (int row = 0; row < static_cast<int>(n.rows); ++row) {
        if (is_all || is_any(a + long{row} * a_cols, a_cols)) {
          std::fill_n(out + long{row} * cols, cols, 1);
        }
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
        const char* const from = marks_of(tangents, operand);
        for_spread(n, nodes_[at(operand)], [&](int e, int entry) { out[e] |= from[entry]; });
      }
  }
  if (!graph_.idle.has_any(i)) return;
  for (int e = 0; e < size; ++e) out[e] = graph_.idle.is_idle(i, e) ? 0 : out[e];
}

// dC = A dB + dA B
void SweepSupport::forward_product(int i, const EntryMarks& tangents, char* out) const {
  const Graph::Node& n = nodes_[at(i)];
  const ProductEntries product(nodes_, i);
  const char* const a = marks_of(tangents, n.a);
  const char* const b = marks_of(tangents, n.b);
  const int rows = product.rows();
  const int cols = product.cols();
  const bool has_zeros = graph_.idle.has_zeros(n.a);
  const bool has_a = is_any(a, size_of(nodes_[at(n.a)]));
  const bool has_b = is_any(b, size_of(nodes_[at(n.b)]));
  std::vector<char> is_taken(at(cols));
  for (int k = 0; k < product.count(); ++k) {
    std::ranges::fill(is_taken, 0);
    for (int j = 0; has_b && j < product.inner(); ++j) {
      for (int c = 0; c < cols; ++c) {
        if (b[product.right(k, j, c)] == 0) continue;
        is_taken[at(c)] = 1;
        for (int row = 0; has_zeros && row < rows; ++row) {
          if (!graph_.idle.is_zero(n.a, product.left(k, row, j))) {
            out[product.result(k, row, c)] = 1;
          }
        }
      }
    }
    for (int row = 0; row < rows; ++row) {
      bool is_live = false;
      for (int j = 0; has_a && !is_live && j < product.inner(); ++j) {
        is_live = a[product.left(k, row, j)] != 0;
      }
      for (int c = 0; c < cols; ++c) {
        if (is_live || (!has_zeros && is_taken[at(c)])) out[product.result(k, row, c)] = 1;
      }
    }
  }
}

void SweepSupport::reverse(int i,
                           const EntryMarks& tangents,
                           std::span<const char> takes,
                           EntryMarks& adjoints) const {
  const Graph::Node& n = nodes_[at(i)];
  const char* const bar = marks_of(adjoints, i);
  const bool has_idle =
      (n.a >= 0 && graph_.idle.has_any(n.a)) || (n.b >= 0 && graph_.idle.has_any(n.b));
  const auto give = [&](int operand, int entry) {
    if (!takes[at(operand)] || (has_idle && graph_.idle.is_idle(operand, entry))) return;
    adjoints[at(entries_.first(operand) + entry)] = 1;
  };
  switch (n.op) {
    case Op::kMatmul:
      return reverse_product(i, bar, tangents, takes, give);
    case Op::kSlice:
    case Op::kEmbed:
    case Op::kGather:
      return for_moved(nodes_, graph_.indices, i, [&](int e, MovedEntry from) {
        if (bar[e] != 0 && from.node >= 0) give(from.node, from.entry);
      });
    case Op::kLookup:
      return;
    case Op::kSum:
      for (int e = 0; bar[0] != 0 && e < size_of(nodes_[at(n.a)]); ++e) give(n.a, e);
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
  const auto give = [&](int operand, const char* marks) {
    if (operand < 0 || !takes[at(operand)]) return;
    const Graph::Node& o = nodes_[at(operand)];
    char* const to = adjoints.data() + entries_.first(operand);
    if (is_same_shape(n, o) && !graph_.idle.has_any(operand)) {
      for (int e = 0; e < size_of(n); ++e) to[e] |= marks[e];
      return;
    }
    for_spread(n, o, [&](int e, int entry) {
      if (marks[e] != 0 && !graph_.idle.is_idle(operand, entry)) to[entry] = 1;
    });
  };
  const char* const bar = marks_of(adjoints, i);
  for (const int operand : {n.a, n.b}) give(operand, bar);
  // Tangents of one operand that reach the adjoint of another, or its own.
  const int operands[] = {n.a, n.b};
  std::vector<char> spread;
  for (const int other : {0, 1}) {
    if (operands[other] < 0) continue;
    const Graph::Node& o = nodes_[at(operands[other])];
    const char* marks = marks_of(tangents, operands[other]);
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
                                const char* bar,
                                const EntryMarks& tangents,
                                Give give) const {
  const Graph::Node& n = nodes_[at(i)];
  const char* const own = marks_of(tangents, i);
  const char* const a = marks_of(tangents, n.a);
  const auto rows = static_cast<int>(nodes_[at(n.a)].rows);
  const auto a_cols = static_cast<int>(nodes_[at(n.a)].cols);
  const int cols = size_of(n) / rows;
  const bool has_b = n.b >= 0 && is_any(marks_of(tangents, n.b), size_of(nodes_[at(n.b)]));
  bool is_any_live = has_b;
  for (int row = 0; row < rows; ++row) {
    bool is_live = is_any(bar + long{row} * cols, cols);
    switch (n.op) {
      case Op::kSoftmaxRows:
        is_live = is_live || is_any(own + long{row} * cols, cols);
        break;
      case Op::kStandardizeRows:
      case Op::kLogSumExpRows:
      case Op::kCrossEntropyRows:
        is_live = is_live || is_any(a + long{row} * a_cols, a_cols);
        break;
      case Op::kSquaredDistances:
        is_live = is_live || has_b || is_any(a + long{row} * a_cols, a_cols);
        break;
      default:
        break;
    }
    is_any_live = is_any_live || is_live;
    for (int c = 0; is_live && c < a_cols; ++c) give(n.a, row * a_cols + c);
  }
  if (n.op != Op::kSquaredDistances || !is_any_live) return;
  for (int e = 0; e < size_of(nodes_[at(n.b)]); ++e) give(n.b, e);
}

// dAbar += dCbar B^T + Cbar dB^T, dBbar += A^T dCbar + dA^T Cbar
template <typename Give>
void SweepSupport::reverse_product(int i,
                                   const char* bar,
                                   const EntryMarks& tangents,
                                   std::span<const char> takes,
                                   Give give) const {
  const Graph::Node& n = nodes_[at(i)];
  const ProductEntries product(nodes_, i);
  const char* const a = marks_of(tangents, n.a);
  const char* const b = marks_of(tangents, n.b);
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
  const bool has_a = is_any(a, size_of(nodes_[at(n.a)]));
  const bool has_b = is_any(b, size_of(nodes_[at(n.b)]));
  for (int k = 0; k < product.count(); ++k) {
    // What C contributes to rows of A and columns of B, and what columns of A and rows of B
    // contribute.
    std::vector<char> bar_of_row(at(rows));
    std::vector<char> bar_of_col(at(cols));
    for (int row = 0; row < rows; ++row) {
      const char* const of_row = bar + product.result(k, row, 0);
      if (!is_any(of_row, cols)) continue;
      bar_of_row[at(row)] = 1;
      for (int c = 0; c < cols; ++c) bar_of_col[at(c)] |= of_row[c];
    }
    const bool has_bar = is_any(bar_of_row.data(), rows);
    std::vector<char> any_a(at(inner));
    std::vector<char> any_b(at(inner));
    for (int j = 0; j < inner; ++j) {
      for (int row = 0; has_a && row < rows; ++row) any_a[at(j)] |= a[product.left(k, row, j)];
      for (int c = 0; has_b && c < cols; ++c) any_b[at(j)] |= b[product.right(k, j, c)];
    }
    // For A: entry (row, j) is reached by dCbar, or by dB if C has a live entry.
    const auto reaches_a = [&](int row, int j) {
      if (bar_of_row[at(row)] || !any_b[at(j)]) return bar_of_row[at(row)] != 0;
      if (!has_masks) return true;
      bool is_reached = false;
      for (int c = 0; !is_reached && c < cols; ++c) {
        is_reached = b[product.right(k, j, c)] != 0 && !is_idle(k, row, c);
      }
      return is_reached;
    };
    // For B: entry (j, c) is reached by dCbar if A is nonzero, or by dA.
    const auto reaches_b = [&](int j, int c) {
      if (!has_masks || !(bar_of_col[at(c)] || any_a[at(j)])) {
        return bar_of_col[at(c)] != 0 || any_a[at(j)] != 0;
      }
      bool is_reached = false;
      for (int row = 0; !is_reached && row < rows; ++row) {
        is_reached = (bar[product.result(k, row, c)] != 0 && !is_zero(k, row, j)) ||
                     (a[product.left(k, row, j)] != 0 && !is_idle(k, row, c));
      }
      return is_reached;
    };
    for (int row = 0; takes[at(n.a)] && row < rows; ++row) {
      if (!bar_of_row[at(row)] && !has_b) continue;
      for (int j = 0; j < inner; ++j) {
        if (reaches_a(row, j)) give(n.a, product.left(k, row, j));
      }
    }
    for (int j = 0; takes[at(n.b)] && j < inner; ++j) {
      if (!any_a[at(j)] && !has_bar) continue;
      for (int c = 0; c < cols; ++c) {
        if (reaches_b(j, c)) give(n.b, product.right(k, j, c));
      }
    }
  }
}

}  // namespace hesscope::detail
