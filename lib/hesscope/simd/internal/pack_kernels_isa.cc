// SPDX-License-Identifier: BSD-3-Clause
//
// A kernel source: compiled once for each instruction set (cmake/HesscopeKernels.cmake).
#include <hesscope/simd/internal/lane.h>
#include <hesscope/simd/internal/pack_kernels.h>

namespace hesscope::HESSCOPE_ISA {

const detail::PackKernels& pack_kernels();

namespace {

using detail::kPackSamples;
using detail::kPanelCols;
using detail::kPanelRows;

constexpr int kParts = kPackSamples / kLanes;  // registers of a pack

// Columns of a register tile. Of 32 registers it takes 24 accumulators and 7 operands, of 16 with
// fused multiply-add 12 and 4, of 16 without 8, 3 and a product.
#if HESSCOPE_LANES == 8
constexpr int kTile = 6;
#elif HESSCOPE_LANES == 4
constexpr int kTile = 3;
#else
constexpr int kTile = 2;
#endif

// The sums of adjacent lanes of x, then those of y.
Lane adjacent_sums(Lane x, Lane y) {
#if HESSCOPE_LANES == 8
  return __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14) +
         __builtin_shufflevector(x, y, 1, 3, 5, 7, 9, 11, 13, 15);
#elif HESSCOPE_LANES == 4
  return __builtin_shufflevector(x, y, 0, 2, 4, 6) + __builtin_shufflevector(x, y, 1, 3, 5, 7);
#else
  return __builtin_shufflevector(x, y, 0, 2) + __builtin_shufflevector(x, y, 1, 3);
#endif
}

// The register whose lane i is the sum of the lanes of x[i], for N = kLanes registers.
template <int N>
[[gnu::always_inline]] inline Lane sums_of(const Lane* x) {
  if constexpr (N == 1) {
    return x[0];
  } else {
    Lane half[N / 2];
    for (int i = 0; i < N / 2; ++i) half[i] = adjacent_sums(x[2 * i], x[2 * i + 1]);
    return sums_of<N / 2>(half);
  }
}

// kPanelRows x kTile inner products of the rows of panel a with rows of panel b from `b` on.
[[gnu::always_inline]] inline void tile(double* out,
                                        long row_stride,
                                        long col_stride,
                                        const double* a,
                                        const double* b,
                                        int num_packs) {
  constexpr int kEntries = kPanelRows * kTile;
  static_assert(kEntries % kLanes == 0 && kPanelCols % kTile == 0);
  Lane sum[kEntries] = {};
  for (int k = 0; k < num_packs; ++k) {
    for (int part = 0; part < kParts; ++part) {
      Lane y[kTile];
      for (int c = 0; c < kTile; ++c) y[c] = lanes(b)[c * kParts + part];
      for (int r = 0; r < kPanelRows; ++r) {
        const Lane x = lanes(a)[r * kParts + part];
        for (int c = 0; c < kTile; ++c) sum[r * kTile + c] += x * y[c];
      }
    }
    a += kPanelRows * kPackSamples;
    b += kPanelCols * kPackSamples;
  }
  Lane total[kEntries / kLanes];
  for (int i = 0; i < kEntries / kLanes; ++i) total[i] = sums_of<kLanes>(sum + i * kLanes);
  for (int r = 0; r < kPanelRows; ++r) {
    for (int c = 0; c < kTile; ++c) {
      const int entry = r * kTile + c;
      out[r * row_stride + c * col_stride] = total[entry / kLanes][entry % kLanes];
    }
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
  const long panel_size = static_cast<long>(num_packs) * kPanelRows * kPackSamples;
  for (int panel = 0; panel < num_row_panels; ++panel) {
    for (int c = 0; c < num_cols; c += kTile) {
      tile(out + panel * kPanelRows * row_stride + c * col_stride,
           row_stride,
           col_stride,
           a + panel * panel_size,
           b + c * kPackSamples,
           num_packs);
    }
  }
}

void fill_columns(double* panel, const double* const* x, const double* const* y, int num_packs) {
  constexpr int kStride = kPanelCols * kParts;
  for (int c = 0; c < kPanelCols; ++c) {
    Lane* out = lanes(panel) + c * kParts;
    const Lane* xc = lanes(x[c]);
    const Lane* yc = lanes(y[c]);
    for (int k = 0; k < num_packs; ++k) {
      for (int part = 0; part < kParts; ++part) {
        out[k * kStride + part] = xc[k * kParts + part] * yc[k * kParts + part];
      }
    }
  }
}

// A matrix of packs, row-major, of which a Lane sees one part.
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
    multiply, multiply_transposed, fill_columns, inner_products};

}  // namespace

const detail::PackKernels& pack_kernels() { return kKernels; }

}  // namespace hesscope::HESSCOPE_ISA
