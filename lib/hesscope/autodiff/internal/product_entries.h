// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <utility>

#include <hesscope/autodiff/internal/indexing.h>

namespace hesscope::detail {

/// One operand of a kMatmul node, a stack of matrix products: entry (r, c) of op(operand) of
/// product k.
struct ProductOperand {
  ProductOperand(const Graph::Node& product, const Graph::Node& operand, bool is_left)
      : stack(static_cast<int>(product.stack)),
        is_shared(is_left ? product.is_shared_a : product.is_shared_b),
        is_transposed(is_left ? product.transpose_a : product.transpose_b),
        stored_rows(static_cast<int>(is_shared ? operand.rows : operand.rows / product.stack)),
        stored_cols(static_cast<int>(operand.cols)) {}

  int rows() const { return is_transposed ? stored_cols : stored_rows; }

  int cols() const { return is_transposed ? stored_rows : stored_cols; }

  int entry(int k, int r, int c) const {
    if (is_transposed) std::swap(r, c);
    return ((is_shared ? 0 : k * stored_rows) + r) * stored_cols + c;
  }

  int stack;
  bool is_shared;
  bool is_transposed;
  int stored_rows;
  int stored_cols;
};

/// Both operands and the result: C = A B for each k, with A of rows x inner, B of inner x cols.
class ProductEntries {
 public:
  ProductEntries(std::span<const Graph::Node> nodes, int i)
      : a_(nodes[at(i)], nodes[at(nodes[at(i)].a)], true),
        b_(nodes[at(i)], nodes[at(nodes[at(i)].b)], false) {}

  int count() const { return a_.stack; }

  int rows() const { return a_.rows(); }

  int inner() const { return a_.cols(); }

  int cols() const { return b_.cols(); }

  int left(int k, int row, int inner) const { return a_.entry(k, row, inner); }

  int right(int k, int inner, int col) const { return b_.entry(k, inner, col); }

  int result(int k, int row, int col) const { return (k * rows() + row) * cols() + col; }

 private:
  ProductOperand a_;
  ProductOperand b_;
};

}  // namespace hesscope::detail
