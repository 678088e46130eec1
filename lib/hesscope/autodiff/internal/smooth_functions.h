// SPDX-License-Identifier: BSD-3-Clause
//
// Smooth elementwise functions. In all of these headers, a function object gives f, f', f'', f'''
// and f'''' at a base scalar x (doubles, lanes or 50 digits).
#pragma once

#include <cmath>

#include <hesscope/autodiff/internal/kinked_functions.h>

namespace hesscope::detail {

// Irrational constants to the precision of the base scalar; every base scalar must specialise it.
template <typename B>
struct BaseConstants;

template <int W, InstructionSet kSet>
struct BaseConstants<Lanes<W, kSet>> {
  using B = Lanes<W, kSet>;

  static B inverse_root_two_pi() { return B(0.398942280401432677939946059934); }

  static B two_over_root_pi() { return B(1.12837916709551257389615890312); }

  static B root_half() { return B(0.707106781186547524400844362105); }
};

struct ExpFunction {
  template <typename B>
  static B f(const B& x) {
    using std::exp;
    return exp(x);
  }

  template <typename B>
  static B df(const B& x) {
    return f(x);
  }

  template <typename B>
  static B ddf(const B& x) {
    return f(x);
  }

  template <typename B>
  static B dddf(const B& x) {
    return f(x);
  }

  template <typename B>
  static B ddddf(const B& x) {
    return f(x);
  }
};

// x Phi(u), u = scale x
struct GeluFunction {
  double scale = 1;

  template <typename B>
  B argument(const B& x) const {
    return B(scale) * x;
  }

  // phi(u) = exp(-u^2 / 2) / sqrt(2 pi)
  template <typename B>
  static B density(const B& u) {
    using std::exp;
    return BaseConstants<B>::inverse_root_two_pi() * exp(u * u * B(-0.5));
  }

  // Phi(u) = erfc(-u / sqrt 2) / 2: relative accuracy in the left tail too
  template <typename B>
  static B distribution(const B& u) {
    if constexpr (requires { normal_distribution(u); }) {
      return normal_distribution(u);
    } else {
      using std::erfc;
      return erfc(-(u * BaseConstants<B>::root_half())) / B(2);
    }
  }

  template <typename B>
  B f(const B& x) const {
    return x * distribution(argument(x));
  }

  // Phi(u) + u phi(u)
  template <typename B>
  B df(const B& x) const {
    const B u = argument(x);
    return distribution(u) + u * density(u);
  }

  // scale (2 - u^2) phi(u), expanded so that phi = 0 prevails if u^2 overflows
  template <typename B>
  B ddf(const B& x) const {
    const B u = argument(x);
    const B phi = density(u);
    return B(scale) * (B(2) * phi - u * (u * phi));
  }

  // scale^2 (u^3 - 4 u) phi(u), expanded likewise
  template <typename B>
  B dddf(const B& x) const {
    const B u = argument(x);
    const B u_phi = u * density(u);
    return B(scale * scale) * (u * (u * u_phi) - B(4) * u_phi);
  }

  // scale^3 (7 u^2 - u^4 - 4) phi(u), expanded likewise
  template <typename B>
  B ddddf(const B& x) const {
    const B u = argument(x);
    const B phi = density(u);
    const B square_phi = u * (u * phi);
    return B(scale * scale * scale) * (B(7) * square_phi - u * (u * square_phi) - B(4) * phi);
  }
};

struct TanhFunction {
  template <typename B>
  static B f(const B& x) {
    using std::tanh;
    return tanh(x);
  }

  // 1 / cosh^2 = 4 e / (1 + e)^2 with e = exp(-2 |x|): 1 - tanh^2 would cancel
  template <typename B>
  static B df(const B& x) {
    using std::abs;
    using std::exp;
    const B e = exp(abs(x) * B(-2));
    const B inverse = B(1) / (B(1) + e);
    return B(4) * e * (inverse * inverse);
  }

  // -2 tanh / cosh^2
  template <typename B>
  static B ddf(const B& x) {
    return B(-2) * f(x) * df(x);
  }

