// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel code (simd/lane.h). Second derivatives for one pack with respect to its states, layer by
// layer. Notation: layout.h.
#pragma once

#include <hesscope/structured/internal/linear_attention/cotangent.h>

namespace hesscope::HESSCOPE_ISA {

// f = -q_e - p^T S Q q: along dq, df/dS changes by -(p (Q dq)^T + (Q dq) p^T) / 2; along dS, df/dq
// by -Q^T dS p.
void last_layer(const auto& g, int pack) {
  const int e = g.e;
  const int s = state_entries(e);
  Lane* v = lanes(g.curvature) + static_cast<long>(pack) * s * s;
  for (long k = 0; k < static_cast<long>(s) * s; ++k) v[k] = Lane{};
  const Lane w = *last_layer_of(g, pack).w;
  const double* p = last_p(g);
  const Constant q = q_of(g, g.layers - 1);
  for (int i = 0; i < e; ++i) {
    for (int j = i; j < e; ++j) {
      for (int k = 0; k < e; ++k) {
        const Lane value = -0.5 * (p[i] * q(j, k) + p[j] * q(i, k)) * w;
        v[index_of_q(e, k) * s + index_of(e, i, j)] = value;
        v[index_of(e, i, j) * s + index_of_q(e, k)] = multiplicity(i, j) * value;
      }
    }
  }
}

// second[(a, j)][(a', j')] = d2 f / dA_aj dA_a'j' at a fixed state, from gx[x] = d2 f / dx' dA, the
// derivative of G with respect to the entries of the state after the layer.
void second_in_a(const auto& g, int pack, const Layer& l, const Lane* gx, Lane* c) {
  const int e = g.e;
  const int ee = e * e;
  Lane* second = lanes(g.second) + static_cast<long>(pack) * ee * ee;
  for (int aj = 0; aj < ee; ++aj) {
    const int a = aj / e;
    const int j = aj % e;
    expand_directions(c, e, [&](int x) { return gx[static_cast<long>(x) * ee + aj]; });
    const Matrix out = row_major(second + static_cast<long>(aj) * ee, e);
    product(out, read(c, e + 1), read(l.b, e), a + 1, e + 1, e);
    add_outer(
        out,
        [&](int i) { return 2.0 * l.c_next[a * (e + 1) + i]; },
        [&](int k) { return l.s[j * e + k]; },
        a + 1,
        e);
  }
  for (int aj = 0; aj < ee; ++aj) {
    for (int k = (aj / e + 1) * e; k < ee; ++k) {
      second[static_cast<long>(aj) * ee + k] = second[static_cast<long>(k) * ee + aj];
    }
  }
}

// One layer's contribution along a direction of the state before it.
template <typename G>
struct StateDirections {
  StateDirections(const G& group, int pack_index, int layer_index, Lane* scratch)
      : g(group),
        pack(pack_index),
        layer(layer_index),
        l(layer_of(group, pack_index, layer_index)) {
    const int e = g.e;
    const auto take = [&](int size) {
      Lane* mine = scratch;
      scratch += size;
      return mine;
    };
    k = take(e * e);
    qs = take(e * e);
    lp = take(e * e);
    la = take(e * e);
    pla = take(e * e);
    yq = take(e);
    pl = take(e);
    c = take(e * (e + 1));
    dg = take(e * e);
    z = take(e * e);
    t = take(e * e);
    const Constant p = p_of(g, layer);
    const Constant q = q_of(g, layer);
    const Strided<const Lane> c_next = read(l.c_next, e + 1);
    product(row_major(k, e), q, read(l.as, e).transposed(), e, e, e);
    product(row_major(qs, e), q, read(l.s, e), e, e, e);
    product(row_major(lp, e), c_next, p, e, e, e);
    product(row_major(la, e), c_next, read(l.a, e), e, e, e);
    product(row_major(pla, e), p.transposed(), read(la, e), e, e, e);
    for (int i = 0; i < e * e; ++i) {
      lp[i] *= 2.0;
      la[i] *= 2.0;
    }
    product(Matrix{yq, 1, 1}, q, Strided<const Lane>{l.q, 1, 1}, e, e, 1);
    product(Matrix{pl, 1, 1}, p.transposed(), Strided<const Lane>{l.c_next + e, e + 1, 1}, e, e, 1);
  }

