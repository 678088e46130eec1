// SPDX-License-Identifier: BSD-3-Clause
//
// A kernel source: compiled once for each instruction set (cmake/HesscopeKernels.cmake).
#include <hesscope/simd/internal/lane.h>
#include <hesscope/simd/internal/pack_kernels.h>
#include <hesscope/simd/internal/transpose.h>

namespace hesscope::HESSCOPE_ISA {

const detail::PackKernels& pack_kernels();

namespace {

using detail::kPackSamples;
using detail::kPanelCols;
using detail::kPanelRows;

constexpr int kParts = kPackSamples / kLanes;  // registers per pack

// Registers of columns in a tile of kPanelRows rows. Of 16 registers, 12 are accumulators and 4
// operands; without fused multiply-add, there are 8 accumulators, 3 operands and a product.
constexpr int kTileVectors = kLanes >= 4 ? 3 : 2;
constexpr int kTileCols = kTileVectors * kLanes;
static_assert(kPanelCols % kTileCols == 0);

// Packs between two accesses to the results: the columns of a tile then stay in the first-level
// cache.
constexpr int kBlockPacks = 16;

using LooseLane [[gnu::vector_size(8 * HESSCOPE_LANES), gnu::aligned(8)]] = double;

// Row panels of a tile with C registers of columns: enough sums for two units with latency 4.
template <int C>
constexpr int kMostPanels = kLanes == 8 ? (C == 1 ? 4 : 2) : (C == 1 ? 2 : 1);

template <int R, int C>
[[gnu::always_inline]] inline void write(
    double* out, long row_stride, long col_stride, Lane (&sum)[R][C], bool is_first) {
  const auto put = [&](double* to, Lane x) __attribute__((always_inline)) {
    LooseLane& there = *reinterpret_cast<LooseLane*>(to);
    there = is_first ? x : there + x;
  };
  if (row_stride == 1 && R % kLanes == 0) {
    for (int c = 0; c < C; ++c) {
      for (int r = 0; r + kLanes <= R; r += kLanes) {
        Lane x[kLanes];
        for (int i = 0; i < kLanes; ++i) x[i] = sum[r + i][c];
        transpose(x);
        for (int i = 0; i < kLanes; ++i) put(out + (c * kLanes + i) * col_stride + r, x[i]);
      }
    }
    return;
  }
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < C; ++c) {
      if (col_stride == 1) {
        put(out + r * row_stride + c * kLanes, sum[r][c]);
        continue;
      }
      for (int i = 0; i < kLanes; ++i) {
        double& to = out[r * row_stride + (c * kLanes + i) * col_stride];
        to = is_first ? sum[r][c][i] : to + sum[r][c][i];
      }
    }
  }
}

// Inner products of the rows of P panels, panel_size apart, with C registers of columns.
template <int P, int C>
[[gnu::always_inline]] inline void tile(double* out,
                                        long row_stride,
                                        long col_stride,
                                        const double* a,
                                        long panel_size,
                                        const double* b,
                                        int num_packs,
                                        bool is_first) {
  constexpr int kRows = P * kPanelRows;
  Lane sum[kRows][C];  // = {} would first be written to memory
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < C; ++c) sum[r][c] = Lane{};
  }
  for (int k = 0; k < num_packs; ++k) {
    const double* rows[P];
    for (int p = 0; p < P; ++p) {
      rows[p] = a + p * panel_size;
      asm("" : "+r"(rows[p]));  // else GCC keeps an address of each row, in memory
    }
    const auto add_sample = [&](int sample) __attribute__((always_inline)) {
      Lane y[C];
      for (int c = 0; c < C; ++c) y[c] = held(lanes(b + sample * kPanelCols)[c]);
      for (int r = 0; r < kRows; ++r) {
        const Lane x = held(rows[r / kPanelRows][r % kPanelRows * kPackSamples + sample]);
        for (int c = 0; c < C; ++c) sum[r][c] += x * y[c];
      }
    };
    static_assert(kPackSamples == 8);
    add_sample(0);
    add_sample(1);
    add_sample(2);
    add_sample(3);
    add_sample(4);
    add_sample(5);
    add_sample(6);
    add_sample(7);
    a += kPanelRows * kPackSamples;
    b += kPackSamples * kPanelCols;
  }
  write(out, row_stride, col_stride, sum, is_first);
}

