// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel code (simd/lane.h). What a pack of prompts stores for each of its layers, and where. This
// header defines the notation of the whole folder; linear_attention_hessian.h has the derivation.
//
// Sizes
//   d, e = d + 1      covariates; rows of a prompt's tokens
//   n                 examples of a prompt (`context`)
//   s                 entries of a state, e (e + 1) / 2 + e (`state_entries`)
//
// One prompt at one layer; a prime marks quantities after the layer, and P stands for P / n, as
// stored in `LinearAttentionNetwork::p`
//   S, q              the state x = (S, q): e x e symmetric, and e; stored S_ij for i <= j, then q
//   A = I + P S Q     the layer: q' = A q, S' = A S A^T
//   p                 the last row of P in the last layer, the only one that matters
//   f, t, w = f - t   prediction -q_e - p^T S Q q there, target, and their difference
//
// Its first derivatives
//   C = [C_S | c]     cotangent of a state, [df/dS | df/dq], e x (e + 1), C_S symmetric
//   G = df/dA         C' B, with B = [2 A S; q^T], (e + 1) x e
//   df/dP             G Q^T S / n = C' U, with U = B (Q^T S / n), (e + 1) x e
//   df/dQ             (P S)^T G
//   C, from C'        [A^T C'_S A + sym(P^T G Q^T) | A^T c'],  sym(X) = (X + X^T) / 2
//
// Its second derivatives (kernels.h, LinearAttentionGroup)
//   curvature         d2 f / dx' dx', s x s: carried from the last layer to the first
//   second            d2 f / dA dA at a fixed state, e^2 x e^2: rows of H within the layer
//   mixed             d2 f / d(P, Q) dx, 2 trained^2 x s: rows against the layers before it
//
// Many prompts
//   lane              one prompt's number in a vector register
//   pack              as many prompts as a register has lanes; arrays of Lane are for one pack
//   group             packs that one task sums; sums over prompts are products of its arrays
//
// Files of the Hessian, in the order of their use: weights.h (P and Q of a network), sum.h (groups
// and tasks), forward_reverse.h (states, f, first cotangents), curvature.h (second derivatives,
// layer by layer backwards), rows.h (rows of H); cotangent.h is shared by these. For value and
// gradient alone: condense.h (from prompts to their first states) and loss.h.
#pragma once

#include <hesscope/structured/internal/linear_attention/kernels.h>
#include <hesscope/structured/internal/linear_attention/weights_layout.h>

namespace hesscope::HESSCOPE_ISA {

using Group = detail::LinearAttentionGroup;
using Rows = detail::LinearAttentionRows;
constexpr int kMaxRows = 6;

// Number of entries of a state.
inline int state_entries(int e) { return e * (e + 1) / 2 + e; }

// The position of S_ij, i <= j, in a state.
inline int index_of(int e, int i, int j) { return i * e - i * (i - 1) / 2 + (j - i); }

inline int index_of_q(int e, int i) { return e * (e + 1) / 2 + i; }

// The number of positions of S_ij in S.
inline double multiplicity(int i, int j) { return i == j ? 1.0 : 2.0; }

// For each layer but the last.
struct Layer {
  Lane* a;       // A
  Lane* s;       // S
  Lane* as;      // A S
  Lane* q;       // q
  Lane* qts;     // Q^T S / n
  Lane* ps;      // P S
  Lane* b;       // B
  Lane* u;       // U
  Lane* c_next;  // C', e x (e + 1)
  Lane* g;       // G
  Lane* gn;      // G / n
  Lane* gqt;     // G Q^T / n
  Lane* ptg;     // P^T G
};

inline long layer_lanes(int e) { return 9L * e * e + 3L * e * (e + 1) + e; }

// For the last layer, where only the last row p of P matters: f = -q_e - p^T S Q q.
struct LastLayer {
  Lane* s;
  Lane* sq;        // S Q
  Lane* y;         // Q q
  Lane* sp;        // S p
  Lane* wq;        // -w q
  Lane* wqn;       // -w q / n
  Lane* minus_sp;  // -S p
  Lane* w;         // (f - t), 0 in the lanes of padding
};

inline long last_layer_lanes(int e) { return 2L * e * e + 5L * e + 1; }

long state_lanes(const auto& g) {
  return (g.layers - 1) * layer_lanes(g.e) + last_layer_lanes(g.e);
}

Lane* state_of(const auto& g, int pack) { return lanes(g.states) + pack * state_lanes(g); }

Layer layer_of(const auto& g, int pack, int layer) {
  const int e = g.e;
  const int square_size = e * e;
  Lane* next = state_of(g, pack) + layer * layer_lanes(e);
  const auto take = [&](int size) {
    Lane* mine = next;
    next += size;
    return mine;
  };
  Layer l;
  l.a = take(square_size);
  l.s = take(square_size);
  l.as = take(square_size);
  l.q = take(e);
  l.qts = take(square_size);
  l.ps = take(square_size);
  l.b = take(e * (e + 1));
  l.u = take(e * (e + 1));
  l.c_next = take(e * (e + 1));
  l.g = take(square_size);
  l.gn = take(square_size);
  l.gqt = take(square_size);
  l.ptg = take(square_size);
  return l;
}

LastLayer last_layer_of(const auto& g, int pack) {
  const int e = g.e;
  Lane* next = state_of(g, pack) + (g.layers - 1) * layer_lanes(e);
  const auto take = [&](int size) {
    Lane* mine = next;
    next += size;
    return mine;
  };
  LastLayer l;
  l.s = take(e * e);
  l.sq = take(e * e);
  l.y = take(e);
  l.sp = take(e);
  l.wq = take(e);
  l.wqn = take(e);
  l.minus_sp = take(e);
  l.w = take(1);
  return l;
}

inline double* entry(const Group& g, long row, long col) { return g.h + row * g.ldh + col; }

}  // namespace hesscope::HESSCOPE_ISA
