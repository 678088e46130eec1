// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: sums over positions and samples of products of tangents with a use's
// numbers.
#pragma once

#include <hesscope/structured/internal/graph/tangent_entries.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

// NOLINTBEGIN(misc-definitions-in-headers): for one source of each instruction set

// As inner_products() of pack_kernels.h: one number of a tangent, in all lanes, times registers of
// columns.

// Maximal number of column registers in a tile, and directions in a tile with C of them: sums take
// 12 of 16 registers, or 24 of 32, and at least 8.
constexpr int kSumVectors = 3;

template <int C>
constexpr int kSumRows = kLanes == 8 || C == 1 ? 8 : 4;
static_assert(kDirections % 8 == 0);

template <int C>
[[gnu::always_inline]] inline void sum_tile(const detail::DirectionSum& s, int first, int col) {
  using LooseLane [[gnu::vector_size(8 * HESSCOPE_LANES), gnu::aligned(8)]] = double;
  Lane sum[kSumRows<C>][C];
  for (int d = 0; d < kSumRows<C>; ++d) {
    for (int c = 0; c < C; ++c) sum[d][c] = Lane{};
  }
  for (const detail::DirectionTerm& term : s.terms) {
    const double* tangents = term.tangents + long{first} * kLanes;
    const double* panel = term.numbers + s.first_panel + col;
    for (int t = 0; t < term.positions; ++t) {
#pragma GCC unroll 1  // unrolled, GCC moves sums between registers until some go through memory
      for (int sample = 0; sample < kLanes; ++sample) {
        Lane y[C];
        for (int c = 0; c < C; ++c) y[c] = held(lanes(panel + sample * detail::kPanelCols)[c]);
        for (int d = 0; d < kSumRows<C>; ++d) {
          const Lane x = held(tangents[d * kLanes + sample]);
          for (int c = 0; c < C; ++c) sum[d][c] += x * y[c];
        }
      }
      tangents += term.entry_step * kEntry * kLanes;
      panel += s.panel_step;
    }
  }
  for (int d = 0; d < kSumRows<C>; ++d) {
    for (int c = 0; c < C; ++c) {
      *reinterpret_cast<LooseLane*>(s.out + (first + d) * s.out_stride + col + c * kLanes) +=
          sum[d][c];
    }
  }
}

template <int C>
[[gnu::noinline]] void sum_columns(const detail::DirectionSum& s, int col) {
  for (int d = 0; d < kDirections; d += kSumRows<C>) sum_tile<C>(s, d, col);
}

void add_sums(const detail::DirectionSum& s) {
  for (int col = 0; col < s.num_cols;) {
    const int left = (s.num_cols - col + kLanes - 1) / kLanes;
    if (left == 1) {
      sum_columns<1>(s, col);
      return;
    }
    if (left == 2 || left == 4) {
      sum_columns<2>(s, col);
      col += 2 * kLanes;
    } else {
      sum_columns<kSumVectors>(s, col);
      col += kSumVectors * kLanes;
    }
  }
}

void add_dots(const detail::DirectionDots& s) {
  Lane sum[kDirections] = {};
  const Lane* tangents = lanes(s.term.tangents);
  const Lane* x = lanes(s.term.numbers);
  for (int t = 0; t < s.term.positions; ++t) {
    add_scaled(sum, tangents, *x);
    tangents += s.term.entry_step * kEntry;
    x += s.x_step * kParts;
  }
  for (int d = 0; d < kDirections; ++d) s.out[d] += sum_of(sum[d]);
}

// NOLINTEND(misc-definitions-in-headers)

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
