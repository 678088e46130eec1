// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel code (simd/lane.h). Evaluates one pack forwards to its loss, and backwards to the
// gradient. layout.h has the notation.
//
// With P standing for P / n, a matrix layer maps its state by A = I + P S Q to q' = A q and S' = A
// S A^T. A cotangent of a state is C_S (symmetric) and c, and
//   G = df/dA = 2 C'_S A S + c' q^T,     W = G Q^T,
//   df/dP = n^-1 W S,                    df/dQ = (P S)^T G,
//   C_S = A^T C'_S A + sym(P^T W),       c = A^T c'.
// The last two layers are computed with vectors only (linear_attention_loss.h).
#pragma once

#include <hesscope/structured/internal/linear_attention/condense.h>

namespace hesscope::HESSCOPE_ISA {

using Input = Strided<const Lane>;

inline Input input(const Lane* data, int cols) { return row_major(data, cols); }

inline Matrix vector(Lane* x) { return {x, 1, 1}; }

inline Input input_vector(const Lane* x) { return {x, 1, 1}; }

// Products with one layer's weights. These are zero outside their trained part, except for the last
// entry of P if that is not trained: it is then 1 (here 1 / n). Only the first g.trained entries of
// Q x are written.
void times_p(const auto& g, Constant p, const Lane* x, Lane* out) {
  product(vector(out), p, input_vector(x), g.trained, g.trained, 1);
  if (g.trained < g.e) out[g.e - 1] = inverse_n(g) * x[g.e - 1];
}

void times_q(const auto& g, Constant q, const Lane* x, Lane* out) {
  product(vector(out), q, input_vector(x), g.trained, g.trained, 1);
}

// out = S x for x with `inner` nonzero entries.
void times_s(const auto& g, const Lane* s, const Lane* x, int inner, Lane* out) {
  product(vector(out), input(s, g.e), input_vector(x), g.e, inner, 1);
}

inline void add(Lane* out, const Lane* x, int count) {
  for (int i = 0; i < count; ++i) out[i] += x[i];
}

// What the gradient needs from a matrix layer.
struct InnerLayer {
  Lane* s;   // S
  Lane* ps;  // P S
  Lane* a;   // A
  Lane* as;  // A S
  Lane* q;   // q
};

inline long inner_lanes(int e) { return 4L * e * e + e; }

inline InnerLayer inner_layer(Lane* kept, int e, int layer) {
  Lane* first = kept + layer * inner_lanes(e);
  const int ee = e * e;
  return {first, first + ee, first + 2 * ee, first + 3 * ee, first + 4 * ee};
}

// The state after a layer, and the quantities named in InnerLayer.
void inner_forward(const auto& g, int layer, const InnerLayer& l, Lane* next_s, Lane* next_q) {
  const int e = g.e;
  const int m = g.trained;
  const Constant p = p_of(g, layer);
  product(row_major(l.ps, e), p, input(l.s, e), m, m, e);
  if (m < e) {
    for (int j = 0; j < e; ++j) l.ps[m * e + j] = inverse_n(g) * l.s[m * e + j];
  }
  product(row_major(l.a, e), input(l.ps, e), q_of(g, layer), e, m, m);
  if (m < e) {
    for (int i = 0; i < e; ++i) l.a[i * e + m] = Lane{};
  }
  for (int i = 0; i < e; ++i) l.a[i * e + i] += 1.0;
  product(row_major(l.as, e), input(l.a, e), input(l.s, e), e, m, e);
  product(vector(next_q), input(l.a, e), input_vector(l.q), e, m, 1);
  if (m < e) {
    add(l.as + m * e, l.s + m * e, e);
    next_q[m] += l.q[m];
  }
  symmetric_product(row_major(next_s, e), input(l.as, e), input(l.a, e), e, m);
  if (m < e) {
    // The last column of A is that of I.
    for (int i = 0; i < e; ++i) {
      next_s[i * e + m] += l.as[i * e + m];
      if (i < m) next_s[m * e + i] = next_s[i * e + m];
    }
  }
}

// The last two layers, forwards: f = -[q']_e - sp . y.
struct Ending {
  Lane* q;       // before the last but one layer
  Lane* w1;      // Q q
  Lane* w2;      // S Q q
  Lane* q_next;  // q' = A q
  Lane* r1;      // P^T p
  Lane* r2;      // S P^T p
  Lane* u;       // A^T p
  Lane* v;       // S u
  Lane* x1;      // Q v
  Lane* x2;      // S Q v
  Lane* sp;      // S' p = A v
  Lane* y;       // Q' q', Q' of the last layer
};

constexpr int kEndingVectors = 12;

inline Ending ending(Lane* memory, int e) {
  const auto at = [&](int i) { return memory + i * e; };
  return {at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9), at(10), at(11)};
}

