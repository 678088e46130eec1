// SPDX-License-Identifier: BSD-3-Clause
//
// Trigonometric and hyperbolic functions and their inverses; tanh is among the smooth functions.
#pragma once

#include <cmath>

#include <hesscope/autodiff/internal/kinked_functions.h>

namespace hesscope::detail {

struct AsinFunction {
  template <typename B>
  static B f(const B& x) {
    using std::asin;
    return asin(x);
  }

  // 1 / sqrt(1 - x^2)
  template <typename B>
  static B df(const B& x) {
    using std::sqrt;
    return B(1) / sqrt((B(1) - x) * (B(1) + x));
  }

  // x / sqrt(1 - x^2)^3
  template <typename B>
  static B ddf(const B& x) {
    const B slope = df(x);
    return x * slope * slope * slope;
  }

  // f'^3 (1 + 3 x^2 f'^2)
  template <typename B>
  static B dddf(const B& x) {
    const B slope = df(x);
    const B x_slope = x * slope;
    return slope * slope * slope * (B(1) + B(3) * x_slope * x_slope);
  }

  // x f'^5 (9 + 15 x^2 f'^2)
  template <typename B>
  static B ddddf(const B& x) {
    const B slope = df(x);
    const B x_slope = x * slope;
    const B squared = slope * slope;
    return x_slope * squared * squared * (B(9) + B(15) * x_slope * x_slope);
  }
};

struct AcosFunction {
  template <typename B>
  static B f(const B& x) {
    using std::acos;
    return acos(x);
  }

  // -1 / sqrt(1 - x^2)
  template <typename B>
  static B df(const B& x) {
    return -AsinFunction::df(x);
  }

  // -x / sqrt(1 - x^2)^3
  template <typename B>
  static B ddf(const B& x) {
    return -AsinFunction::ddf(x);
  }

  template <typename B>
  static B dddf(const B& x) {
    return -AsinFunction::dddf(x);
  }

  template <typename B>
  static B ddddf(const B& x) {
    return -AsinFunction::ddddf(x);
  }
};

// Derivatives of a function whose slope is 1 / sqrt(x^2 + c), from that slope.
template <typename Function>
struct InverseHyperbolic {
  // -x f'^3
  template <typename B>
  static B ddf(const B& x) {
    const B slope = Function::df(x);
    return -(x * slope * slope * slope);
  }

  // f'^3 (3 x^2 f'^2 - 1)
  template <typename B>
  static B dddf(const B& x) {
    const B slope = Function::df(x);
    const B x_slope = x * slope;
    return slope * slope * slope * (B(3) * x_slope * x_slope - B(1));
  }

  // x f'^5 (9 - 15 x^2 f'^2)
  template <typename B>
  static B ddddf(const B& x) {
    const B slope = Function::df(x);
    const B x_slope = x * slope;
    const B squared = slope * slope;
    return x_slope * squared * squared * (B(9) - B(15) * x_slope * x_slope);
  }
};

struct AcoshFunction : InverseHyperbolic<AcoshFunction> {
  template <typename B>
  static B f(const B& x) {
    using std::acosh;
    return acosh(x);
  }

  // 1 / sqrt(x^2 - 1), whose square may overflow
  template <typename B>
  static B df(const B& x) {
    using std::sqrt;
    return B(1) / (sqrt(x - B(1)) * sqrt(x + B(1)));
  }
};

struct AsinhFunction : InverseHyperbolic<AsinhFunction> {
  template <typename B>
  static B f(const B& x) {
    using std::asinh;
    return asinh(x);
  }

  // 1 / sqrt(1 + x^2), whose square may overflow
  template <typename B>
  static B df(const B& x) {
    using std::sqrt;
    constexpr double kFar = 1e100;
    const B near = B(1) / sqrt(B(1) + x * x);
    return select(x > B(kFar), B(1) / x, select(x < B(-kFar), B(-1) / x, near));
  }
};

struct AtanFunction {
  template <typename B>
  static B f(const B& x) {
    using std::atan;
    return atan(x);
  }

  // 1 / (1 + x^2)
  template <typename B>
  static B df(const B& x) {
    return B(1) / (B(1) + x * x);
  }

  // -2 x / (1 + x^2)^2
  template <typename B>
  static B ddf(const B& x) {
    const B slope = df(x);
    return B(-2) * x * slope * slope;
  }

