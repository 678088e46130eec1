// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/structured/internal/graph/chunk_rows.h>
#include <hesscope/structured/internal/graph/kept_tangents.h>

namespace hesscope::detail {

long panels_size(const RowBlock& block, int num_packs) {
  return long{ceil_div(block.width, kPanelCols)} * kPanelCols * block.positions * num_packs *
         kPackSamples;
}

void fill_panels(const PackKernels& packs,
                 const RowBlock& block,
                 const double* data,
                 const ChunkRows& rows,
                 double* panels) {
  const long row = long{rows.num_packs} * kPackSamples;
  const long step = row_step(rows.num_packs);
  std::array<const double*, kPanelCols> columns;
  for (int c = 0; c < block.width; c += kPanelCols) {
    for (int t = 0; t < block.positions; ++t) {
      for (int k = 0; k < kPanelCols; ++k) {
        columns[at(k)] = c + k < block.width ? data + block.row(t, c + k) * step : rows.zeros;
      }
      packs.fill_columns(panels,
                         columns.data(),
                         nullptr,
                         kPackSamples,
                         std::min(kPanelCols, block.width - c),
                         rows.num_packs);
      panels += kPanelCols * row;
    }
  }
}

}  // namespace hesscope::detail