  // (4 tanh^2 - 2 / cosh^2) / cosh^2
  template <typename B>
  static B dddf(const B& x) {
    const B value = f(x);
    const B slope = df(x);
    return slope * (B(4) * value * value - B(2) * slope);
  }

  // 8 tanh / cosh^2 (2 / cosh^2 - tanh^2)
  template <typename B>
  static B ddddf(const B& x) {
    const B value = f(x);
    const B slope = df(x);
    return B(8) * value * slope * (B(2) * slope - value * value);
  }
};

struct SoftplusFunction {
  // max(x, 0) + log(1 + exp(-|x|))
  template <typename B>
  static B f(const B& x) {
    using std::abs;
    using std::exp;
    using std::log1p;
    return ReluFunction::f(x) + log1p(exp(-abs(x)));
  }

  // 1 / (1 + exp(-x)), as exp(-|x|) / (1 + exp(-|x|)) on the negative side
  template <typename B>
  static B df(const B& x) {
    using std::abs;
    using std::exp;
    const B e = exp(-abs(x));
    return select(x < B(0), e, B(1)) * (B(1) / (B(1) + e));
  }

  // s(x) s(-x) = exp(-|x|) / (1 + exp(-|x|))^2
  template <typename B>
  static B ddf(const B& x) {
    using std::abs;
    using std::exp;
    const B e = exp(-abs(x));
    const B inverse = B(1) / (B(1) + e);
    return e * (inverse * inverse);
  }

  // s'(x) (1 - 2 s(x)), where 1 - 2 s(x) = -tanh(x / 2)
  template <typename B>
  static B dddf(const B& x) {
    using std::tanh;
    return -(ddf(x) * tanh(x / B(2)));
  }

  // s'(x) (t^2 - 2 s'(x)), t = tanh(x / 2)
  template <typename B>
  static B ddddf(const B& x) {
    using std::tanh;
    const B t = tanh(x / B(2));
    const B slope = ddf(x);
    return slope * (t * t - B(2) * slope);
  }
};

struct ErfFunction {
  template <typename B>
  static B f(const B& x) {
    using std::erf;
    return erf(x);
  }

  // 2 / sqrt(pi) exp(-x^2)
  template <typename B>
  static B df(const B& x) {
    using std::exp;
    return BaseConstants<B>::two_over_root_pi() * exp(-(x * x));
  }

  // -2 x f'(x), multiplied so that exp(-x^2) = 0 prevails if x overflows
  template <typename B>
  static B ddf(const B& x) {
    return B(-2) * (x * df(x));
  }

  // (4 x^2 - 2) f'(x), expanded likewise
  template <typename B>
  static B dddf(const B& x) {
    const B slope = df(x);
    return B(4) * (x * (x * slope)) - B(2) * slope;
  }

  // (12 x - 8 x^3) f'(x), expanded likewise
  template <typename B>
  static B ddddf(const B& x) {
    const B x_slope = x * df(x);
    return B(12) * x_slope - B(8) * (x * (x * x_slope));
  }
};

struct SigmoidFunction {
  // exp(-|x|) / (1 + exp(-|x|)) on the negative side, 1 / (1 + exp(-|x|)) on the other
  template <typename B>
  static B f(const B& x) {
    return SoftplusFunction::df(x);
  }

  // s(x) s(-x)
  template <typename B>
  static B df(const B& x) {
    return SoftplusFunction::ddf(x);
  }

  // s'(x) (1 - 2 s(x))
  template <typename B>
  static B ddf(const B& x) {
    return SoftplusFunction::dddf(x);
  }

  template <typename B>
  static B dddf(const B& x) {
    return SoftplusFunction::ddddf(x);
  }

  // s'(x) t (8 s'(x) - t^2), t = tanh(x / 2)
  template <typename B>
  static B ddddf(const B& x) {
    using std::tanh;
    const B t = tanh(x / B(2));
    const B slope = df(x);
    return slope * t * (B(8) * slope - t * t);
  }
};

}  // namespace hesscope::detail
