// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only (cmake/HesscopeKernels.cmake): a vector register of doubles, and products
// of small matrices whose entries are such registers. Everything here is in the namespace of the
// instruction set it is compiled for.
#pragma once

#include <hesscope/simd/instruction_set.h>

namespace hesscope::HESSCOPE_ISA {

constexpr int kLanes = HESSCOPE_LANES;

#if HESSCOPE_LANES == 8
constexpr InstructionSet kSet = InstructionSet::kAvx512;
#elif HESSCOPE_LANES == 4
constexpr InstructionSet kSet = InstructionSet::kAvx2;
#else
constexpr InstructionSet kSet = InstructionSet::kBaseline;
#endif

using Lane [[gnu::vector_size(8 * HESSCOPE_LANES)]] = double;

inline Lane* lanes(double* data) { return reinterpret_cast<Lane*>(data); }

inline const Lane* lanes(const double* data) { return reinterpret_cast<const Lane*>(data); }

/// Sums the lanes, by repeatedly adding halves.
inline double sum_of(Lane x) {
#if HESSCOPE_LANES == 8
  const auto four =
      __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
#elif HESSCOPE_LANES == 4
  const Lane four = x;
#endif
#if HESSCOPE_LANES >= 4
  const auto two =
      __builtin_shufflevector(four, four, 0, 1) + __builtin_shufflevector(four, four, 2, 3);
#else
  const Lane two = x;
#endif
  return two[0] + two[1];
}

/// x in all lanes, kept in a register: otherwise GCC reads it from memory again for each product in
/// which it occurs, and the load ports limit the speed of products of small matrices.
[[gnu::always_inline]] inline Lane held(Lane x) {
#ifdef __x86_64__
  asm("" : "+v"(x));
#endif
  return x;
}

[[gnu::always_inline]] inline Lane held(double x) { return held(x - Lane{}); }

/// A matrix of T (Lane, or double: the same in all lanes): entry (i, j) at data[i * rows + j *
/// cols].
template <typename T>
struct Strided {
  T* data;
  int row_stride;
  int col_stride;

  T& operator()(int i, int j) const { return data[i * row_stride + j * col_stride]; }

