// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel code (simd/lane.h). Condenses prompts to S_0, q_0 and target.
#pragma once

#include <hesscope/simd/internal/transpose.h>
#include <hesscope/structured/internal/linear_attention/weights_layout.h>

namespace hesscope::HESSCOPE_ISA {

// A pack: S_ij for i <= j row by row, q, target.
template <typename L>
struct Condensed {
  L* s;
  L* q;
  L* target;
};

inline int triangle(int e) { return e * (e + 1) / 2; }

inline long condensed_lanes(int e) { return triangle(e) + e + 1; }

template <typename L>
Condensed<L> condensed(L* pack, int e) {
  return {pack, pack + triangle(e), pack + triangle(e) + e};
}

// out = a b^T, for a symmetric result: the upper triangle is computed and copied to the lower one.
template <typename A>
[[gnu::always_inline]] inline void symmetric_product(
    Matrix out, Strided<A> a, Strided<A> b, int e, int inner) {
  const int half = (e + 1) / 2;
  const auto from = [](auto m, int i, int j) {
    return decltype(m){&m(i, j), m.row_stride, m.col_stride};
  };
  product(out, a, b.transposed(), half, inner, e);
  product(from(out, half, half),
          from(a, half, 0),
          from(b, half, 0).transposed(),
          e - half,
          inner,
          e - half);
  for (int i = 0; i < e; ++i) {
    for (int j = 0; j < i; ++j) out(i, j) = out(j, i);
  }
}

// out[k] = number k of each of kLanes arrays.
inline void gather(const double* const* arrays, long count, Lane* out) {
  long k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    Lane x[kLanes];
    for (int i = 0; i < kLanes; ++i) __builtin_memcpy(&x[i], arrays[i] + k, sizeof(Lane));
    transpose(x);
    for (int i = 0; i < kLanes; ++i) out[k + i] = x[i];
  }
  for (; k < count; ++k) {
    for (int i = 0; i < kLanes; ++i) out[k][i] = arrays[i][k];
  }
}

long condense_scratch_lanes(const auto& g) {
  return static_cast<long>(g.e) * (g.context + 1 + g.e);
}

void condense(
    const auto& g, const double* const* prompts, const double* targets, Lane* pack, Lane* scratch) {
  const int e = g.e;
  const int n = g.context;
  Lane* z = scratch;  // e x (n + 1)
  Lane* s = z + static_cast<long>(e) * (n + 1);
  gather(prompts, static_cast<long>(e) * (n + 1), z);
  const Strided<const Lane> examples = row_major<const Lane>(z, n + 1);
  symmetric_product(row_major(s, e), examples, examples, e, n);
  const auto out = condensed(pack, e);
  Lane* next = out.s;
  for (int i = 0; i < e; ++i) {
    for (int j = i; j < e; ++j) *next++ = s[i * e + j];
  }
  for (int i = 0; i < e; ++i) out.q[i] = z[i * (n + 1) + n];
  for (int i = 0; i < kLanes; ++i) (*out.target)[i] = targets[i];
}

}  // namespace hesscope::HESSCOPE_ISA
