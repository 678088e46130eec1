// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: matrix products for a batch, in tiles that stay in registers.
#pragma once

#include <hesscope/simd/internal/lane.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

/// One matrix per pack, or one of plain numbers that all packs share.
struct BatchMatrix {
  double* data;
  bool is_shared;
  int row_stride;  ///< in registers; for shared matrices in numbers, as below
  int col_stride;
  int pack_stride;

  BatchMatrix transposed() const { return {data, is_shared, col_stride, row_stride, pack_stride}; }

  Strided<Lane> of_pack(int pack) const {
    return {lanes(data) + long{pack} * pack_stride, row_stride, col_stride};
  }

  // Calls use(matrix of the pack), or use(shared numbers).
  template <typename F>
  void with_entries(int pack, F use) const {
    if (is_shared) {
      use(Strided<double>{data, row_stride, col_stride});
    } else {
      use(of_pack(pack));
    }
  }

  Family rows() const { return {lanes(data), row_stride, pack_stride, col_stride}; }
};

/// out = a b for each pack, or out += a b, with a of rows x inner and b of inner x cols; `out` is
/// not shared, and at most one of a and b is. Packs that continue each other's rows or columns are
/// multiplied together.
template <Store kStore>
void multiply(
    BatchMatrix out, BatchMatrix a, BatchMatrix b, int rows, int inner, int cols, int packs) {
  const auto join = [&](int& extent, int BatchMatrix::*stride, BatchMatrix& x) {
    if (extent == 1) {
      out.*stride = out.pack_stride;
      x.*stride = x.pack_stride;
    }
    if (out.pack_stride == extent * out.*stride && x.pack_stride == extent * x.*stride) {
      extent *= packs;
      packs = 1;
    }
  };
  if (b.is_shared) {
    join(rows, &BatchMatrix::row_stride, a);
  } else if (a.is_shared) {
    join(cols, &BatchMatrix::col_stride, b);
  }
  for (int pack = 0; pack < packs; ++pack) {
    a.with_entries(pack, [&](auto x) {
      b.with_entries(pack, [&](auto y) {
        product_of_any_extents<kStore>(out.of_pack(pack), x, y, rows, inner, cols);
      });
    });
  }
}

/// out += sum over packs and lanes of a b: `out` is shared, a and b are not.
inline void add_sum(
    BatchMatrix out, BatchMatrix a, BatchMatrix b, int rows, int inner, int cols, int packs) {
  dots(out.data,
       out.row_stride,
       out.col_stride,
       a.rows(),
       b.transposed().rows(),
       rows,
       cols,
       packs,
       inner);
}

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
