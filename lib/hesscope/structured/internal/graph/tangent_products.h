// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: tangents of matrix products, forwards and backwards.
#pragma once

#include <hesscope/structured/internal/graph/tangent_view.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

class ProductSweep : protected SweepView {
 protected:
  using SweepView::SweepView;

  static Interval rows_in(Interval entries, int first, int rows, int cols) {
    const Interval own =
        common_part({entries.begin - first, entries.end - first}, {0, rows * cols});
    return own.is_empty() ? Interval{} : rows_of(own, cols);
  }

  Interval all_of(int i) const { return {0, static_cast<int>(node(i).size())}; }

  // An operand of product k of node i; only `entries` of it may be nonzero.
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

  Matrix left(int i, int k, Interval entries) const { return operand_matrix(i, true, k, entries); }

  Matrix right(int i, int k, Interval entries) const {
    return operand_matrix(i, false, k, entries);
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

  // out = M tangent, or out += it, for rows p and columns r of M, the plain matrix of an operand or
  // its transpose.
  void multiply_plain(bool is_to_assign,
                      Entries out,
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
    const auto multiply = [&](auto plain) {
      if (is_to_assign) {
        multiply_entries<Store::kAssign>(out, plain, tangent, length(p), length(r), q_size);
      } else {
        multiply_entries<Store::kAdd>(out, plain, tangent, length(p), length(r), q_size);
      }
    };
    if (kept(operand).is_common) {
      multiply(Plain<double>{kept(operand).common + first, p_stride, r_stride});
    } else {
      multiply(Plain<Lane>{value(operand) + first * kParts, p_stride, r_stride});
    }
  }

  void clear_rows(int i, const Matrix& c, Interval rows) const {
    if (!rows.is_empty()) {
      clear(tangent(i) + (c.first + rows.begin * c.cols) * kEntry, length(rows) * c.cols);
    }
  }

  // dC = A dB + dA B
  void forward_product(int i) {
    const Node& n = node(i);
    const Interval out = plan(i).tangent;
    for (int k = 0; k < static_cast<int>(n.stack); ++k) {
      const Matrix c = result(i, k, out);
      const Interval rows = c.live_rows;
      if (rows.is_empty()) continue;
      const Matrix db = right(i, k, plan(n.b).tangent);
      const bool has_b = !db.is_zero();
      if (has_b) {
        const bool is_whole = length(db.live_cols) == c.cols;
        if (!is_whole) clear_rows(i, c, rows);
        multiply_plain(is_whole,
                       entries(tangent(i), c, rows.begin, db.live_cols.begin),
                       n.a,
                       left(i, k),
                       false,
                       rows,
                       db.live_rows,
                       entries(tangent(n.b), db, db.live_rows.begin, db.live_cols.begin),
                       length(db.live_cols));
      }
      const Matrix da = left(i, k, plan(n.a).tangent);
      const Interval own = common_part(da.live_rows, rows);
      const bool has_a = !da.is_zero() && !own.is_empty();
      if (!has_b && !has_a) clear_rows(i, c, rows);
      if (!has_a) continue;
      if (!has_b) {
        clear_rows(i, c, {rows.begin, own.begin});
        clear_rows(i, c, {own.end, rows.end});
      }
      for (int row = own.begin; row < own.end; ++row) {  // each as B^T dA^T
        multiply_plain(!has_b,
                       transposed(entries(tangent(i), c, row, 0)),
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

  // Entries of an operand's adjoint that dCbar B^T, or A^T dCbar, writes.
  Interval written_by_bars(int i, bool is_left) const {
    const Node& n = node(i);
    const bool is_shared = is_left ? n.is_shared_a : n.is_shared_b;
    if ((is_shared && n.stack > 1) || kept(n.a).root == kept(n.b).root) return {};
    const auto stack = static_cast<int>(n.stack);
    const int rows_of_one = static_cast<int>(n.rows) / stack;
    const Interval rows = rows_of(plan(i).adjoint, static_cast<int>(n.cols));
    const auto size_of_one = static_cast<int>(node(is_left ? n.a : n.b).size()) / stack;
    if (is_left && !n.transpose_a) {
      const int cols = static_cast<int>(node(n.a).cols);
      return {rows.begin * cols, rows.end * cols};
    }
    // For A^T, each row of a product writes a column.
    if (is_left && (rows.begin % rows_of_one != 0 || rows.end % rows_of_one != 0)) return {};
    const Interval products = rows_of(rows, rows_of_one);
    return {products.begin * size_of_one, products.end * size_of_one};
  }

  // dAbar += dCbar B^T + Cbar dB^T, dBbar += A^T dCbar + dA^T Cbar
  void reverse_product(int i) {
    const Node& n = node(i);
    const bool has_bars = !plan(i).adjoint.is_empty();
    const auto assigns = [&](int operand, int other, bool is_left) {
      if (!has_adjoint(operand) || !(has_bars || has_tangent(other))) return false;
      return is_to_assign(operand, has_bars ? written_by_bars(i, is_left) : Interval{});
    };
    const bool assigns_left = assigns(n.a, n.b, true);
    const bool assigns_right = assigns(n.b, n.a, false);
    for (int k = 0; k < static_cast<int>(n.stack); ++k) {
      const Matrix dc = result(i, k, plan(i).adjoint);
      const Matrix c = result(i, k, all_of(i));
      const Lane* const c_bar = bar(i) + c.first * kParts;
      const Matrix a = left(i, k, plan(n.a).adjoint);
      const Matrix b = right(i, k, plan(n.b).adjoint);
      const Matrix da = left(i, k, plan(n.a).tangent);
      const Matrix db = right(i, k, plan(n.b).tangent);
      if (!a.is_zero()) {
        const Interval rows = common_part(dc.live_rows, a.live_rows);
        for (int row = rows.begin; row < rows.end; ++row) {  // each as B dCbar^T
          multiply_plain(assigns_left,
                         transposed(entries(adjoint(n.a), a, row, a.live_cols.begin)),
                         n.b,
                         b,
                         false,
                         a.live_cols,
                         {0, b.cols},
                         transposed(entries(adjoint(i), dc, row, 0)),
                         1);
        }
        const Interval inner = common_part(db.live_rows, a.live_cols);
        if (!db.is_zero() && !inner.is_empty()) {
          multiply_entries<Store::kAdd>(
              entries(adjoint(n.a), a, a.live_rows.begin, inner.begin),
              Plain<Lane>{
                  c_bar + (a.live_rows.begin * c.cols + db.live_cols.begin) * kParts, c.cols, 1},
              transposed(entries(tangent(n.b), db, inner.begin, db.live_cols.begin)),
              length(a.live_rows),
              length(db.live_cols),
              length(inner));
        }
      }
      if (b.is_zero()) continue;
      if (!dc.is_zero()) {
        multiply_plain(assigns_right,
                       entries(adjoint(n.b), b, b.live_rows.begin, b.live_cols.begin),
                       n.a,
                       a,
                       true,
                       b.live_rows,
                       dc.live_rows,
                       entries(adjoint(i), dc, dc.live_rows.begin, b.live_cols.begin),
                       length(b.live_cols));
      }
      const Interval inner = common_part(da.live_cols, b.live_rows);
      if (da.is_zero() || inner.is_empty()) continue;  // the product as that of Cbar^T and dA
      multiply_entries<Store::kAdd>(
          transposed(entries(adjoint(n.b), b, inner.begin, b.live_cols.begin)),
          Plain<Lane>{
              c_bar + (da.live_rows.begin * c.cols + b.live_cols.begin) * kParts, 1, c.cols},
          entries(tangent(n.a), da, da.live_rows.begin, inner.begin),
          length(b.live_cols),
          length(da.live_rows),
          length(inner));
    }
  }
};

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
