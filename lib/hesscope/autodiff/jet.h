// SPDX-License-Identifier: BSD-3-Clause
//
// Jet: a number that carries its derivatives.
//
// To differentiate a function of plain numbers, call hesscope::gradient, hessian or hessian_times
// (derivatives.h); they create the Jets. This header is for those who write such functions and want
// to know how they are evaluated, and for those who add a primitive.
//
// The idea. Replace x by x + d, d a formal infinitesimal with d^3 = 0, and carry on. By Taylor,
//
//   f(x + d) = f(x) + f'(x) d + 1/2 f''(x) d^2,
//
// so arithmetic on such truncated polynomials yields f, f' and f'' without a difference quotient:
// exact to rounding, whatever the step. In N variables d = (d_0, ..., d_{N-1}), and a Jet stores
//
//   value           f                   the constant term,
//   gradient[i]     df/dx_i             N numbers,
//   hessian         d2f/dx_i dx_j       i >= j: a packed lower triangle, Order 2 only.
//
// A worked example, f(x, y) = x y + x^2 at (3, 5), hessian entries in the order xx, yx, yy:
//
//   x         = {3, (1, 0), (0, 0, 0)}
//   y         = {5, (0, 1), (0, 0, 0)}
//   x y       = {15, 5 (1, 0) + 3 (0, 1), (0, 1, 0)} = {15, (5, 3), (0, 1, 0)}
//   x x       = {9, (6, 0), (2, 0, 0)}
//   x y + x x = {24, (11, 3), (2, 1, 0)}
//
// and indeed f = 24, f_x = y + 2 x = 11, f_y = x = 3, f_xx = 2, f_xy = 1, f_yy = 0.
//
// The algebra. Jets form a commutative ring with 1 = {1, 0, 0}; with a, b the values, A, B the
// gradients (columns) and P, Q the Hessians of two Jets,
//
//   {a, A, P} + {b, B, Q} = {a + b, A + B, P + Q}
//   {a, A, P}   {b, B, Q} = {a b, a B + b A, a Q + b P + A B' + B A'}
//
// and a function of one or two of them follows from its first and second partial derivatives alone:
//
//   f(a)    = {f, f' A,          f' P + f'' A A'}                 the unary chain rule
//   f(a, b) = {f, f_a A + f_b B, f_a P + f_b Q + f_aa A A'        the binary chain rule
//                                + f_ab (A B' + B A') + f_bb B B'}
//
// Each rule is written once below; a primitive (jet_functions.h) supplies only its partials.
//
// Why not ceres::Jet<ceres::Jet<double, N>, N>? It stores the gradient twice and both halves of the
// Hessian, does not mix with double, and at 0, a common initial weight, returns f'' = 0 for x^2
// written as pow(x, T(2)), f'' = inf for |x| and NaN for sqrt(x * x).
//
// Comparisons look at the value alone, so a function of Jets branches exactly as it does on
// doubles, and the derivatives are those of the branch taken. At points where a primitive has no
// derivative:
//
//   function              at            value    first    second
//   abs, fabs             0             0        0        0         as PyTorch
//   relu                  0             0        0        0         as PyTorch
//   hypot                 all 0         0        0        0         the tip of a cone
//   sqrt, pow(., 0.5)     0             0        +inf     -inf      one-sided limits
//   sqrt of x * x         0             0        0        0         it is |x|
//   cbrt                  0             0        +inf     NaN
//   pow(x, 2), ...        0             0        0        2         as products of x
//   pow(x, 1.5), ...      0             0        0        +inf      limits from x > 0
//   log, log2, log10      0             -inf     +inf     -inf
//   asin, acos            +-1           as std   +-inf    +-inf
//   acosh                 1             0        +inf     -inf
//   atanh                 +-1           +-inf    +inf     +-inf
//   lgamma                0, -1, ...    +inf     NaN      +inf
//   tgamma                +-0           +-inf    NaN      NaN
//   min, max, fmin, fmax  a tie         as std   of the first argument
//   fdim                  a tie         0        0        0
//   copysign(., w)        0             +-0      0        0         as abs
//   floor, round, ...     a jump        as std   0        0
//   fmod, remainder       a jump        as std   those of the branch that std takes
//   any                   outside its domain     NaN      NaN
//
// sqrt, cbrt and pow treat an argument that is 0 with zero gradient and Hessian as a constant, and
// return 0, 0, 0 there. This includes x^4, although sqrt(x^4) has the second derivative 2.
//
// A primitive with an infinite or undefined partial contributes nothing in directions in which its
// argument does not move: a zero entry of A (or P) counts as independence, not as 0 * inf = NaN. So
// sqrt of a constant 0 is a constant, grad sqrt(x) at (x, y) = 0 is (inf, 0), and a derivative does
// not depend on which other derivatives are computed along with it. If an argument moves towards a
// pole only at second order, as x * x does at 0 in log(x * x), the second derivative is NaN:
// depending on the function, the limit is an infinity of either sign or a number. Ring operations
// are plain floating point: NaN and infinities propagate.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstddef>
#include <type_traits>

