// SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives along lines: truncated Taylor series, propagated forwards.
//
// With t^5 = 0, and the lines kept separate, a number on line k
//
//   x = a + x_1 t + x_2 t^2 + x_3 t^3 + x_4 t^4,   x_p = (d/dt)^p x / p! at t = 0,
//
// has the value a, which all lines share, and four coefficients for each of N lines:
//
//   (x y)_p   = sum_{q=0..p} x_q y_{p-q},
//   (x / y)_p = (x_p - sum_{q=1..p} (x / y)_{p-q} y_q) / y_0,
//   phi(x)_1  = phi_1 x_1,
//   phi(x)_2  = phi_1 x_2 + phi_2 x_1^2,
//   phi(x)_3  = phi_1 x_3 + 2 phi_2 x_1 x_2 + phi_3 x_1^3,
//   phi(x)_4  = phi_1 x_4 + phi_2 (2 x_1 x_3 + x_2^2) + 3 phi_3 x_1^2 x_2 + phi_4 x_1^4,
//
// phi_p = phi^(p)(a) / p! (Faa di Bruno's formula). If parameters theta + t v_k are propagated
// through a graph, its output has the Taylor coefficients of f(theta + t v_k).
//
// Source: Griewank and Walther (2008), Evaluating derivatives, 2nd ed., SIAM, chapter 13.
#pragma once

#include <hesscope/autodiff/internal/jet_operators.h>
#include <hesscope/autodiff/internal/movement_kernels.h>

namespace hesscope::detail {

template <typename B, int N>
struct LineJet : JetOperators<LineJet<B, N>, B> {
  static constexpr int kOrder = 4;

  B a{};             // value
  B c[kOrder][N]{};  // c[p - 1][k]: coefficient p on line k

  LineJet() = default;

  explicit LineJet(const B& constant) : a(constant) {}

  LineJet& operator+=(const LineJet& y) {
    a += y.a;
    for_each([&](int p, int k) { c[p][k] += y.c[p][k]; });
    return *this;
  }

  LineJet& operator-=(const LineJet& y) {
    a -= y.a;
    for_each([&](int p, int k) { c[p][k] -= y.c[p][k]; });
    return *this;
  }

  LineJet& operator*=(const B& y) {
    a *= y;
    for_each([&](int p, int k) { c[p][k] *= y; });
    return *this;
  }

  friend LineJet operator/(const LineJet& x, const LineJet& y) {
    const B inverse = B(1) / y.a;
    LineJet quotient(x.a / y.a);
    auto& q = quotient.c;
    for (int k = 0; k < N; ++k) {
      for (int p = 0; p < kOrder; ++p) {
        B rest = x.c[p][k] - quotient.a * y.c[p][k];
        for (int r = 0; r < p; ++r) rest -= q[p - 1 - r][k] * y.c[r][k];
        q[p][k] = rest * inverse;
      }
    }
    return quotient;
  }

  // Calls visit(p, k) for all coefficients c[p][k].
  template <typename F>
  static void for_each(F visit) {
    for (int p = 0; p < kOrder; ++p) {
      for (int k = 0; k < N; ++k) visit(p, k);
    }
  }
};

template <typename B, int N>
struct BaseScalar<LineJet<B, N>> {
  using Type = B;
};

template <typename B, int N>
const B& base_value(const LineJet<B, N>& x) {
  return x.a;
}

template <typename M, typename B, int N>
LineJet<B, N> choose(const M& mask, const LineJet<B, N>& yes, const LineJet<B, N>& no) {
  LineJet<B, N> chosen(select(mask, yes.a, no.a));
  chosen.for_each([&](int p, int k) { chosen.c[p][k] = select(mask, yes.c[p][k], no.c[p][k]); });
  return chosen;
}

template <typename B, int N>
void multiply_add(LineJet<B, N>& acc, const LineJet<B, N>& x, const B& y) {
  acc.a += x.a * y;
  acc.for_each([&](int p, int k) { acc.c[p][k] += x.c[p][k] * y; });
}

template <typename B, int N>
void multiply_add(LineJet<B, N>& acc, const B& x, const LineJet<B, N>& y) {
  multiply_add(acc, y, x);
}

template <typename B, int N>
void multiply_add(LineJet<B, N>& acc, const LineJet<B, N>& x, const LineJet<B, N>& y) {
  acc.a += x.a * y.a;
  acc.for_each([&](int p, int k) {
    B sum = x.a * y.c[p][k] + y.a * x.c[p][k];
    for (int q = 0; q < p; ++q) sum += x.c[q][k] * y.c[p - 1 - q][k];
    acc.c[p][k] += sum;
  });
}

template <typename B, int N>
struct Lifted<LineJet<B, N>> {
  template <typename Phi>
  static LineJet<B, N> apply(const LineJet<B, N>& x, const Phi& phi) {
    LineJet<B, N> y(phi.f(x.a));
    const B phi_1 = phi.df(x.a);
    const B phi_2 = phi.ddf(x.a) * B(0.5);
    const B phi_3 = phi.dddf(x.a) / B(6);
    const B phi_4 = phi.ddddf(x.a) / B(24);
    for (int k = 0; k < N; ++k) {
      const B& x_1 = x.c[0][k];
      const B& x_2 = x.c[1][k];
      const B& x_3 = x.c[2][k];
      const B squared = x_1 * x_1;
      y.c[0][k] = phi_1 * x_1;
      y.c[1][k] = phi_1 * x_2 + phi_2 * squared;
      y.c[2][k] = phi_1 * x_3 + x_1 * (B(2) * phi_2 * x_2 + phi_3 * squared);
      y.c[3][k] = phi_1 * x.c[3][k] + phi_2 * (B(2) * x_1 * x_3 + x_2 * x_2) +
                  squared * (B(3) * phi_3 * x_2 + phi_4 * squared);
    }
    return y;
  }
};

template <typename B, int N>
struct LanesOf<LineJet<B, N>> {
  static constexpr int kCount = LanesOf<B>::kCount;

  static void copy(LineJet<B, N>& to, const LineJet<B, N>& from, int lane) {
    LanesOf<B>::copy(to.a, from.a, lane);
    to.for_each([&](int p, int k) { LanesOf<B>::copy(to.c[p][k], from.c[p][k], lane); });
  }
};

}  // namespace hesscope::detail
