// SPDX-License-Identifier: BSD-3-Clause
//
// Third derivatives along pairs of directions: hyper-dual numbers.
//
// With d_k^2 = e_k^2 = 0, and products of different k omitted, a number
//
//   x = a + sum_k (u_k d_k + v_k e_k + w_k d_k e_k)
//
// carries its value, N pairs of slopes and, for each pair, the mixed second derivative:
//
//   x y    = a b + sum_k ((a u'_k + b u_k) d_k + (a v'_k + b v_k) e_k
//                         + (a w'_k + b w_k + u_k v'_k + v_k u'_k) d_k e_k),
//   phi(x) = phi + sum_k (phi' u_k d_k + phi' v_k e_k + (phi' w_k + phi'' u_k v_k) d_k e_k).
//
// If parameters theta + sum_k (u_k d_k + v_k e_k) are propagated forward and backward, the adjoints
// are
//
//   grad f + sum_k (H u_k d_k + H v_k e_k + T[u_k, v_k] d_k e_k).
//
// Source: Fike and Alonso (2011), The development of hyper-dual numbers for exact second-derivative
// calculations, AIAA 2011-886, section III.
#pragma once

#include <hesscope/autodiff/internal/jet_operators.h>
#include <hesscope/autodiff/internal/movement_kernels.h>

namespace hesscope::detail {

template <typename B, int N>
struct PairJet : JetOperators<PairJet<B, N>, B> {
  B a{};     // value
  B u[N]{};  // derivatives along the first directions
  B v[N]{};  // along the second
  B w[N]{};  // along both

  PairJet() = default;

  explicit PairJet(const B& constant) : a(constant) {}

  PairJet& operator+=(const PairJet& b) {
    a += b.a;
    for (int k = 0; k < N; ++k) u[k] += b.u[k];
    for (int k = 0; k < N; ++k) v[k] += b.v[k];
    for (int k = 0; k < N; ++k) w[k] += b.w[k];
    return *this;
  }

  PairJet& operator-=(const PairJet& b) {
    a -= b.a;
    for (int k = 0; k < N; ++k) u[k] -= b.u[k];
    for (int k = 0; k < N; ++k) v[k] -= b.v[k];
    for (int k = 0; k < N; ++k) w[k] -= b.w[k];
    return *this;
  }

  // Multiplies a and its slopes by a factor without slopes.
  PairJet& operator*=(const B& b) {
    a *= b;
    for (int k = 0; k < N; ++k) u[k] *= b;
    for (int k = 0; k < N; ++k) v[k] *= b;
    for (int k = 0; k < N; ++k) w[k] *= b;
    return *this;
  }

  // Differentiating q y = x: q' = (x' - q y') / y.
  friend PairJet operator/(const PairJet& x, const PairJet& y) {
    const B inverse = B(1) / y.a;
    PairJet q(x.a / y.a);
    for (int k = 0; k < N; ++k) {
      q.u[k] = (x.u[k] - q.a * y.u[k]) * inverse;
      q.v[k] = (x.v[k] - q.a * y.v[k]) * inverse;
      q.w[k] = (x.w[k] - q.a * y.w[k] - q.u[k] * y.v[k] - q.v[k] * y.u[k]) * inverse;
    }
    return q;
  }
};

template <typename B, int N>
struct BaseScalar<PairJet<B, N>> {
  using Type = B;
};

template <typename B, int N>
const B& base_value(const PairJet<B, N>& x) {
  return x.a;
}

template <typename M, typename B, int N>
PairJet<B, N> choose(const M& mask, const PairJet<B, N>& yes, const PairJet<B, N>& no) {
  PairJet<B, N> chosen(select(mask, yes.a, no.a));
  for (int k = 0; k < N; ++k) {
    chosen.u[k] = select(mask, yes.u[k], no.u[k]);
    chosen.v[k] = select(mask, yes.v[k], no.v[k]);
    chosen.w[k] = select(mask, yes.w[k], no.w[k]);
  }
  return chosen;
}

template <typename B, int N>
void multiply_add(PairJet<B, N>& acc, const PairJet<B, N>& x, const B& y) {
  acc.a += x.a * y;
  for (int k = 0; k < N; ++k) {
    acc.u[k] += x.u[k] * y;
    acc.v[k] += x.v[k] * y;
    acc.w[k] += x.w[k] * y;
  }
}

template <typename B, int N>
void multiply_add(PairJet<B, N>& acc, const B& x, const PairJet<B, N>& y) {
  multiply_add(acc, y, x);
}

template <typename B, int N>
void multiply_add(PairJet<B, N>& acc, const PairJet<B, N>& x, const PairJet<B, N>& y) {
  acc.a += x.a * y.a;
  for (int k = 0; k < N; ++k) {
    acc.u[k] += x.a * y.u[k] + y.a * x.u[k];
    acc.v[k] += x.a * y.v[k] + y.a * x.v[k];
    acc.w[k] += (x.a * y.w[k] + y.a * x.w[k]) + (x.u[k] * y.v[k] + x.v[k] * y.u[k]);
  }
}

template <typename B, int N>
struct Lifted<PairJet<B, N>> {
  template <typename Phi>
  static PairJet<B, N> apply(const PairJet<B, N>& x, const Phi& phi) {
    PairJet<B, N> y(phi.f(x.a));
    const B slope = phi.df(x.a);
    const B curvature = phi.ddf(x.a);
    for (int k = 0; k < N; ++k) {
      y.u[k] = slope * x.u[k];
      y.v[k] = slope * x.v[k];
      y.w[k] = slope * x.w[k] + curvature * (x.u[k] * x.v[k]);
    }
    return y;
  }
};

template <typename B, int N>
struct LanesOf<PairJet<B, N>> {
  static constexpr int kCount = LanesOf<B>::kCount;

  static void copy(PairJet<B, N>& to, const PairJet<B, N>& from, int lane) {
    LanesOf<B>::copy(to.a, from.a, lane);
    for (int k = 0; k < N; ++k) LanesOf<B>::copy(to.u[k], from.u[k], lane);
    for (int k = 0; k < N; ++k) LanesOf<B>::copy(to.v[k], from.v[k], lane);
    for (int k = 0; k < N; ++k) LanesOf<B>::copy(to.w[k], from.w[k], lane);
  }

  static void add(PairJet<B, N>& to, const PairJet<B, N>& from, int lane) {
    LanesOf<B>::add(to.a, from.a, lane);
    for (int k = 0; k < N; ++k) LanesOf<B>::add(to.u[k], from.u[k], lane);
    for (int k = 0; k < N; ++k) LanesOf<B>::add(to.v[k], from.v[k], lane);
    for (int k = 0; k < N; ++k) LanesOf<B>::add(to.w[k], from.w[k], lane);
  }
};

}  // namespace hesscope::detail
