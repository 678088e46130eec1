// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <hesscope/structured/internal/graph/indexing.h>

namespace hesscope::detail {

/// The products C = A B of a kMatmul node, of a stack that is one below the other, with what its operands
/// say of transposing and sharing: A is rows x inner, B inner x cols.
class ProductEntries {
 public:
  ProductEntries(std::span<const Graph::Node> nodes, int i)
      : n_(nodes[at(i)]), a_(nodes[at(n_.a)]), b_(nodes[at(n_.b)]) {}

  int count() const { return static_cast<int>(n_.stack); }

  int rows() const { return static_cast<int>(n_.rows / n_.stack); }

  int cols() const { return static_cast<int>(n_.cols); }

  int inner() const { return n_.transpose_a ? stored_rows(a_, n_.is_shared_a) : stored_cols(a_); }

  // Entries, of the operands and of the node, of product k.

  int left(int k, int row, int inner) const {
    return entry(a_, n_.is_shared_a, n_.transpose_a, k, row, inner);
  }

  int right(int k, int inner, int col) const {
    return entry(b_, n_.is_shared_b, n_.transpose_b, k, inner, col);
  }

  int result(int k, int row, int col) const { return (k * rows() + row) * cols() + col; }

 private:
  static int stored_cols(const Graph::Node& o) { return static_cast<int>(o.cols); }

  int stored_rows(const Graph::Node& o, bool is_shared) const {
    return static_cast<int>(is_shared ? o.rows : o.rows / n_.stack);
  }

  int entry(
      const Graph::Node& o, bool is_shared, bool is_transposed, int k, int row, int col) const {
    const int stored_row = is_transposed ? col : row;
    const int stored_col = is_transposed ? row : col;
    const int first = is_shared ? 0 : k * stored_rows(o, is_shared);
    return (first + stored_row) * stored_cols(o) + stored_col;
  }

  const Graph::Node& n_;
  const Graph::Node& a_;
  const Graph::Node& b_;
};

}  // namespace hesscope::detail