  // dx' along dS = E_ij + E_ji (E_ii if i = j), where dA = P dS Q:
  // dS' = dA S A^T + A S dA^T + A dS A^T, dq' = dA q.
  void image_of_s(int i, int j, Lane* image) const {
    const int e = g.e;
    const Constant p = p_of(g, layer);
    const double half = 0.5 * multiplicity(i, j);  // the terms below count i = j twice
    int x = 0;
    for (int r = 0; r < e; ++r) {
      for (int col = r; col < e; ++col, ++x) {
        image[x] = half * (p(r, i) * k[j * e + col] + p(r, j) * k[i * e + col] +
                           p(col, i) * k[j * e + r] + p(col, j) * k[i * e + r] +
                           l.a[r * e + i] * l.a[col * e + j] + l.a[r * e + j] * l.a[col * e + i]);
      }
    }
    for (int r = 0; r < e; ++r, ++x) image[x] = half * (p(r, i) * yq[j] + p(r, j) * yq[i]);
  }

  void image_of_q(int i, Lane* image) const {
    const int e = g.e;
    const int s_entries = e * (e + 1) / 2;
    for (int x = 0; x < s_entries; ++x) image[x] = Lane{};
    for (int r = 0; r < e; ++r) image[s_entries + r] = l.a[r * e + i];
  }

  // mixed and the new curvature along dS, given the change of the cotangent after the layer.
  void finish_s(int i, int j, const Lane* change, Lane* curvature) {
    const int e = g.e;
    const double half = 0.5 * multiplicity(i, j);
    const Constant q = q_of(g, layer);
    expand(c, e, [&](int x) { return change[x]; });
    // dG = dC' B + 2 C'_S (dA S + A dS)
    product(row_major(dg, e), read(c, e + 1), read(l.b, e), e, e + 1, e);
    for (int r = 0; r < e; ++r) {
      const Lane pi = half * lp[r * e + i];
      const Lane pj = half * lp[r * e + j];
      for (int col = 0; col < e; ++col) {
        dg[r * e + col] += pi * qs[j * e + col] + pj * qs[i * e + col];
      }
      dg[r * e + j] += half * la[r * e + i];
      dg[r * e + i] += half * la[r * e + j];
    }
    // d(G Q^T S / n) and d((P S)^T G)
    lift_to_parameters();
    for (int r = 0; r < e; ++r) {
      z[r * e + j] += half * l.gqt[r * e + i];
      z[r * e + i] += half * l.gqt[r * e + j];
    }
    for (int col = 0; col < e; ++col) {
      const Lane pj = half * l.ptg[j * e + col];
      const Lane pi = half * l.ptg[i * e + col];
      t[i * e + col] += pj;
      t[j * e + col] += pi;
    }
    store_mixed(index_of(e, i, j));
    // d(A^T C'_S A + sym(P^T G Q^T)) and d(A^T c'); the terms in dA are
    // sym(dA^T (2 C'_S A)) = sym(Q_j (2 P_i^T C'_S A) + ...).
    pull_back(g, layer, l, c, dg, c, z, t);
    for (int r = 0; r < e; ++r) {
      const double qi = half * q(i, r);
      const double qj = half * q(j, r);
      for (int col = 0; col < e; ++col) {
        const Lane term = qj * pla[i * e + col] + qi * pla[j * e + col];
        c[r * (e + 1) + col] += term;
        c[col * (e + 1) + r] += term;
      }
      c[r * (e + 1) + e] += qj * pl[i] + qi * pl[j];
    }
    compress(curvature);
  }

  void finish_q(int i, const Lane* change, Lane* curvature) {
    const int e = g.e;
    expand(c, e, [&](int x) { return change[x]; });
    // dG = dC' B + c' e_i^T
    product(row_major(dg, e), read(c, e + 1), read(l.b, e), e, e + 1, e);
    for (int r = 0; r < e; ++r) dg[r * e + i] += l.c_next[r * (e + 1) + e];
    lift_to_parameters();
    store_mixed(index_of_q(e, i));
    pull_back(g, layer, l, c, dg, c, z, t);
    compress(curvature);
  }

