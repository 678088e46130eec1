// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/autodiff/internal/product_entries.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/structured/internal/graph/matmul_work.h>

namespace hesscope::detail {
namespace {

// Rows and columns of a matrix that may be nonzero.
struct Live {
  Interval rows;
  Interval cols;
};

// For a matrix stored from entry `first` on, row by row: all rows with some of the entries.
Live live_of(Interval entries, int first, int rows, int cols) {
  const Interval own = common_part({entries.begin - first, entries.end - first}, {0, rows * cols});
  if (own.is_empty()) return {};
  return {{own.begin / cols, static_cast<int>(ceil_div(own.end, cols))}, {0, cols}};
}

Live transposed(const Live& live) { return {live.cols, live.rows}; }

double area(Interval rows, Interval cols) {
  return static_cast<double>(length(rows)) * length(cols);
}

}  // namespace

double matmul_work(std::span<const Graph::Node> nodes,
                   int i,
                   const NodeSweep& own,
                   const NodeSweep& a,
                   const NodeSweep& b) {
  const Graph::Node& n = nodes[at(i)];
  const ProductEntries product(nodes, i);
  const int rows = product.rows();
  const int inner = product.inner();
  const int cols = product.cols();
  double work = 0;
  for (int k = 0; k < product.count(); ++k) {
    const auto left = [&](Interval entries) {
      const int first = product.left(k, 0, 0);
      return n.transpose_a ? transposed(live_of(entries, first, inner, rows))
                           : live_of(entries, first, rows, inner);
    };
    const auto right = [&](Interval entries) {
      const int first = product.right(k, 0, 0);
      return n.transpose_b ? transposed(live_of(entries, first, cols, inner))
                           : live_of(entries, first, inner, cols);
    };
    const Live da = left(a.tangent);
    const Live db = right(b.tangent);
    const Live to_a = left(a.adjoint);
    const Live to_b = right(b.adjoint);
    const Interval out = live_of(own.tangent, product.result(k, 0, 0), rows, cols).rows;
    const Interval bars = live_of(own.adjoint, product.result(k, 0, 0), rows, cols).rows;
    work += area(db.rows, db.cols) * length(out);
    work += area(common_part(da.rows, out), da.cols) * cols;
    work += area(common_part(bars, to_a.rows), to_a.cols) * cols;
    work += area(to_a.rows, common_part(db.rows, to_a.cols)) * length(db.cols);
    work += area(to_b.rows, to_b.cols) * length(bars);
    work += area(common_part(da.cols, to_b.rows), to_b.cols) * length(da.rows);
  }
  return work;
}

}  // namespace hesscope::detail