  Strided transposed() const { return {data, col_stride, row_stride}; }
};

template <typename T>
Strided<T> row_major(T* data, int cols) {
  return {data, cols, 1};
}

enum class Store { kAssign, kAdd };

// The number of columns that a tile of R rows takes: at most 24 of 32 registers, or 12 of 16, hold
// sums, and if possible at least 8, since two units add and each takes 4 cycles.
constexpr int kTileRows = 6;

template <int R>
constexpr int tile_cols() {
  if (HESSCOPE_LANES == 8) return R <= 3 ? 8 : 4;
  if (HESSCOPE_LANES == 4 && R == 1) return 8;
  return HESSCOPE_LANES == 4 && R <= 3 ? 4 : 2;
}

template <int R, int C, Store kStore, typename A, typename B>
[[gnu::always_inline]] inline void product_tile(
    Strided<Lane> out, Strided<A> a, Strided<B> b, int i0, int j0, int inner) {
  Lane sum[R][C] = {};
  for (int k = 0; k < inner; ++k) {
    if constexpr (R < C) {  // the smaller extent stays in registers
      Lane x[R];
      for (int i = 0; i < R; ++i) x[i] = held(a(i0 + i, k));
      for (int j = 0; j < C; ++j) {
        const Lane y = held(b(k, j0 + j));
        for (int i = 0; i < R; ++i) sum[i][j] += x[i] * y;
      }
    } else {
      Lane y[C];
      for (int j = 0; j < C; ++j) y[j] = held(b(k, j0 + j));
      for (int i = 0; i < R; ++i) {
        const Lane x = held(a(i0 + i, k));
        for (int j = 0; j < C; ++j) sum[i][j] += x * y[j];
      }
    }
  }
  for (int i = 0; i < R; ++i) {
    for (int j = 0; j < C; ++j) {
      if constexpr (kStore == Store::kAdd) {
        out(i0 + i, j0 + j) += sum[i][j];
      } else {
        out(i0 + i, j0 + j) = sum[i][j];
      }
    }
  }
}

template <int R, Store kStore, typename A, typename B>
[[gnu::always_inline]] inline void product_rows(
    Strided<Lane> out, Strided<A> a, Strided<B> b, int i0, int inner, int cols) {
  constexpr int kMost = tile_cols<R>();
  int j = 0;
  for (; j + kMost <= cols; j += kMost) {
    product_tile<R, kMost, kStore>(out, a, b, i0, j, inner);
  }
  if constexpr (kMost > 4) {
    if (j + 4 <= cols) {
      product_tile<R, 4, kStore>(out, a, b, i0, j, inner);
      j += 4;
    }
  }
  if constexpr (kMost > 2) {
    if (j + 2 <= cols) {
      product_tile<R, 2, kStore>(out, a, b, i0, j, inner);
      j += 2;
    }
  }
  if (j < cols) product_tile<R, 1, kStore>(out, a, b, i0, j, inner);
}

template <Store kStore, typename A, typename B>
[[gnu::always_inline]] inline void product_of_extents(
    Strided<Lane> out, Strided<A> a, Strided<B> b, int rows, int inner, int cols) {
  // As few bands of rows as possible, of nearly equal heights: a low band has too few sums in
  // flight to hide the latency of an addition.
  const bool is_one = rows <= kTileRows;  // a division takes as long as many a product
  const int bands = is_one ? (rows > 0 ? 1 : 0) : (rows + kTileRows - 1) / kTileRows;
  const int least = is_one ? rows : rows / bands;
  const int num_higher = rows - bands * least;
  for (int band = 0, i = 0; band < bands; ++band) {
    const int height = band < num_higher ? least + 1 : least;
    const auto run = [&]<int R>() __attribute__((always_inline)) {
      product_rows<R, kStore>(out, a, b, i, inner, cols);
    };
    static_assert(kTileRows == 6);
    switch (height) {
      case 1:
        run.template operator()<1>();
        break;
      case 2:
        run.template operator()<2>();
        break;
      case 3:
        run.template operator()<3>();
        break;
      case 4:
        run.template operator()<4>();
        break;
      case 5:
        run.template operator()<5>();
        break;
      default:
        run.template operator()<6>();
        break;
    }
    i += height;
  }
}

template <Store kStore, typename A, typename B>
[[gnu::noinline]] void product_of_any_extents(
    Strided<Lane> out, Strided<A> a, Strided<B> b, int rows, int inner, int cols) {
  product_of_extents<kStore>(out, a, b, rows, inner, cols);
}

/// out = a b, or out += a b, for a of rows x inner and b of inner x cols. `out` must not overlap a
/// or b. Unrolled where the caller's extents are compile-time constants.
template <Store kStore = Store::kAssign, typename A, typename B>
[[gnu::always_inline]] inline void product(
    Strided<Lane> out, Strided<A> a, Strided<B> b, int rows, int inner, int cols) {
  if (__builtin_constant_p(rows) && __builtin_constant_p(inner) && __builtin_constant_p(cols)) {
    product_of_extents<kStore>(out, a, b, rows, inner, cols);
  } else {
    product_of_any_extents<kStore>(out, a, b, rows, inner, cols);
  }
}

/// A family of vectors of registers, all of one length (packs x inner): vector i has its entry (p,
/// k) at data[i * stride + p * pack_stride + k * inner_stride].
struct Family {
  const Lane* data;
  long stride;
  long pack_stride;
  long inner_stride;
};

template <int R, int C>
[[gnu::always_inline]] inline void dots_tile(
    double* out, long row_stride, long col_stride, Family x, Family y, int packs, int inner) {
  Lane sum[R][C] = {};
  for (int p = 0; p < packs; ++p) {
    const Lane* xp = x.data + p * x.pack_stride;
    const Lane* yp = y.data + p * y.pack_stride;
    for (int k = 0; k < inner; ++k) {
      Lane yk[C];
      for (int j = 0; j < C; ++j) yk[j] = held(yp[k * y.inner_stride + j * y.stride]);
      for (int i = 0; i < R; ++i) {
        const Lane xi = held(xp[k * x.inner_stride + i * x.stride]);
        for (int j = 0; j < C; ++j) sum[i][j] += xi * yk[j];
      }
    }
  }
  for (int i = 0; i < R; ++i) {
    for (int j = 0; j < C; ++j) out[i * row_stride + j * col_stride] += sum_of(sum[i][j]);
  }
}

constexpr int kDotRows = 3;
constexpr int kDotCols = HESSCOPE_LANES == 8 ? 6 : 3;

template <int R>
[[gnu::always_inline]] inline void dots_rows(double* out,
                                             long row_stride,
                                             long col_stride,
                                             Family x,
                                             Family y,
                                             int cols,
                                             int packs,
                                             int inner) {
  int j = 0;
  const auto tile = [&]<int C>() {
    const Family part{y.data + j * y.stride, y.stride, y.pack_stride, y.inner_stride};
    dots_tile<R, C>(out + j * col_stride, row_stride, col_stride, x, part, packs, inner);
    j += C;
  };
  while (j + kDotCols <= cols) tile.template operator()<kDotCols>();
  if constexpr (kDotCols > 3) {
    if (j + 5 <= cols) tile.template operator()<5>();
    if (j + 4 <= cols) tile.template operator()<4>();
    if (j + 3 <= cols) tile.template operator()<3>();
  }
  if (j + 2 <= cols) tile.template operator()<2>();
  if (j < cols) tile.template operator()<1>();
}

/// out(i, j) += sum over packs, inner and lanes of x_i y_j, for `rows` vectors x and `cols` vectors
/// y; out(i, j) at out[i * row_stride + j * col_stride].
[[gnu::always_inline]] inline void dots(double* out,
                                        long row_stride,
                                        long col_stride,
                                        Family x,
                                        Family y,
                                        int rows,
                                        int cols,
                                        int packs,
                                        int inner) {
  int i = 0;
  const auto band = [&]<int R>() {
    const Family part{x.data + i * x.stride, x.stride, x.pack_stride, x.inner_stride};
    dots_rows<R>(out + i * row_stride, row_stride, col_stride, part, y, cols, packs, inner);
    i += R;
  };
  while (i + kDotRows <= rows) band.template operator()<kDotRows>();
  if (i + 2 <= rows) band.template operator()<2>();
  if (i < rows) band.template operator()<1>();
}

}  // namespace hesscope::HESSCOPE_ISA