#include <hesscope/core/constants.h>

namespace hesscope {

/// A double together with its derivatives with respect to N variables. See the top of this file.
///
/// Plain storage of doubles without padding, trivially copyable, aligned like double: it may be
/// stored in any container and passed by value. Converts implicitly from arithmetic types (as a
/// constant).
///
/// @tparam Order  1: gradient; 2: gradient and Hessian.
/// @tparam N      number of variables, at least 1.
/// @tparam M      second derivatives are kept for pairs (i, j) with j <= i and j < M, the first M
///                columns of the lower triangle. M = N is all of it; M = 1 gives one
///                Hessian-vector product.
template <int Order, int N, int M = N>
class Jet {
  static_assert(Order == 1 || Order == 2, "Jet carries derivatives of order 1 or 2");
  static_assert(N >= 1, "Jet needs at least one variable");
  static_assert(1 <= M && M <= N, "Jet keeps second derivatives for 1 to N columns");

  // Replaces `hessian` in a Jet of order 1: takes no space and reads as zeros.
  struct Nothing {
    double operator[](std::size_t /*k*/) const { return 0.0; }
  };

 public:
  static constexpr int kOrder = Order;
  static constexpr int kNumVariables = N;
  static constexpr int kNumColumns = M;
  static constexpr int kNumSecond = Order == 2 ? M * N - M * (M - 1) / 2 : 0;

  double value;
  std::array<double, std::size_t{N}> gradient;
  /// Columns of the lower triangle one after the other: (0,0) ... (N-1,0) (1,1) ... (N-1,1) (2,2)
  /// ...
  [[no_unique_address]] std::
      conditional_t<Order == 2, std::array<double, std::size_t{kNumSecond}>, Nothing>
          hessian;

  /// A constant.
  // NOLINTNEXTLINE(google-explicit-constructor): mixes with T
  Jet(double constant = 0.0) : value(constant) {
    gradient.fill(0.0);
    if constexpr (Order == 2) hessian.fill(0.0);
  }

  /// Variable number `index` of the N, with value `at`.
  static Jet variable(double at, int index) {
    Jet x(at);
    x.gradient[static_cast<std::size_t>(index)] = 1.0;
    return x;
  }

  /// Whether all derivatives are zero.
  bool is_constant() const {
    const auto is_zero = [](double derivative) { return derivative == 0.0; };
    if (!std::all_of(gradient.begin(), gradient.end(), is_zero)) return false;
    if constexpr (Order == 2) return std::all_of(hessian.begin(), hessian.end(), is_zero);
    return true;
  }

  /// d2/dx_i dx_j, in either order; NaN for a pair that is not stored, min(i, j) >= M.
  double second(int i, int j) const {
    static_assert(Order == 2, "second derivatives need a Jet of order 2");
    const int column = i < j ? i : j;
    if (column >= M) return kNaN;
    return hessian[packed(i + j - column, column)];
  }

  /// Position of (i, j), i >= j, j < M, in `hessian`.
  static constexpr std::size_t packed(int i, int j) {
    return static_cast<std::size_t>(j * N - j * (j - 1) / 2 + (i - j));
  }

  /// f(a) from f, f', f'' at a.value: the unary chain rule. f2 is not read for Order 1.
  static Jet unary(const Jet& a, double f, double f1, double f2) {
    if (std::isnan(f)) f1 = f2 = f;  // outside the domain
    if (std::isfinite(f1) && (Order == 1 || std::isfinite(f2))) {
      return chain<PlainProduct>(a, f, f1, f2);
    }
    return chain<IndependentProduct>(a, f, f1, f2);
  }

  /// Values of a function of two arguments and its partial derivatives.
  struct Partials {
    double f, f_a, f_b, f_aa, f_ab, f_bb;
  };

