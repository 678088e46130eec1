// SPDX-License-Identifier: BSD-3-Clause
//
// Powers and logarithms.
#pragma once

#include <cmath>

namespace hesscope::detail {

// A quotient with that denominator; NaN if the denominator has left the range of double. The
// quotient would then be 0, but multiplied by derivatives of the argument, which are as large, it
// could be any number.
template <typename B>
B quotient_in_range(double numerator, const B& denominator) {
  return B(numerator) / denominator + B(0) * denominator;
}

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
    return quotient_in_range(-1, B(4) * x * f(x));
  }

  template <typename B>
  static B dddf(const B& x) {
    return quotient_in_range(3, B(8) * x * x * f(x));
  }

  template <typename B>
  static B ddddf(const B& x) {
    return quotient_in_range(-15, B(16) * x * x * x * f(x));
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

  template <typename B>
  static B ddddf(const B& x) {
    return B(0) * x;
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
    return quotient_in_range(-1, x * x);
  }

  template <typename B>
  static B dddf(const B& x) {
    return quotient_in_range(2, x * x * x);
  }

  template <typename B>
  static B ddddf(const B& x) {
    return quotient_in_range(-6, x * x * x * x);
  }
};

// log(1 + x); used in losses, never for an elementary node.
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

  // 2 / (1 + x)^3
  template <typename B>
  static B dddf(const B& x) {
    const B slope = df(x);
    return B(2) * slope * slope * slope;
  }

  // -6 / (1 + x)^4
  template <typename B>
  static B ddddf(const B& x) {
    const B squared = df(x) * df(x);
    return B(-6) * squared * squared;
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

  // 24 / x^5
  template <typename B>
  static B ddddf(const B& x) {
    return B(24) / (x * x * x * x * x);
  }
};

// x^c for a constant c; for whole numbers c computed without logarithms, so that x may be negative.
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

  // c (c-1) (c-2) (c-3) x^(c-4)
  template <typename B>
  B ddddf(const B& x) const {
    const double factor = exponent * (exponent - 1) * (exponent - 2) * (exponent - 3);
    return factor == 0 ? B(0) * x : B(factor) * raised(x, exponent - 4);
  }

 private:
  // Small whole powers are products: exact if the products are, and without a function call.
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