struct Panels {
  const double* data;
  long size;
  int count;
  int num_packs;
};

// For all rows, with C registers of columns.
template <int C>
[[gnu::noinline]] void tile_columns(
    double* out, long row_stride, long col_stride, Panels a, const double* b) {
  for (int first = 0; first < a.num_packs; first += kBlockPacks) {
    const int packs = first + kBlockPacks < a.num_packs ? kBlockPacks : a.num_packs - first;
    int panel = 0;
    const auto run = [&]<int P>() __attribute__((always_inline)) {
      for (; panel + P <= a.count; panel += P) {
        tile<P, C>(out + panel * kPanelRows * row_stride,
                   row_stride,
                   col_stride,
                   a.data + panel * a.size + long{first} * kPanelRows * kPackSamples,
                   a.size,
                   b + long{first} * kPackSamples * kPanelCols,
                   packs,
                   first == 0);
      }
    };
    constexpr int kMost = kMostPanels<C>;
    run.template operator()<kMost>();
    if constexpr (kMost > 2) run.template operator()<2>();
    if constexpr (kMost > 1) run.template operator()<1>();
  }
}

void inner_products(double* out,
                    long row_stride,
                    long col_stride,
                    const double* a,
                    int num_row_panels,
                    const double* b,
                    int num_cols,
                    int num_packs) {
  const Panels panels{
      a, static_cast<long>(num_packs) * kPanelRows * kPackSamples, num_row_panels, num_packs};
  for (int c = 0; c < num_cols; c += kTileCols) {
    double* const to = out + c * col_stride;
    const int left = num_cols - c;
    if (left <= kLanes) {
      tile_columns<1>(to, row_stride, col_stride, panels, b + c);
    } else if (kTileVectors == 2 || left <= 2 * kLanes) {
      tile_columns<2>(to, row_stride, col_stride, panels, b + c);
    } else {
      tile_columns<kTileVectors>(to, row_stride, col_stride, panels, b + c);
    }
  }
}

void fill_columns(double* panel,
                  const double* const* x,
                  const double* const* y,
                  long pack_stride,
                  int num_cols,
                  int num_packs) {
  for (int c = 0; c < num_cols; c += kLanes) {
    for (int k = 0; k < num_packs; ++k) {
      for (int part = 0; part < kParts; ++part) {
        const long from = k * pack_stride + part * kLanes;
        Lane column[kLanes];
        for (int i = 0; i < kLanes; ++i) {
          column[i] = *lanes(x[c + i] + from);
          if (y != nullptr) column[i] *= *lanes(y[c + i] + from);
        }
        transpose(column);
        double* const to = panel + (long{k} * kPackSamples + part * kLanes) * kPanelCols + c;
        for (int i = 0; i < kLanes; ++i) *lanes(to + i * kPanelCols) = column[i];
      }
    }
  }
}

// A matrix of packs, row-major; each Lane covers one part of a pack.
template <typename T>
Strided<T> packs(T* data, int cols) {
  return {data, cols * kParts, kParts};
}

void multiply(double* out, const double* a, const double* w, int rows, int inner, int cols) {
  for (int part = 0; part < kParts; ++part) {
    product(packs(lanes(out) + part, cols),
            packs(lanes(a) + part, inner),
            row_major(w, cols),
            rows,
            inner,
            cols);
  }
}

void multiply_transposed(
    double* out, const double* w, const double* a, int rows, int inner, int cols) {
  for (int part = 0; part < kParts; ++part) {
    product(packs(lanes(out) + part, cols),
            row_major(w, rows).transposed(),
            packs(lanes(a) + part, cols),
            rows,
            inner,
            cols);
  }
}

constexpr detail::PackKernels kKernels = {
    kLanes, kTileCols, multiply, multiply_transposed, fill_columns, inner_products};

}  // namespace

const detail::PackKernels& pack_kernels() { return kKernels; }

}  // namespace hesscope::HESSCOPE_ISA
