// SPDX-License-Identifier: BSD-3-Clause
//
// Elementwise functions with a kink or a jump. What happens there is decided here alone: Jets never
// see a function, only the numbers f(x) to f''''(x). Comparisons are arranged so that NaN gives
// NaN, for values and derivatives alike.
#pragma once

#include <cmath>

#include <hesscope/autodiff/internal/lanes.h>

namespace hesscope::detail {

// Second derivative of functions that are linear on both sides of a kink: 0, and NaN for NaN or
// infinity.
struct PiecewiseLinear {
  template <typename B>
  static B ddf(const B& x) {
    return B(0) * x;
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

struct AbsFunction : PiecewiseLinear {
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
};

struct ReluFunction : PiecewiseLinear {
  template <typename B>
  static B f(const B& x) {
    return select(x < B(0), B(0), x);
  }

  // 1 for x > 0, 0 for x <= 0
  template <typename B>
  static B df(const B& x) {
    return select(x > B(0), B(1), select(x < B(0), B(0), x));
  }
};

// x clamped to two bounds, at which the slope is 1 (as in PyTorch's clamp).
struct ClipFunction {
  double lowest;
  double highest;

  template <typename B>
  B f(const B& x) const {
    return select(x < B(lowest), B(lowest), select(x > B(highest), B(highest), x));
  }

  template <typename B>
  B df(const B& x) const {
    const B inside = select(x != x, x, B(1));  // NOLINT(misc-redundant-expression): NaN
    return select(x < B(lowest), B(0), select(x > B(highest), B(0), inside));
  }

  template <typename B>
  B ddf(const B& x) const {
    return select(x != x, x, B(0));  // NOLINT(misc-redundant-expression): NaN
  }

  template <typename B>
  B dddf(const B& x) const {
    return ddf(x);
  }

  template <typename B>
  B ddddf(const B& x) const {
    return ddf(x);
  }
};

// x if x > 0, alpha (exp(x / beta) - 1) elsewhere: ELU with beta = 1, CELU with alpha = beta.
struct EluFunction {
  double alpha;
  double beta;

  template <typename B>
  B f(const B& x) const {
    using std::expm1;
    return select(x > B(0), x, B(alpha) * expm1(x / B(beta)));
  }

  // 1, or alpha / beta exp(x / beta)
  template <typename B>
  B df(const B& x) const {
    using std::exp;
    return select(x > B(0), B(1), B(alpha / beta) * exp(x / B(beta)));
  }

  // 0, or alpha / beta^2 exp(x / beta)
  template <typename B>
  B ddf(const B& x) const {
    using std::exp;
    return select(x > B(0), B(0), B(alpha / (beta * beta)) * exp(x / B(beta)));
  }

  // 0, or alpha / beta^3 exp(x / beta)
  template <typename B>
  B dddf(const B& x) const {
    using std::exp;
    return select(x > B(0), B(0), B(alpha / (beta * beta * beta)) * exp(x / B(beta)));
  }

  // 0, or alpha / beta^4 exp(x / beta)
  template <typename B>
  B ddddf(const B& x) const {
    using std::exp;
    return select(x > B(0), B(0), B(alpha / (beta * beta * beta * beta)) * exp(x / B(beta)));
  }
};

struct LeakyReluFunction {
  double slope;

  template <typename B>
  B f(const B& x) const {
    return select(x > B(0), x, B(slope) * x);
  }

  // 1 for x > 0, the slope for x <= 0
  template <typename B>
  B df(const B& x) const {
    // NOLINTNEXTLINE(misc-redundant-expression): NaN
    return select(x > B(0), B(1), select(x != x, x, B(slope)));
  }

  template <typename B>
  B ddf(const B& x) const {
    return select(x != x, x, B(0));  // NOLINT(misc-redundant-expression): NaN
  }

  template <typename B>
  B dddf(const B& x) const {
    return ddf(x);
  }

  template <typename B>
  B ddddf(const B& x) const {
    return ddf(x);
  }
};

struct SoftsignFunction {
  template <typename B>
  static B f(const B& x) {
    using std::abs;
    return x / (B(1) + abs(x));
  }

  // 1 / (1 + |x|)^2
  template <typename B>
  static B df(const B& x) {
    using std::abs;
    const B one_plus = B(1) + abs(x);
    return B(1) / (one_plus * one_plus);
  }

  // -2 sign(x) / (1 + |x|)^3, 0 at 0
  template <typename B>
  static B ddf(const B& x) {
    using std::abs;
    const B one_plus = B(1) + abs(x);
    return B(-2) * AbsFunction::df(x) / (one_plus * one_plus * one_plus);
  }

  // 6 / (1 + |x|)^4, on both sides of 0 and therefore also at 0
  template <typename B>
  static B dddf(const B& x) {
    using std::abs;
    const B one_plus = B(1) + abs(x);
    const B squared = one_plus * one_plus;
    return B(6) / (squared * squared);
  }

  // -24 sign(x) / (1 + |x|)^5, 0 at 0
  template <typename B>
  static B ddddf(const B& x) {
    using std::abs;
    const B one_plus = B(1) + abs(x);
    const B squared = one_plus * one_plus;
    return B(-24) * AbsFunction::df(x) / (squared * squared * one_plus);
  }
};

// Step functions: their slopes are never used.
struct Step : PiecewiseLinear {
  template <typename B>
  static B df(const B& x) {
    return B(0) * x;
  }
};

struct CeilFunction : Step {
  template <typename B>
  static B f(const B& x) {
    using std::ceil;
    return ceil(x);
  }
};

struct FloorFunction : Step {
  template <typename B>
  static B f(const B& x) {
    using std::floor;
    return floor(x);
  }
};

// Rounds to the nearest integer, halves to the even one.
struct RoundFunction : Step {
  template <typename B>
  static B f(const B& x) {
    using std::floor;
    const B below = floor(x);
    const B rest = x - below;
    const B even = B(2) * floor(x / B(2) + B(0.5));  // of the two neighbours of a half
    return select(rest == B(0.5), even, select(rest < B(0.5), below, below + B(1)));
  }
};

struct SignFunction : Step {
  template <typename B>
  static B f(const B& x) {
    return AbsFunction::df(x);
  }
};

}  // namespace hesscope::detail
