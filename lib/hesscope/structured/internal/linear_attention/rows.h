// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel code (simd/lane.h). Rows of H, summed over a group of packs. Notation: layout.h.
#pragma once

#include <hesscope/structured/internal/linear_attention/cotangent.h>

namespace hesscope::HESSCOPE_ISA {

struct RowScratch {
  Lane* cotangents;  // count x packs x e (e + 1)
  Lane* g;           // count x packs x e^2
  Lane* lifted;      // 2 trained^2 x packs
  Lane* z;
  Lane* t;
};

long row_scratch_lanes(const auto& g) {
  const long e = g.e;
  return static_cast<long>(kMaxRows) * g.packs * (e * (e + 1) + e * e) +
         2L * square(g.trained) * g.packs + 2 * e * e;
}

RowScratch row_scratch(const auto& g, double* data) {
  const long e = g.e;
  RowScratch s;
  s.cotangents = lanes(data);
  s.g = s.cotangents + kMaxRows * g.packs * e * (e + 1);
  s.lifted = s.g + kMaxRows * g.packs * e * e;
  s.z = s.lifted + 2L * square(g.trained) * g.packs;
  s.t = s.z + e * e;
  return s;
}

// An array of lanes in every pack's state, as vectors over packs and an inner index.
Family over_states(const auto& g, const Lane* of_pack_0, int stride, int inner_stride) {
  return {of_pack_0, stride, state_lanes(g), inner_stride};
}

// Row r of a block is parameter first + r * step.
struct RowBlock {
  long first;
  long step;
  int count;
};

// The columns P_ab, a < a_end, of a layer: sum_k X_r[a, k] Y[k, b].
void add_p_columns(const auto& g,
                   RowBlock block,
                   int layer,
                   int a_end,
                   const Lane* x,
                   int inner,
                   const Lane* y_of_pack_0) {
  const int e = g.e;
  const int m = g.trained;
  const long row_lanes = static_cast<long>(e) * inner;
  for (int a = 0; a < a_end; ++a) {
    dots(entry(g, block.first, first_p(g, layer) + a * m),
         block.step * g.ldh,
         1,
         {x + a * inner, g.packs * row_lanes, row_lanes, 1},
         over_states(g, y_of_pack_0, 1, e),
         block.count,
         m,
         g.packs,
         inner);
  }
}

// The columns Q_ab, a < a_end, of a layer: sum_i (P S)[i, a] X_r[i, b].
void add_q_columns(const auto& g, RowBlock block, int layer, int a_end, const Lane* x) {
  const int e = g.e;
  const int m = g.trained;
  const long row_lanes = static_cast<long>(e) * e;
  for (int b = 0; b < m; ++b) {
    dots(entry(g, block.first, first_q(g, layer) + b),
         block.step * g.ldh,
         m,
         {x + b, g.packs * row_lanes, row_lanes, e},
         over_states(g, layer_of(g, 0, layer).ps, 1, e),
         block.count,
         a_end,
         g.packs,
         e);
  }
}

// Visits every row of every pack, so that a pack's layer stays in cache for all rows.
template <typename F>
[[gnu::always_inline]] inline void for_each_row(const auto& g, int count, F body) {
  for (int pack = 0; pack < g.packs; ++pack) {
    for (int r = 0; r < count; ++r) body(pack, static_cast<long>(r) * g.packs + pack);
  }
}

// G = C B for every row and pack, from the cotangents after `layer`.
void lift_to_a(const auto& g, int count, int layer, const RowScratch& s) {
  const int e = g.e;
  for_each_row(g, count, [&](int pack, long i) {
    product(row_major(s.g + i * e * e, e),
            read(s.cotangents + i * e * (e + 1), e + 1),
            read(layer_of(g, pack, layer).b, e),
            e,
            e + 1,
            e);
  });
}

void pull_back_rows(const auto& g, int count, int layer, const RowScratch& s) {
  const int e = g.e;
  for_each_row(g, count, [&](int pack, long i) {
    Lane* c = s.cotangents + i * e * (e + 1);
    pull_back(g, layer, layer_of(g, pack, layer), c, s.g + i * e * e, c, s.z, s.t);
  });
}

// Columns of all layers before `layer`, from the rows' cotangents before it.
void add_columns_before(const auto& g, RowBlock block, int layer, const RowScratch& s) {
  for (int before = layer - 1; before >= 0; --before) {
    lift_to_a(g, block.count, before, s);
    add_p_columns(g, block, before, g.trained, s.cotangents, g.e + 1, layer_of(g, 0, before).u);
    add_q_columns(g, block, before, g.trained, s.g);
    if (before > 0) pull_back_rows(g, block.count, before, s);
  }
}

// Rows P_ab of a layer for one a and b = first, ...; or rows Q_ab for one b and a = first, ...
void layer_rows(const auto& g, int layer, Rows rows, double* scratch) {
  const int e = g.e;
  const int ee = e * e;
  const int m = g.trained;
  const int states = state_entries(e);
  const RowScratch s = row_scratch(g, scratch);
  const bool is_p = rows.kind == Rows::kP;
  const RowBlock block =
      is_p ? RowBlock{first_p(g, layer) + rows.fixed * m + rows.first, 1, rows.count}
           : RowBlock{first_q(g, layer) + rows.first * m + rows.fixed, m, rows.count};
  // Within the layer: d2 f / dA dA with both sides lifted.
  for (int pack = 0; pack < g.packs; ++pack) {
    const Layer l = layer_of(g, pack, layer);
    const Lane* second = lanes(g.second) + static_cast<long>(pack) * ee * ee;
    const Matrix out{s.g + static_cast<long>(pack) * ee, g.packs * ee, 1};
    if (is_p) {
      product(out,
              Strided<const Lane>{l.qts + rows.first, 1, e},
              Strided<const Lane>{second + static_cast<long>(rows.fixed) * e * ee, ee, 1},
              rows.count,
              e,
              (rows.fixed + 1) * e);
    } else {
      product(out,
              Strided<const Lane>{l.ps + rows.first, 1, e},
              Strided<const Lane>{second + static_cast<long>(rows.fixed) * ee, e * ee, 1},
              rows.count,
              e,
              ee);
    }
  }
  add_p_columns(g, block, layer, is_p ? rows.fixed + 1 : m, s.g, e, layer_of(g, 0, layer).qts);
  if (!is_p) {
    add_q_columns(g, block, layer, rows.first + rows.count, s.g);
    // d2 A = dP S dQ: G_{a' b} S_{b' a} / n at (Q_ab, P_a'b').
    const Layer l = layer_of(g, 0, layer);
    for (int r = 0; r < rows.count; ++r) {
      dots(entry(g, block.first + r * block.step, first_p(g, layer)),
           m,
           1,
           over_states(g, l.gn + rows.fixed, e, 0),
           over_states(g, l.s + (rows.first + r) * e, 1, 0),
           m,
           m,
           g.packs,
           1);
    }
  }
  if (layer == 0) return;
  for (int r = 0; r < rows.count; ++r) {
    for (int pack = 0; pack < g.packs; ++pack) {
      const long parameter = block.first + r * block.step - first_p(g, layer);
      const Lane* mixed =
          lanes(g.mixed) + (static_cast<long>(pack) * 2 * m * m + parameter) * states;
      expand_directions(s.cotangents + (static_cast<long>(r) * g.packs + pack) * e * (e + 1),
                        e,
                        [&](int x) { return mixed[x]; });
    }
  }
  add_columns_before(g, block, layer, s);
}

// Last layer, rows p_b: df/dp_b = -(S y)_b / n.
void last_p_rows(const auto& g, Rows rows, double* scratch) {
  const int e = g.e;
  const int last = g.layers - 1;
  const RowScratch s = row_scratch(g, scratch);
  const RowBlock block{first_p(g, last) + (e - 1) * e + rows.first, 1, rows.count};
  for (int r = 0; r < rows.count; ++r) {
    const int b = rows.first + r;
    for (int pack = 0; pack < g.packs; ++pack) {
      const LastLayer l = last_layer_of(g, pack);
      const Lane w = -inverse_n(g) * *l.w;
      Lane* c = s.cotangents + (static_cast<long>(r) * g.packs + pack) * e * (e + 1);
      for (int i = 0; i < e * (e + 1); ++i) c[i] = Lane{};
      for (int i = 0; i < e; ++i) {
        const Lane half = 0.5 * w * l.y[i];
        c[b * (e + 1) + i] += half;
        c[i * (e + 1) + b] += half;
        c[i * (e + 1) + e] = w * l.sq[b * e + i];
      }
    }
  }
  add_columns_before(g, block, last, s);
}

// Last layer, rows Q_ab: df/dQ_ab = -(S p)_a q_b has the tangent -(dS p)_a q_b - (S p)_a dq_b, so e
// + e cotangents suffice for all of them.
//   kLastQ, fixed = a: the first term of Q_ab for all b, and H(Q_ab, p_c) = -S_ca q_b / n.
//   kLastQState, fixed = b: the second term of Q_ab for all a.
void last_q_rows(const auto& g, Rows rows, double* scratch) {
  const int e = g.e;
  const int m = g.trained;
  const int last = g.layers - 1;
  const bool is_first_term = rows.kind == Rows::kLastQ;
  const RowScratch s = row_scratch(g, scratch);
  const double* p = last_p(g);
  const LastLayer l0 = last_layer_of(g, 0);
  const long first = first_q(g, last) + (is_first_term ? rows.fixed * m : rows.fixed);
  const long step = is_first_term ? 1 : m;
  const Family factor = over_states(g, is_first_term ? l0.wq : l0.minus_sp, 1, 0);
  if (is_first_term && m == e) {
    dots(entry(g, first, first_p(g, last) + (e - 1) * e),
         g.ldh,
         1,
         over_states(g, l0.wqn, 1, 0),
         over_states(g, l0.s + rows.fixed * e, 1, 0),
         m,
         e,
         g.packs,
         1);
  }
  for (int pack = 0; pack < g.packs; ++pack) {
    Lane* c = s.cotangents + static_cast<long>(pack) * e * (e + 1);
    for (int i = 0; i < e * (e + 1); ++i) c[i] = Lane{};
    if (is_first_term) {
      for (int i = 0; i < e; ++i) {
        c[rows.fixed * (e + 1) + i] += 0.5 * p[i];
        c[i * (e + 1) + rows.fixed] += 0.5 * p[i];
      }
    } else {
      c[rows.fixed * (e + 1) + e] = *last_layer_of(g, pack).w;
    }
  }
  for (int before = last - 1; before >= 0; --before) {
    lift_to_a(g, 1, before, s);
    for (int pack = 0; pack < g.packs; ++pack) {
      const Layer l = layer_of(g, pack, before);
      const Lane* c = s.cotangents + static_cast<long>(pack) * e * (e + 1);
      const Lane* dg = s.g + static_cast<long>(pack) * e * e;
      product(
          Matrix{s.lifted + pack, m * g.packs, g.packs}, read(c, e + 1), read(l.u, e), m, e + 1, m);
      product(Matrix{s.lifted + m * m * g.packs + pack, m * g.packs, g.packs},
              read(l.ps, e).transposed(),
              read(dg, e),
              m,
              e,
              m);
    }
    dots(entry(g, first, first_p(g, before)),
         step * g.ldh,
         1,
         factor,
         {s.lifted, g.packs, 1, 0},
         m,
         2 * m * m,
         g.packs,
         1);
    if (before > 0) pull_back_rows(g, 1, before, s);
  }
}

void rows(const auto& g, int layer, Rows rows, double* scratch) {
  switch (rows.kind) {
    case Rows::kP:
    case Rows::kQ:
      return layer_rows(g, layer, rows, scratch);
    case Rows::kLastP:
      return last_p_rows(g, rows, scratch);
    case Rows::kLastQ:
    case Rows::kLastQState:
      return last_q_rows(g, rows, scratch);
  }
}

}  // namespace hesscope::HESSCOPE_ISA