// The prediction from the state before the last two layers; with one layer, S' = S and q' = q.
Lane ending_forward(const auto& g, const Lane* s, const Ending& d) {
  const int e = g.e;
  const int m = g.trained;
  const int last = g.layers - 1;
  const double* p_last = last_p(g);
  if (last == 0) {
    for (int i = 0; i < e; ++i) d.q_next[i] = d.q[i];
    product(vector(d.sp), input(s, e), Constant{p_last, 1, 1}, e, e, 1);
  } else {
    const Constant p = p_of(g, last - 1);
    const Constant q = q_of(g, last - 1);
    times_q(g, q, d.q, d.w1);
    times_s(g, s, d.w1, m, d.w2);
    times_p(g, p, d.w2, d.q_next);
    add(d.q_next, d.q, e);
    for (int i = 0; i < e; ++i) {
      double sum = 0;
      for (int k = 0; k < e; ++k) sum += p(k, i) * p_last[k];
      d.r1[i] = Lane{} + sum;
    }
    times_s(g, s, d.r1, e, d.r2);
    times_q(g, q.transposed(), d.r2, d.u);
    if (m < e) d.u[m] = Lane{};
    for (int i = 0; i < e; ++i) d.u[i] += p_last[i];
    times_s(g, s, d.u, e, d.v);
    times_q(g, q, d.v, d.x1);
    times_s(g, s, d.x1, m, d.x2);
    times_p(g, p, d.x2, d.sp);
    add(d.sp, d.v, e);
  }
  times_q(g, q_of(g, last), d.q_next, d.y);
  Lane f = -d.q_next[e - 1];
  for (int i = 0; i < m; ++i) f -= d.sp[i] * d.y[i];
  return f;
}

// out += x y^T in its leading part.
inline void add_outer_product(Lane* out, const Lane* x, const Lane* y, int rows, int cols) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) out[i * cols + j] += x[i] * y[j];
  }
}

// Sums for the gradient, where those for P are not yet divided by n: parameter j's at sums[j].
struct Backward {
  Lane* sums;
  Lane* cs;  // C_S
  Lane* c;
  Lane* temporaries;  // 4 e^2
};

