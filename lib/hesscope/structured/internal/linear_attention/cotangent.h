// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel code (simd/lane.h). Cotangents of a state, packed and in full, and their pull-back through
// a layer. Notation: layout.h.
#pragma once

#include <hesscope/structured/internal/linear_attention/layout.h>

namespace hesscope::HESSCOPE_ISA {

inline Strided<const Lane> read(const Lane* data, int cols) { return row_major(data, cols); }

inline void copy(Lane* out, const Lane* in, int count) {
  for (int i = 0; i < count; ++i) out[i] = in[i];
}

// out += x y^T on a part of rows x cols.
template <typename X, typename Y>
[[gnu::always_inline]] inline void add_outer(Matrix out, X x, Y y, int rows, int cols) {
  for (int i = 0; i < rows; ++i) {
    const auto xi = x(i);
    for (int j = 0; j < cols; ++j) out(i, j) += xi * y(j);
  }
}

// A cotangent from the entries of a state; `in(x)` is entry x.
template <typename F>
[[gnu::always_inline]] inline void expand(Lane* cotangent, int e, F in) {
  int x = 0;
  for (int i = 0; i < e; ++i) {
    for (int j = i; j < e; ++j, ++x) {
      const Lane value = in(x);
      cotangent[i * (e + 1) + j] = value;
      cotangent[j * (e + 1) + i] = value;
    }
  }
  for (int i = 0; i < e; ++i, ++x) cotangent[i * (e + 1) + e] = in(x);
}

// The same for derivatives along the directions E_ij + E_ji, which count an off-diagonal S_ij
// twice.
template <typename F>
[[gnu::always_inline]] inline void expand_directions(Lane* cotangent, int e, F in) {
  int x = 0;
  for (int i = 0; i < e; ++i) {
    cotangent[i * (e + 1) + i] = in(x++);
    for (int j = i + 1; j < e; ++j, ++x) {
      const Lane value = 0.5 * in(x);
      cotangent[i * (e + 1) + j] = value;
      cotangent[j * (e + 1) + i] = value;
    }
  }
  for (int i = 0; i < e; ++i, ++x) cotangent[i * (e + 1) + e] = in(x);
}

// z = A^T C'_S A + P^T G Q^T, to be symmetrised; t: scratch of e x e.
inline void pull_back_s(const auto& g,
                        int layer,
                        const Layer& l,
                        const Lane* c_next,
                        const Lane* dg,
                        Lane* z,
                        Lane* t) {
  const int e = g.e;
  product(row_major(t, e), read(c_next, e + 1), read(l.a, e), e, e, e);
  product(row_major(z, e), read(l.a, e).transposed(), read(t, e), e, e, e);
  // Q is zero outside its trained part.
  product(row_major(t, e), read(dg, e), q_of(g, layer).transposed(), e, g.trained, g.trained);
  product<Store::kAdd>(row_major(z, e), p_of(g, layer).transposed(), read(t, e), e, e, g.trained);
}

// The cotangent before a layer from the one after it, and G = C' B. z, t: scratch of e x e.
inline void pull_back(const auto& g,
                      int layer,
                      const Layer& l,
                      const Lane* c_next,
                      const Lane* dg,
                      Lane* c,
                      Lane* z,
                      Lane* t) {
  const int e = g.e;
  pull_back_s(g, layer, l, c_next, dg, z, t);
  // A^T c', before c may overwrite c_next.
  product(Matrix{t, 1, 1},
          read(l.a, e).transposed(),
          Strided<const Lane>{c_next + e, e + 1, 1},
          e,
          e,
          1);
  for (int i = 0; i < e; ++i) {
    for (int j = 0; j < e; ++j) c[i * (e + 1) + j] = 0.5 * (z[i * e + j] + z[j * e + i]);
    c[i * (e + 1) + e] = t[i];
  }
}

}  // namespace hesscope::HESSCOPE_ISA