  // f'^2 (8 x^2 f' - 2)
  template <typename B>
  static B dddf(const B& x) {
    const B slope = df(x);
    return slope * slope * (B(8) * x * (x * slope) - B(2));
  }

  // 24 x f'^3 (1 - 2 x^2 f')
  template <typename B>
  static B ddddf(const B& x) {
    const B slope = df(x);
    return B(24) * x * slope * slope * slope * (B(1) - B(2) * x * (x * slope));
  }
};

struct AtanhFunction {
  template <typename B>
  static B f(const B& x) {
    using std::atanh;
    return atanh(x);
  }

  // 1 / (1 - x^2)
  template <typename B>
  static B df(const B& x) {
    return B(1) / ((B(1) - x) * (B(1) + x));
  }

  // 2 x / (1 - x^2)^2
  template <typename B>
  static B ddf(const B& x) {
    const B slope = df(x);
    return B(2) * x * slope * slope;
  }

  // f'^2 (8 x^2 f' + 2)
  template <typename B>
  static B dddf(const B& x) {
    const B slope = df(x);
    return slope * slope * (B(8) * x * (x * slope) + B(2));
  }

  // 24 x f'^3 (1 + 2 x^2 f')
  template <typename B>
  static B ddddf(const B& x) {
    const B slope = df(x);
    return B(24) * x * slope * slope * slope * (B(1) + B(2) * x * (x * slope));
  }
};

struct CosFunction {
  template <typename B>
  static B f(const B& x) {
    using std::cos;
    return cos(x);
  }

  template <typename B>
  static B df(const B& x) {
    using std::sin;
    return -sin(x);
  }

  template <typename B>
  static B ddf(const B& x) {
    using std::cos;
    return -cos(x);
  }

  template <typename B>
  static B dddf(const B& x) {
    using std::sin;
    return sin(x);
  }

  template <typename B>
  static B ddddf(const B& x) {
    using std::cos;
    return cos(x);
  }
};

struct CoshFunction {
  template <typename B>
  static B f(const B& x) {
    using std::cosh;
    return cosh(x);
  }

  template <typename B>
  static B df(const B& x) {
    using std::sinh;
    return sinh(x);
  }

  template <typename B>
  static B ddf(const B& x) {
    using std::cosh;
    return cosh(x);
  }

  template <typename B>
  static B dddf(const B& x) {
    using std::sinh;
    return sinh(x);
  }

  template <typename B>
  static B ddddf(const B& x) {
    using std::cosh;
    return cosh(x);
  }
};

struct SinFunction {
  template <typename B>
  static B f(const B& x) {
    using std::sin;
    return sin(x);
  }

  template <typename B>
  static B df(const B& x) {
    using std::cos;
    return cos(x);
  }

  template <typename B>
  static B ddf(const B& x) {
    using std::sin;
    return -sin(x);
  }

  template <typename B>
  static B dddf(const B& x) {
    using std::cos;
    return -cos(x);
  }

  template <typename B>
  static B ddddf(const B& x) {
    using std::sin;
    return sin(x);
  }
};

struct SinhFunction {
  template <typename B>
  static B f(const B& x) {
    using std::sinh;
    return sinh(x);
  }

  template <typename B>
  static B df(const B& x) {
    using std::cosh;
    return cosh(x);
  }

  template <typename B>
  static B ddf(const B& x) {
    using std::sinh;
    return sinh(x);
  }

  template <typename B>
  static B dddf(const B& x) {
    using std::cosh;
    return cosh(x);
  }

  template <typename B>
  static B ddddf(const B& x) {
    using std::sinh;
    return sinh(x);
  }
};

struct TanFunction {
  template <typename B>
  static B f(const B& x) {
    using std::tan;
    return tan(x);
  }

  // 1 + tan^2
  template <typename B>
  static B df(const B& x) {
    const B value = f(x);
    return B(1) + value * value;
  }

  // 2 tan (1 + tan^2)
  template <typename B>
  static B ddf(const B& x) {
    return B(2) * f(x) * df(x);
  }

  // 2 f' (f' + 2 tan^2)
  template <typename B>
  static B dddf(const B& x) {
    const B value = f(x);
    const B slope = df(x);
    return B(2) * slope * (slope + B(2) * value * value);
  }

  // 8 tan f' (2 f' + tan^2)
  template <typename B>
  static B ddddf(const B& x) {
    const B value = f(x);
    const B slope = df(x);
    return B(8) * value * slope * (B(2) * slope + value * value);
  }
};

}  // namespace hesscope::detail