// The last two layers, backwards from w = dL/df; leaves C and c of the state before them.
void ending_reverse(const auto& g, const Lane* s, const Ending& d, Lane w, const Backward& b) {
  const int e = g.e;
  const int m = g.trained;
  const int last = g.layers - 1;
  Lane* next = b.temporaries;
  const auto take = [&] {
    Lane* mine = next;
    next += e;
    return mine;
  };
  Lane* dy = take();
  Lane* dsp = take();
  for (int i = 0; i < m; ++i) {
    dy[i] = -w * d.sp[i];
    dsp[i] = -w * d.y[i];
  }
  if (m < e) dsp[m] = Lane{};
  Lane* dq_next = take();
  times_q(g, q_of(g, last).transposed(), dy, dq_next);
  if (m < e) dq_next[m] = Lane{};
  dq_next[e - 1] -= w;
  add_outer_product(b.sums + first_q(g, last), dy, d.q_next, m, m);

  Lane* dp = take();
  if (last == 0) {
    times_s(g, s, dsp, e, dp);
  } else {
    const Constant p = p_of(g, last - 1);
    const Constant q = q_of(g, last - 1);
    // Through A^T, for q' = A q and for A v.
    Lane* a1 = take();  // P^T dq'
    Lane* a2 = take();  // S P^T dq'
    times_p(g, p.transposed(), dq_next, a1);
    times_s(g, s, a1, e, a2);
    Lane* b1 = take();  // P^T dsp
    Lane* b2 = take();
    times_p(g, p.transposed(), dsp, b1);
    times_s(g, s, b1, e, b2);
    Lane* dv = take();
    times_q(g, q.transposed(), b2, dv);
    if (m < e) dv[m] = Lane{};
    add(dv, dsp, e);
    Lane* du = take();
    times_s(g, s, dv, e, du);
    Lane* z1 = take();  // Q du
    Lane* z2 = take();  // S Q du
    times_q(g, q, du, z1);
    times_s(g, s, z1, m, z2);

    // dA = dq' q^T + dsp v^T + p du^T.
    const double* p_last = last_p(g);
    Lane* sum_p = b.sums + first_p(g, last - 1);
    Lane* sum_q = b.sums + first_q(g, last - 1);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < m; ++j) {
        sum_p[i * m + j] += dq_next[i] * d.w2[j] + dsp[i] * d.x2[j] + p_last[i] * z2[j];
        sum_q[i * m + j] += a2[i] * d.q[j] + b2[i] * d.v[j] + d.r2[i] * du[j];
      }
    }
    if (m == e) {
      times_p(g, p, z2, dp);  // dp = A du
      add(dp, du, e);
    }
    if (last > 1) {
      times_q(g, q.transposed(), a2, b.c);
      if (m < e) b.c[m] = Lane{};
      add(b.c, dq_next, e);
      // C_S = sym(dv u^T + a1 w1^T + b1 x1^T + r1 z1^T), where the last three are e x m.
      const auto half_at = [&](int i, int j) {
        Lane x = dv[i] * d.u[j];
        if (j < m) x += a1[i] * d.w1[j] + b1[i] * d.x1[j] + d.r1[i] * z1[j];
        return 0.5 * x;
      };
      for (int i = 0; i < e; ++i) {
        for (int j = i; j < e; ++j) {
          const Lane x = half_at(i, j) + half_at(j, i);
          b.cs[i * e + j] = x;
          b.cs[j * e + i] = x;
        }
      }
    }
  }
  if (m == e) add(b.sums + first_p(g, last) + (e - 1) * e, dp, e);
}

// A matrix layer, backwards: C and c before it from those after it.
void inner_reverse(const auto& g, int layer, const InnerLayer& l, const Backward& b) {
  const int e = g.e;
  const int m = g.trained;
  const Constant p = p_of(g, layer);
  Lane* big_g = b.temporaries;  // the first m columns of G, e x m
  Lane* w = big_g + e * e;      // W, e x m
  product(row_major(big_g, m), input(b.cs, e), input(l.as, e), e, e, m);
  for (int i = 0; i < e; ++i) {
    for (int j = 0; j < m; ++j) big_g[i * m + j] = 2.0 * big_g[i * m + j] + b.c[i] * l.q[j];
  }
  product(row_major(w, m), input(big_g, m), q_of(g, layer).transposed(), e, m, m);
  product<Store::kAdd>(
      row_major(b.sums + first_p(g, layer), m), input(w, m), input(l.s, e), m, m, m);
  product<Store::kAdd>(row_major(b.sums + first_q(g, layer), m),
                       input(l.ps, e).transposed(),
                       input(big_g, m),
                       m,
                       e,
                       m);
  if (layer == 0) return;
  Lane* t = w + e * e;  // C'_S A
  Lane* z = t + e * e;  // A^T C'_S A + P^T W
  product(row_major(t, e), input(b.cs, e), input(l.a, e), e, e, m);
  if (m < e) {
    for (int i = 0; i < e; ++i) t[i * e + m] = b.cs[i * e + m];
  }
  product(row_major(z, e), input(l.a, e).transposed(), input(t, e), m, e, e);
  if (m < e) {
    for (int j = 0; j < e; ++j) z[m * e + j] = t[m * e + j];
  }
  product<Store::kAdd>(row_major(z, e), p.transposed(), input(w, m), m, m, m);
  if (m < e) {
    for (int j = 0; j < m; ++j) z[m * e + j] += inverse_n(g) * w[m * m + j];
  }
  for (int i = 0; i < e; ++i) {
    for (int j = i; j < e; ++j) {
      const Lane x = 0.5 * (z[i * e + j] + z[j * e + i]);
      b.cs[i * e + j] = x;
      b.cs[j * e + i] = x;
    }
  }
  product(vector(t), input(l.a, e).transposed(), input_vector(b.c), m, e, 1);
  for (int i = 0; i < m; ++i) b.c[i] = t[i];
}

}  // namespace hesscope::HESSCOPE_ISA