  /// f(a, b) from its partials at (a.value, b.value): the binary chain rule.
  static Jet binary(const Jet& a, const Jet& b, const Partials& p) {
    const bool finite =
        std::isfinite(p.f_a) && std::isfinite(p.f_b) &&
        (Order == 1 || (std::isfinite(p.f_aa) && std::isfinite(p.f_ab) && std::isfinite(p.f_bb)));
    return finite ? chain<PlainProduct>(a, b, p) : chain<IndependentProduct>(a, b, p);
  }

  Jet operator+() const { return *this; }

  Jet operator-() const {
    Jet r{Uninitialised()};
    r.value = -value;
    map_gradient(r, [&](std::size_t i) { return -gradient[i]; });
    map_hessian(r, [&](std::size_t i) { return -hessian[i]; });
    return r;
  }

  Jet& operator+=(const Jet& b) { return *this = *this + b; }

  Jet& operator-=(const Jet& b) { return *this = *this - b; }

  Jet& operator*=(const Jet& b) { return *this = *this * b; }

  Jet& operator/=(const Jet& b) { return *this = *this / b; }

  Jet& operator+=(double b) {
    value += b;
    return *this;
  }

  Jet& operator-=(double b) {
    value -= b;
    return *this;
  }

  Jet& operator*=(double b) { return *this = *this * b; }

  Jet& operator/=(double b) { return *this = *this / b; }

  friend Jet operator+(const Jet& a, const Jet& b) {
    Jet r{Uninitialised()};
    r.value = a.value + b.value;
    map_gradient(r, [&](std::size_t i) { return a.gradient[i] + b.gradient[i]; });
    map_hessian(r, [&](std::size_t i) { return a.hessian[i] + b.hessian[i]; });
    return r;
  }

  friend Jet operator+(Jet a, double b) { return a += b; }

  friend Jet operator+(double a, Jet b) { return b += a; }

  friend Jet operator-(const Jet& a, const Jet& b) {
    Jet r{Uninitialised()};
    r.value = a.value - b.value;
    map_gradient(r, [&](std::size_t i) { return a.gradient[i] - b.gradient[i]; });
    map_hessian(r, [&](std::size_t i) { return a.hessian[i] - b.hessian[i]; });
    return r;
  }

  friend Jet operator-(Jet a, double b) { return a -= b; }

  friend Jet operator-(double a, const Jet& b) { return -b + a; }

  // a Q + b P + A B' + B A'
  friend Jet operator*(const Jet& a, const Jet& b) {
    Jet r{Uninitialised()};
    r.value = a.value * b.value;
    map_gradient(r,
                 [&](std::size_t i) { return a.value * b.gradient[i] + b.value * a.gradient[i]; });
    map_pairs(r, [&](std::size_t k, std::size_t i, std::size_t j) {
      return (a.value * b.hessian[k] + b.value * a.hessian[k]) +
             (a.gradient[i] * b.gradient[j] + a.gradient[j] * b.gradient[i]);
    });
    return r;
  }

  friend Jet operator*(const Jet& a, double b) {
    Jet r{Uninitialised()};
    r.value = a.value * b;
    map_gradient(r, [&](std::size_t i) { return a.gradient[i] * b; });
    map_hessian(r, [&](std::size_t i) { return a.hessian[i] * b; });
    return r;
  }

  friend Jet operator*(double a, const Jet& b) { return b * a; }

  // q = a / b: differentiate q b = a. G_q = (A - q B) / b, H_q = (P - q Q - G_q B' - B G_q') / b.
  friend Jet operator/(const Jet& a, const Jet& b) {
    Jet q{Uninitialised()};
    q.value = a.value / b.value;
    map_gradient(
        q, [&](std::size_t i) { return (a.gradient[i] - q.value * b.gradient[i]) / b.value; });
    map_pairs(q, [&](std::size_t k, std::size_t i, std::size_t j) {
      return ((a.hessian[k] - q.value * b.hessian[k]) -
              (q.gradient[i] * b.gradient[j] + q.gradient[j] * b.gradient[i])) /
             b.value;
    });
    return q;
  }

  friend Jet operator/(const Jet& a, double b) {
    Jet r{Uninitialised()};
    r.value = a.value / b;
    map_gradient(r, [&](std::size_t i) { return a.gradient[i] / b; });
    map_hessian(r, [&](std::size_t i) { return a.hessian[i] / b; });
    return r;
  }

  friend Jet operator/(double a, const Jet& b) { return Jet(a) / b; }

