// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel code (simd/lane.h). Evaluates one pack forwards, and backwards for the gradient. Notation:
// layout.h.
#pragma once

#include <hesscope/structured/internal/linear_attention/cotangent.h>

namespace hesscope::HESSCOPE_ISA {

long pack_scratch_lanes(const auto& g) {
  const long e = g.e;
  const long s = state_entries(g.e);
  const long forward = e * (g.context + 1) + 4 * e * (e + 1);
  const long layer = s * e * e + 2 * s * s + 9 * e * (e + 1);
  return forward > layer ? forward : layer;
}

void forward(const auto& g, int pack, const double* const* prompts, Lane* scratch) {
  const int e = g.e;
  const int n = g.context;
  const int last = g.layers - 1;
  Lane* z = scratch;  // e x (n + 1)
  for (int k = 0; k < e * (n + 1); ++k) {
    for (int i = 0; i < kLanes; ++i) z[k][i] = prompts[i][k];
  }
  Lane* s = z + e * (n + 1);
  Lane* q = s + e * e;
  const Strided<const Lane> examples = read(z, n + 1);
  product(row_major(s, e), examples, examples.transposed(), e, n, e);
  for (int i = 0; i < e; ++i) q[i] = z[i * (n + 1) + n];
  for (int layer = 0; layer < last; ++layer) {
    const Layer l = layer_of(g, pack, layer);
    const Constant qt = q_of(g, layer).transposed();
    copy(l.s, s, e * e);
    copy(l.q, q, e);
    product(row_major(l.ps, e), p_of(g, layer), read(s, e), e, e, e);
    product(row_major(l.a, e), read(l.ps, e), q_of(g, layer), e, e, e);
    for (int i = 0; i < e; ++i) l.a[i * e + i] += 1.0;
    product(row_major(l.as, e), read(l.a, e), read(s, e), e, e, e);
    product(row_major(l.qts, e), qt, read(s, e), e, e, e);
    for (int k = 0; k < e * e; ++k) l.qts[k] *= inverse_n(g);
    for (int k = 0; k < e * e; ++k) l.b[k] = 2.0 * l.as[k];
    copy(l.b + e * e, q, e);
    product(row_major(l.u, e), read(l.b, e), read(l.qts, e), e + 1, e, e);
    product(Matrix{q, 1, 1}, read(l.a, e), Strided<const Lane>{l.q, 1, 1}, e, e, 1);
    product(row_major(s, e), read(l.as, e), read(l.a, e).transposed(), e, e, e);
    for (int i = 0; i < e; ++i) {
      for (int j = 0; j < i; ++j) s[i * e + j] = s[j * e + i];
    }
  }
  const LastLayer l = last_layer_of(g, pack);
  copy(l.s, s, e * e);
  copy(l.wq, q, e);  // q until the weight is known
  product(row_major(l.sq, e), read(s, e), q_of(g, last), e, e, e);
  product(Matrix{l.y, 1, 1}, q_of(g, last), Strided<const Lane>{q, 1, 1}, e, e, 1);
  product(Matrix{l.sp, 1, 1}, read(s, e), Strided<const double>{last_p(g), 1, 1}, e, e, 1);
}

// Gradient rows of a layer from G.
void store_gradient(const auto& g, int pack, int layer, const Layer& l, Lane active, Lane* t) {
  const int e = g.e;
  const int m = g.trained;
  const auto store = [&](long first) {
    for (int a = 0; a < m; ++a) {
      for (int b = 0; b < m; ++b) {
        lanes(g.gradients)[(first + a * m + b) * g.packs + pack] = active * t[a * e + b];
      }
    }
  };
  product(row_major(t, e), read(l.g, e), read(l.qts, e), e, e, e);
  store(first_p(g, layer));
  product(row_major(t, e), read(l.ps, e).transposed(), read(l.g, e), e, e, e);
  store(first_q(g, layer));
}

void forward_reverse(const auto& g,
                     int pack,
                     const double* const* prompts,
                     const double* targets,
                     const double* active_lanes,
                     double* scratch_data) {
  const int e = g.e;
  const int m = g.trained;
  const int last = g.layers - 1;
  Lane* scratch = lanes(scratch_data);
  forward(g, pack, prompts, scratch);

  Lane target;
  Lane active;
  for (int i = 0; i < kLanes; ++i) {
    target[i] = targets[i];
    active[i] = active_lanes[i];
  }
  const LastLayer l = last_layer_of(g, pack);
  const double* p = last_p(g);
  Lane* q = l.wq;
  Lane f = -q[e - 1];
  for (int i = 0; i < e; ++i) f -= l.sp[i] * l.y[i];
  const Lane w = (f - target) * active;
  *l.w = w;

  // The last layer's gradient of f.
  Lane* t = scratch;
  Lane* gradients = lanes(g.gradients);
  for (int k = 0; k < 2 * square(m); ++k)
    gradients[(first_p(g, last) + k) * g.packs + pack] = Lane{};
  if (m == e) {
    product(Matrix{t, 1, 1}, read(l.s, e), Strided<const Lane>{l.y, 1, 1}, e, e, 1);
    for (int b = 0; b < e; ++b) {
      gradients[(first_p(g, last) + (e - 1) * e + b) * g.packs + pack] =
          -inverse_n(g) * active * t[b];
    }
  }
  for (int a = 0; a < m; ++a) {
    for (int b = 0; b < m; ++b) {
      gradients[(first_q(g, last) + a * m + b) * g.packs + pack] = -active * l.sp[a] * q[b];
    }
  }
  // Its cotangent: df/dS = -(p y^T + y p^T) / 2, df/dq = -e_e - Q^T S p.
  Lane* c = t + e;
  for (int i = 0; i < e; ++i) {
    for (int j = 0; j < e; ++j) {
      c[i * (e + 1) + j] = -0.5 * (p[i] * l.y[j] + p[j] * l.y[i]);
    }
  }
  product(Matrix{c + e, e + 1, 1},
          q_of(g, last).transposed(),
          Strided<const Lane>{l.sp, 1, 1},
          e,
          e,
          1);
  for (int i = 0; i < e; ++i) c[i * (e + 1) + e] = -c[i * (e + 1) + e];
  c[(e - 1) * (e + 1) + e] -= 1.0;

  Lane* z = c + e * (e + 1);
  Lane* t2 = z + e * e;
  for (int layer = last - 1; layer >= 0; --layer) {
    const Layer k = layer_of(g, pack, layer);
    copy(k.c_next, c, e * (e + 1));
    product(row_major(k.g, e), read(c, e + 1), read(k.b, e), e, e + 1, e);
    store_gradient(g, pack, layer, k, active, t2);
    if (layer > 0) pull_back(g, layer, k, k.c_next, k.g, c, z, t2);
    // From here on the second derivatives of (f - t)^2 / 2 are built, so their starting values are
    // weighted.
    for (int i = 0; i < e * (e + 1); ++i) k.c_next[i] *= w;
    for (int i = 0; i < e * e; ++i) k.g[i] *= w;
    for (int i = 0; i < e * e; ++i) k.gn[i] = inverse_n(g) * k.g[i];
    product(row_major(k.gqt, e), read(k.gn, e), q_of(g, layer).transposed(), e, e, e);
    product(row_major(k.ptg, e), p_of(g, layer).transposed(), read(k.g, e), e, e, e);
  }
  for (int i = 0; i < e; ++i) {
    q[i] *= -w;
    l.wqn[i] = inverse_n(g) * q[i];
    l.minus_sp[i] = -l.sp[i];
  }
}

}  // namespace hesscope::HESSCOPE_ISA
