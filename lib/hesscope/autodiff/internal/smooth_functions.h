// SPDX-License-Identifier: BSD-3-Clause
//
// Smooth elementwise functions. For all of these headers: each function object gives f, f', f'' and
// f''' at a base scalar x, doubles and lanes and 50 digits alike.
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
};

struct GeluFunction {
  // phi(x) = exp(-x^2 / 2) / sqrt(2 pi)
  template <typename B>
  static B density(const B& x) {
    using std::exp;
    return BaseConstants<B>::inverse_root_two_pi() * exp(x * x / B(-2));
  }

  // Phi(x) = erfc(-x / sqrt 2) / 2: relative accuracy in the left tail too
  template <typename B>
  static B distribution(const B& x) {
    using std::erfc;
    return erfc(-(x * BaseConstants<B>::root_half())) / B(2);
  }

  template <typename B>
  static B f(const B& x) {
    return x * distribution(x);
  }

  // Phi(x) + x phi(x)
  template <typename B>
  static B df(const B& x) {
    return distribution(x) + x * density(x);
  }

  // (2 - x^2) phi(x), multiplied out so that phi = 0 wins where x^2 overflows
  template <typename B>
  static B ddf(const B& x) {
    const B phi = density(x);
    return B(2) * phi - x * (x * phi);
  }

  // (x^3 - 4 x) phi(x), multiplied out likewise
  template <typename B>
  static B dddf(const B& x) {
    const B x_phi = x * density(x);
    return x * (x * x_phi) - B(4) * x_phi;
  }
};

struct SqrtFunction {
  template <typename B>
  static B f(const B& x) {
    using std::sqrt;
    return sqrt(x);
  }

  template <typename B>
  static B df(const B& x) {
    return B(1) / (B(2) * f(x));
  }

  template <typename B>
  static B ddf(const B& x) {
    return B(-1) / (B(4) * x * f(x));
  }

  template <typename B>
  static B dddf(const B& x) {
    return B(3) / (B(8) * x * x * f(x));
  }
};

struct SquareFunction {
  template <typename B>
  static B f(const B& x) {
    return x * x;
  }

  template <typename B>
  static B df(const B& x) {
    return x + x;
  }

  template <typename B>
  static B ddf(const B& x) {
    return B(2) + B(0) * x;  // 2, and NaN for NaN
  }

  template <typename B>
  static B dddf(const B& x) {
    return B(0) * x;
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
    const B one_plus = B(1) + e;
    return B(4) * e / (one_plus * one_plus);
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
    return select(x < B(0), e, B(1)) / (B(1) + e);
  }

  // s(x) s(-x) = exp(-|x|) / (1 + exp(-|x|))^2
  template <typename B>
  static B ddf(const B& x) {
    using std::abs;
    using std::exp;
    const B e = exp(-abs(x));
    const B one_plus = B(1) + e;
    return e / (one_plus * one_plus);
  }

  // s'(x) (1 - 2 s(x)), where 1 - 2 s(x) = -tanh(x / 2)
  template <typename B>
  static B dddf(const B& x) {
    using std::tanh;
    return -(ddf(x) * tanh(x / B(2)));
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

  // -2 x f'(x), multiplied so that exp(-x^2) = 0 wins where x overflows
  template <typename B>
  static B ddf(const B& x) {
    return B(-2) * (x * df(x));
  }

  // (4 x^2 - 2) f'(x), multiplied out likewise
  template <typename B>
  static B dddf(const B& x) {
    const B slope = df(x);
    return B(4) * (x * (x * slope)) - B(2) * slope;
  }
};

struct LogFunction {
  template <typename B>
  static B f(const B& x) {
    using std::log;
    return log(x);
  }

  template <typename B>
  static B df(const B& x) {
    return B(1) / x;
  }

  template <typename B>
  static B ddf(const B& x) {
    return B(-1) / (x * x);
  }

  template <typename B>
  static B dddf(const B& x) {
    return B(2) / (x * x * x);
  }
};

// log(1 + x); of a loss, never of an elementary node: its third derivative is not asked for.
struct Log1pFunction {
  template <typename B>
  static B f(const B& x) {
    using std::log1p;
    return log1p(x);
  }

  template <typename B>
  static B df(const B& x) {
    return B(1) / (B(1) + x);
  }

  // -1 / (1 + x)^2
  template <typename B>
  static B ddf(const B& x) {
    const B slope = df(x);
    return -(slope * slope);
  }
};

struct ReciprocalFunction {
  template <typename B>
  static B f(const B& x) {
    return B(1) / x;
  }

  // -1 / x^2
  template <typename B>
  static B df(const B& x) {
    return B(-1) / (x * x);
  }

  // 2 / x^3
  template <typename B>
  static B ddf(const B& x) {
    return B(2) / (x * x * x);
  }

  // -6 / x^4
  template <typename B>
  static B dddf(const B& x) {
    return B(-6) / (x * x * x * x);
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

  // s'(x) (t^2 - 2 s'(x)), t = tanh(x / 2)
  template <typename B>
  static B dddf(const B& x) {
    using std::tanh;
    const B t = tanh(x / B(2));
    const B slope = df(x);
    return slope * (t * t - B(2) * slope);
  }
};

// x^c for a constant c; of whole numbers c without their logarithm, so that x may be negative.
struct PowerFunction {
  double exponent;

  template <typename B>
  B f(const B& x) const {
    return raised(x, exponent);
  }

  // c x^(c-1)
  template <typename B>
  B df(const B& x) const {
    return exponent == 0 ? B(0) * x : B(exponent) * raised(x, exponent - 1);
  }

  // c (c-1) x^(c-2)
  template <typename B>
  B ddf(const B& x) const {
    const double factor = exponent * (exponent - 1);
    return factor == 0 ? B(0) * x : B(factor) * raised(x, exponent - 2);
  }

  // c (c-1) (c-2) x^(c-3)
  template <typename B>
  B dddf(const B& x) const {
    const double factor = exponent * (exponent - 1) * (exponent - 2);
    return factor == 0 ? B(0) * x : B(factor) * raised(x, exponent - 3);
  }

 private:
  // Small whole powers are products: exact where the products are, and without a call.
  template <typename B>
  static B raised(const B& x, double c) {
    using std::pow;
    if (c == 0) return B(1) + B(0) * x;
    if (c == 1) return x;
    if (c == 2) return x * x;
    if (c == 3) return x * x * x;
    if (c == -1) return B(1) / x;
    return pow(x, B(c));
  }
};

}  // namespace hesscope::detail
