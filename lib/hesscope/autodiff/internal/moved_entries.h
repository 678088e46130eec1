// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels have their own version (tangent_view.h): code compiled for an instruction set is not
// shared.
#pragma once

#include <cstdint>
#include <span>

#include <hesscope/autodiff/internal/indexing.h>

namespace hesscope::detail {

/// Whether entries of the node are entries of its operands, or zeros; a reshape is not among these.
inline bool moves_entries(Graph::Op op) {
  return op == Graph::Op::kSlice || op == Graph::Op::kEmbed || op == Graph::Op::kGather;
}

/// Whether entries of the node are functions, which may have slopes, of one entry each of its
/// operands.
inline bool is_elementwise(Graph::Op op) {
  switch (op) {
    case Graph::Op::kAdd:
    case Graph::Op::kSubtract:
    case Graph::Op::kScale:
    case Graph::Op::kHadamard:
    case Graph::Op::kDivide:
    case Graph::Op::kElementary:
    case Graph::Op::kSelect:
      return true;
    default:
      return false;
  }
}

struct MovedEntry {
  int node;  ///< -1 for a zero
  int entry;
};

/// Where entry e of node i, which moves entries, comes from.
inline MovedEntry moved_from(std::span<const Graph::Node> nodes,
                             std::span<const std::int32_t> indices,
                             int i,
                             int e) {
  const Graph::Node& n = nodes[at(i)];
  const Graph::Node& a = nodes[at(n.a)];
  const auto cols = static_cast<int>(n.cols);
  const auto a_cols = static_cast<int>(a.cols);
  switch (n.op) {
    case Graph::Op::kSlice:
      return {n.a,
              (static_cast<int>(n.row) + e / cols) * a_cols + static_cast<int>(n.col) + e % cols};
    case Graph::Op::kEmbed: {
      const int row = e / cols - static_cast<int>(n.row);
      const int col = e % cols - static_cast<int>(n.col);
      const bool is_inside = row >= 0 && col >= 0 && row < static_cast<int>(a.rows) && col < a_cols;
      return is_inside ? MovedEntry{n.a, row * a_cols + col} : MovedEntry{-1, 0};
    }
    default: {
      const int index = indices[at(static_cast<long>(n.offset) + e)];
      if (index < 0) return {-1, 0};
      return index < size_of(a) ? MovedEntry{n.a, index} : MovedEntry{n.b, index - size_of(a)};
    }
  }
}

/// Calls visit(entry, moved_from()) for all entries of the node.
template <typename F>
void for_moved(std::span<const Graph::Node> nodes,
               std::span<const std::int32_t> indices,
               int i,
               F visit) {
  const Graph::Node& n = nodes[at(i)];
  const auto cols = static_cast<int>(n.cols);
  if (n.op != Graph::Op::kSlice || cols == 0) {
    for (int e = 0; e < size_of(n); ++e) visit(e, moved_from(nodes, indices, i, e));
    return;
  }
  for (int e = 0; e < size_of(n); e += cols) {  // row by row: divisions take longest
    MovedEntry from = moved_from(nodes, indices, i, e);
    for (int c = 0; c < cols; ++c, ++from.entry) visit(e + c, from);
  }
}

/// The entry of an operand that entry e of an elementwise node uses; a single row, column or number
/// of the operand may be broadcast.
inline int spread_entry(const Graph::Node& node, const Graph::Node& operand, int e) {
  const auto cols = static_cast<int>(node.cols);
  const int row = operand.rows == 1 ? 0 : e / cols;
  const int col = operand.cols == 1 ? 0 : e % cols;
  return row * static_cast<int>(operand.cols) + col;
}

inline bool is_same_shape(const Graph::Node& a, const Graph::Node& b) {
  return a.rows == b.rows && a.cols == b.cols;
}

/// Calls visit(entry, spread_entry()) for all entries of the node.
template <typename F>
void for_spread(const Graph::Node& node, const Graph::Node& operand, F visit) {
  const int size = size_of(node);
  if (is_same_shape(node, operand)) {
    for (int e = 0; e < size; ++e) visit(e, e);
  } else {
    for (int e = 0; e < size; ++e) visit(e, spread_entry(node, operand, e));
  }
}

}  // namespace hesscope::detail