  // Comparisons with Jets and arithmetic types; <, <=, >, >=, != and swapped arguments follow from
  // these.
  friend bool operator==(const Jet& a, const Jet& b) { return a.value == b.value; }

  friend bool operator==(const Jet& a, double b) { return a.value == b; }

  friend std::partial_ordering operator<=>(const Jet& a, const Jet& b) {
    return a.value <=> b.value;
  }

  friend std::partial_ordering operator<=>(const Jet& a, double b) { return a.value <=> b; }

 private:
  struct Uninitialised {};

  explicit Jet(Uninitialised /*tag*/) {}

  // The two ways in which a chain rule combines derivatives and partials: how they are multiplied,
  // and how the first partials times second derivatives are added to the second partials times
  // first derivatives.
  struct PlainProduct {
    double operator()(double partial, double derivative) const { return partial * derivative; }

    double sum(double first, double second) const { return first + second; }
  };

  // Used if a partial is not finite. A direction in which the argument does not move contributes
  // nothing, whatever the partial is. At a pole, f'' is infinitely larger than f', so where f'' A
  // A' is infinite, it is the whole sum. Where it is not, A moves on the way to the pole, and
  // neither term of the sum has a limit of its own.
  struct IndependentProduct {
    double operator()(double partial, double derivative) const {
      return derivative == 0.0 ? 0.0 : partial * derivative;
    }

    double sum(double first, double second) const {
      if (std::isinf(second)) return second;
      return std::isinf(first) ? kNaN : first + second;
    }
  };

  template <typename Entry>
  static void map_gradient(Jet& r, const Entry& entry) {
    for (std::size_t i = 0; i < N; ++i) r.gradient[i] = entry(i);
  }

  template <typename Entry>
  static void map_hessian(Jet& r, const Entry& entry) {
    if constexpr (Order == 2) {
      for (std::size_t k = 0; k < kNumSecond; ++k) r.hessian[k] = entry(k);
    }
  }

  // r.hessian[k] = entry(k, i, j) for all stored pairs i >= j, k the position of (i, j).
  template <typename Entry>
  static void map_pairs(Jet& r, const Entry& entry) {
    if constexpr (Order == 2) {
      for (std::size_t j = 0; j < M; ++j) {
        const std::size_t column = packed(static_cast<int>(j), static_cast<int>(j));
        for (std::size_t i = j; i < N; ++i)
          r.hessian[column + (i - j)] = entry(column + (i - j), i, j);
      }
    }
  }

  template <typename Product>
  static Jet chain(const Jet& a, double f, double f1, double f2) {
    constexpr Product times;
    Jet r{Uninitialised()};
    r.value = f;
    map_gradient(r, [&](std::size_t i) { return times(f1, a.gradient[i]); });
    map_pairs(r, [&](std::size_t k, std::size_t i, std::size_t j) {
      return times.sum(times(f1, a.hessian[k]), times(times(f2, a.gradient[j]), a.gradient[i]));
    });
    return r;
  }

  template <typename Product>
  static Jet chain(const Jet& a, const Jet& b, const Partials& p) {
    constexpr Product times;
    Jet r{Uninitialised()};
    r.value = p.f;
    map_gradient(r, [&](std::size_t i) {
      return times(p.f_a, a.gradient[i]) + times(p.f_b, b.gradient[i]);
    });
    map_pairs(r, [&](std::size_t k, std::size_t i, std::size_t j) {
      return times.sum(times(p.f_a, a.hessian[k]) + times(p.f_b, b.hessian[k]),
                       (times(times(p.f_aa, a.gradient[j]), a.gradient[i]) +
                        times(times(p.f_bb, b.gradient[j]), b.gradient[i])) +
                           (times(times(p.f_ab, a.gradient[j]), b.gradient[i]) +
                            times(times(p.f_ab, b.gradient[j]), a.gradient[i])));
    });
    return r;
  }
};

template <typename T>
inline constexpr bool kIsJet = false;

template <int Order, int N, int M>
inline constexpr bool kIsJet<Jet<Order, N, M>> = true;

template <typename T>
concept JetType = kIsJet<T>;

/// The same, but preferred in overload resolution to templates constrained by JetType: see
/// jet_std_names.h.
template <typename T>
concept AnyJet = JetType<T> && kIsJet<T>;

}  // namespace hesscope

#include <hesscope/autodiff/jet_eigen_traits.h>
#include <hesscope/autodiff/jet_functions.h>
