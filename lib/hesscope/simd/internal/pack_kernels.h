// SPDX-License-Identifier: BSD-3-Clause
//
// Matrix products over samples, compiled once for each instruction set. Eight samples side by side,
// one cache line, form a pack; a row of samples is a sequence of packs. Products reduce over
// samples with the samples in the lanes, so that operands never need to be transposed.
#pragma once

#include <hesscope/simd/instruction_set.h>

namespace hesscope::detail {

inline constexpr int kPackSamples = 8;
inline constexpr int kPanelRows = 4;
inline constexpr int kPanelCols = 24;

/// All arrays of packs are aligned to 64 bytes. In a panel of kPanelRows rows, pack k of row r
/// begins at double (k kPanelRows + r) kPackSamples. In a panel of kPanelCols columns, sample s of
/// column c is at double s kPanelCols + c: a product takes one number of a row, in all lanes, and
/// many columns at once, so that each sum is a lane and no sum runs over lanes.
struct PackKernels {
  int lanes;      ///< columns that a register holds
  int tile_cols;  ///< columns that inner_products() takes at once; divides kPanelCols

  /// out = a w: a is rows x inner packs, w inner x cols doubles, out rows x cols packs; row-major.
  void (*multiply)(double* out, const double* a, const double* w, int rows, int inner, int cols);

  /// out = w^T a: w is inner x rows doubles, a inner x cols packs, out rows x cols packs;
  /// row-major.
  void (*multiply_transposed)(
      double* out, const double* w, const double* a, int rows, int inner, int cols);

  /// Panel of kPanelCols columns: column c = x[c], or x[c] y[c] elementwise unless y is null, over
  /// num_packs packs that are pack_stride doubles apart. x and y have kPanelCols pointers: columns
  /// [0, num_cols) are filled, and those up to the next multiple of `lanes` may be, so all must be
  /// readable.
  void (*fill_columns)(double* panel,
                       const double* const* x,
                       const double* const* y,
                       long pack_stride,
                       int num_cols,
                       int num_packs);

  /// out(i, c) = sum over samples of a_i b_c, at out[i * row_stride + c * col_stride], for
  /// consecutive panels `a` of kPanelRows rows each, and num_cols columns of a panel starting at
  /// `b`, which is a multiple of tile_cols columns behind the panel's first; the places of columns
  /// up to the next multiple of `lanes` may be overwritten.
  void (*inner_products)(double* out,
                         long row_stride,
                         long col_stride,
                         const double* a,
                         int num_row_panels,
                         const double* b,
                         int num_cols,
                         int num_packs);
};

/// @throws PreconditionError unless the set is supported.
const PackKernels& pack_kernels(InstructionSet set);

}  // namespace hesscope::detail
