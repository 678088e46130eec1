// SPDX-License-Identifier: BSD-3-Clause
//
// The numbers of a chunk of samples in the form in which matrix products read them: a row for each
// entry, and panels of several entries side by side.
#pragma once

#include <span>

#include <hesscope/simd/internal/pack_kernels.h>
#include <hesscope/structured/internal/graph/graph_layout.h>

namespace hesscope::detail {

/// Rows of a chunk of num_packs packs: row r begins at double r * row_step(num_packs).
struct ChunkRows {
  int num_packs;
  const double* values;    ///< GraphLayout::value_rows()
  const double* adjoints;  ///< GraphLayout::z_rows()
  const double* zeros;     ///< one row
  /// For x[t,j] of each use: panels of kPanelCols columns whose inner index is (position, pack).
  std::span<double* const> x_panels;
  std::span<double* const> z_panels = {};  ///< the same for delta[t,i], for direction_products.h
};

/// Number of doubles in the panels of a block's rows; the number of columns is the block's width.
long panels_size(const RowBlock& block, int num_packs);

/// Copies a block's rows into panels; columns beyond its width become zeros.
/// @param data    ChunkRows::values or adjoints.
/// @param panels  panels_size().
void fill_panels(const PackKernels& packs,
                 const RowBlock& block,
                 const double* data,
                 const ChunkRows& rows,
                 double* panels);

}  // namespace hesscope::detail