  // z = dG Q^T S / n, t = (P S)^T dG, in their trained parts.
  void lift_to_parameters() const {
    const int e = g.e;
    const int m = g.trained;
    product(row_major(z, e), read(dg, e), read(l.qts, e), m, e, m);
    product(row_major(t, e), read(l.ps, e).transposed(), read(dg, e), m, e, m);
  }

  // Stores z and t in `mixed`: rows of P, then of Q.
  void store_mixed(int x) const {
    const int e = g.e;
    const int m = g.trained;
    const int s = state_entries(e);
    Lane* out = lanes(g.mixed) + static_cast<long>(pack) * 2 * m * m * s + x;
    for (int a = 0; a < m; ++a) {
      for (int b = 0; b < m; ++b) {
        out[static_cast<long>(a * m + b) * s] = z[a * e + b];
        out[static_cast<long>(m * m + a * m + b) * s] = t[a * e + b];
      }
    }
  }

  void compress(Lane* curvature) const {
    const int e = g.e;
    int x = 0;
    for (int i = 0; i < e; ++i) {
      for (int j = i; j < e; ++j, ++x) curvature[x] = c[i * (e + 1) + j];
    }
    for (int i = 0; i < e; ++i, ++x) curvature[x] = c[i * (e + 1) + e];
  }

  const G& g;
  int pack;
  int layer;
  Layer l;
  Lane* k;    // Q S A^T
  Lane* qs;   // Q S
  Lane* lp;   // 2 C'_S P
  Lane* la;   // 2 C'_S A
  Lane* pla;  // P^T C'_S A
  Lane* yq;   // Q q
  Lane* pl;   // P^T c'
  Lane* c;    // a cotangent
  Lane* dg;   // the change of G
  Lane* z;
  Lane* t;
};

void layer(const auto& g, int pack, int layer_index, double* scratch_data) {
  const int e = g.e;
  const int ee = e * e;
  const int s = state_entries(e);
  const Layer l = layer_of(g, pack, layer_index);
  Lane* v = lanes(g.curvature) + static_cast<long>(pack) * s * s;
  Lane* gx = lanes(scratch_data);  // s x e^2
  Lane* images = gx + static_cast<long>(s) * ee;
  Lane* changes = images + static_cast<long>(s) * s;
  Lane* rest = changes + static_cast<long>(s) * s;

  Lane* c = rest;
  // After the last layer but one, only mixed derivatives with respect to S and q are nonzero.
  const bool is_bilinear = layer_index == g.layers - 2;
  const int pairs = e * (e + 1) / 2;
  for (int x = 0; x < s; ++x) {
    const Lane* row = v + static_cast<long>(x) * s;
    if (is_bilinear && x < pairs) {
      const Matrix out = row_major(gx + static_cast<long>(x) * ee, e);
      product(out, Strided<const Lane>{row + pairs, 1, 1}, read(l.q, e), e, 1, e);
      continue;
    }
    expand(c, e, [&](int y) { return row[y]; });
    product(
        row_major(gx + static_cast<long>(x) * ee, e), read(c, e + 1), read(l.b, e), e, e + 1, e);
  }
  second_in_a(g, pack, l, gx, c);
  if (layer_index == 0) return;

  StateDirections directions(g, pack, layer_index, rest);
  int x = 0;
  for (int i = 0; i < e; ++i) {
    for (int j = i; j < e; ++j, ++x) directions.image_of_s(i, j, images + static_cast<long>(x) * s);
  }
  for (int i = 0; i < e; ++i, ++x) directions.image_of_q(i, images + static_cast<long>(x) * s);
  if (is_bilinear) {
    product(row_major(changes, s), read(images + pairs, s), read(v + pairs * s, s), s, e, pairs);
    product(row_major(changes + pairs, s), read(images, s), read(v + pairs, s), s, pairs, e);
  } else {
    product(row_major(changes, s), read(images, s), read(v, s), s, s, s);
  }
  x = 0;
  for (int i = 0; i < e; ++i) {
    for (int j = i; j < e; ++j, ++x) {
      directions.finish_s(i, j, changes + static_cast<long>(x) * s, v + static_cast<long>(x) * s);
    }
  }
  for (int i = 0; i < e; ++i, ++x) {
    directions.finish_q(i, changes + static_cast<long>(x) * s, v + static_cast<long>(x) * s);
  }
}

}  // namespace hesscope::HESSCOPE_ISA
