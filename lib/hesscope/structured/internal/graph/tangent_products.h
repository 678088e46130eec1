// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: tangents of products of matrices, forwards and backwards.
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
};

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
