// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: products of matrices whose entries are rows of packs.
#pragma once

#include <hesscope/structured/internal/graph/tangent_entries.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

// NOLINTBEGIN(misc-definitions-in-headers): for one source of each instruction set

// a(i, 0) b(0, j), plus the same for a second term, for kCols columns from j on.
template <int kTerms, int kCols>
void outer_products(const detail::RowProduct& m, int i, int j) {
  const Lane* a[kTerms];
  const Lane* b[kTerms][kCols];
  Lane* out[kCols];
  for (int t = 0; t < kTerms; ++t) {
    a[t] = lanes(m.terms[t].a.data + i * m.terms[t].a.first_stride);
    for (int c = 0; c < kCols; ++c) {
      b[t][c] = lanes(m.terms[t].b.data + (j + c) * m.terms[t].b.second_stride);
    }
  }
  for (int c = 0; c < kCols; ++c) {
    out[c] = lanes(m.out + i * m.out_first_stride + (j + c) * m.out_second_stride);
  }
  const long step = m.out_pack_stride / kLanes;
  for (int p = 0; p < m.num_packs; ++p) {
    for (int part = 0; part < kParts; ++part) {
      const int from = p * kParts + part;
      for (int c = 0; c < kCols; ++c) {
        Lane sum = a[0][from] * b[0][c][from];
        if constexpr (kTerms > 1) sum += a[1][from] * b[1][c][from];
        out[c][p * step + part] = sum;
      }
    }
  }
}

template <int kTerms>
void outer_products(const detail::RowProduct& m) {
  for (int i = 0; i < m.rows; ++i) {
    int j = 0;
    for (; j + kPanelRows <= m.cols; j += kPanelRows) outer_products<kTerms, kPanelRows>(m, i, j);
    for (; j < m.cols; ++j) outer_products<kTerms, 1>(m, i, j);
  }
}

// Rows and columns of a tile of accumulators: they use 24 of 32 registers, or 12 of 16.
constexpr int kMostRows = 6;
constexpr int kMostCols = kLanes == 8 ? kPanelRows : 2;

// Sums over both terms for R x C entries from (i, j) on; on the diagonal, for R entries (i, i) with
// C = 1.
template <int R, int C, bool kIsDiagonal>
[[gnu::always_inline]] inline void tile(const detail::RowProduct& m, int i, int j, int p) {
  const auto lane = [](long doubles) { return doubles / kLanes; };
  for (int part = 0; part < kParts; ++part) {
    Lane sum[R][C];  // = {} would first be written to memory
    for (int r = 0; r < R; ++r) {
      for (int c = 0; c < C; ++c) sum[r][c] = Lane{};
    }
    for (int k = 0; k < m.num_terms; ++k) {
      const detail::RowMatrix& left = m.terms[k].a;
      const detail::RowMatrix& right = m.terms[k].b;
      const Lane* a = lanes(left.data + i * left.first_stride + p * left.pack_stride) + part;
      const Lane* b = lanes(right.data + j * right.second_stride + p * right.pack_stride) + part;
      const long a_row = lane(left.first_stride);
      const long b_col = lane(right.second_stride);
      for (int t = 0; t < m.terms[k].inner; ++t) {
        if constexpr (kIsDiagonal) {
          for (int r = 0; r < R; ++r) sum[r][0] += a[r * a_row] * b[r * b_col];
        } else {
          Lane y[C];
          for (int c = 0; c < C; ++c) y[c] = held(b[c * b_col]);
          for (int r = 0; r < R; ++r) {
            const Lane x = held(a[r * a_row]);
            for (int c = 0; c < C; ++c) sum[r][c] += x * y[c];
          }
        }
        a += lane(left.second_stride);
        b += lane(right.first_stride);
      }
    }
    double* const to =
        m.out + i * m.out_first_stride + j * m.out_second_stride + p * m.out_pack_stride;
    for (int r = 0; r < R; ++r) {
      for (int c = 0; c < C; ++c) {
        lanes(to + r * m.out_first_stride + c * m.out_second_stride)[part] = sum[r][c];
      }
    }
  }
}

template <int R>
[[gnu::noinline]] void tile_rows(const detail::RowProduct& m, int i, int p) {
  if (m.is_diagonal) return tile<R, 1, true>(m, i, i, p);
  int j = 0;
  for (; j + kMostCols <= m.cols; j += kMostCols) tile<R, kMostCols, false>(m, i, j, p);
  for (; j < m.cols; ++j) tile<R, 1, false>(m, i, j, p);
}

void multiply_pack(const detail::RowProduct& m, int p) {
  int i = 0;
  while (i < m.rows) {
    // As few tiles as possible, of nearly equal heights.
    const int left = m.rows - i;
    const int tiles = (left + kMostRows - 1) / kMostRows;
    const int rows = (left + tiles - 1) / tiles;
    static_assert(kMostRows == 6);
    switch (rows) {
      case 1:
        tile_rows<1>(m, i, p);
        break;
      case 2:
        tile_rows<2>(m, i, p);
        break;
      case 3:
        tile_rows<3>(m, i, p);
        break;
      case 4:
        tile_rows<4>(m, i, p);
        break;
      case 5:
        tile_rows<5>(m, i, p);
        break;
      default:
        tile_rows<6>(m, i, p);
        break;
    }
    i += rows;
  }
}

// Whether it is a product of numbers for each pack, with contiguous packs.
bool is_outer(const detail::RowProduct& m) {
  for (int t = 0; t < m.num_terms; ++t) {
    const detail::RowTerm& term = m.terms[t];
    const bool is_by_pack =
        term.a.pack_stride != kPackSamples || term.b.pack_stride != kPackSamples;
    if (term.inner != 1 || is_by_pack) return false;
  }
  return !m.is_diagonal;
}

// Pack by pack, since products share rows.
void multiply(std::span<const detail::RowProduct> products) {
  for (const detail::RowProduct& m : products) {
    if (!is_outer(m)) continue;
    m.num_terms == 1 ? outer_products<1>(m) : outer_products<2>(m);
  }
  const int num_packs = products.empty() ? 0 : products.front().num_packs;
  for (int p = 0; p < num_packs; ++p) {
    for (const detail::RowProduct& m : products) {
      if (is_outer(m)) continue;
      multiply_pack(m, p);
    }
  }
}

// NOLINTEND(misc-definitions-in-headers)

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
