// SPDX-License-Identifier: BSD-3-Clause
//
// The elementwise functions with their first two derivatives, written once for every base scalar
// (doubles, lanes, 50 digits). What happens at kinks is decided here and nowhere else: Jets never
// see a function, only the three numbers f(x), f'(x), f''(x).
#pragma once

#include <cmath>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/internal/lanes.h>

namespace hesscope::detail {

// Irrational constants to the precision of the base scalar; every base scalar must specialise it.
template <typename B>
struct BaseConstants;

template <int W, InstructionSet kSet>
struct BaseConstants<Lanes<W, kSet>> {
  using B = Lanes<W, kSet>;

  static B inverse_root_two_pi() { return B(0.398942280401432677939946059934); }

  static B root_half() { return B(0.707106781186547524400844362105); }
};

// Each function object gives f, f' and f'' at a base scalar x. Comparisons are arranged so that NaN
// in gives NaN out, values and derivatives alike.

struct AbsFunction {
  template <typename B>
  static B f(const B& x) {
    using std::abs;
    return abs(x);
  }

  // sign(x), 0 at 0
  template <typename B>
  static B df(const B& x) {
    return select(x > B(0), B(1), select(x < B(0), B(-1), x));
  }

  template <typename B>
  static B ddf(const B& x) {
    return B(0) * x;  // 0, and NaN for NaN or infinity
  }
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
};

struct ReluFunction {
  template <typename B>
  static B f(const B& x) {
    return select(x < B(0), B(0), x);
  }

  // 1 for x > 0, 0 for x <= 0
  template <typename B>
  static B df(const B& x) {
    return select(x > B(0), B(1), select(x < B(0), B(0), x));
  }

  template <typename B>
  static B ddf(const B& x) {
    return B(0) * x;
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
};

/// Calls visit(FunctionObject{}) for the function named.
template <typename Visitor>
void visit_elementary(Elementary function, Visitor visit) {
  switch (function) {
    case Elementary::kAbs:
      return visit(AbsFunction{});
    case Elementary::kExp:
      return visit(ExpFunction{});
    case Elementary::kGelu:
      return visit(GeluFunction{});
    case Elementary::kRelu:
      return visit(ReluFunction{});
    case Elementary::kSoftplus:
      return visit(SoftplusFunction{});
    case Elementary::kSqrt:
      return visit(SqrtFunction{});
    case Elementary::kSquare:
      return visit(SquareFunction{});
    case Elementary::kTanh:
      return visit(TanhFunction{});
  }
}

}  // namespace hesscope::detail
