// SPDX-License-Identifier: BSD-3-Clause
//
// The functions of <cmath> for Jets; include <hesscope/autodiff/jet.h>, which includes this.
//
// They are found by argument-dependent lookup, so that one source works for doubles and Jets:
//
//   using std::exp;  return exp(x);      // not std::exp(x), which knows no Jets
//
// Functions of one argument are here, those of more in jet_binary_functions.h. Not provided are the
// Bessel, Legendre, elliptic, zeta and beta functions of <cmath>, and functions that take numbers
// apart (frexp, ldexp, modf, nextafter, ...).
//
// The calculus of each function is stated in one line above it, where v is the value of x; f1 and
// f2 are f' and f''. Formulas are chosen to keep relative accuracy (1 / cosh^2 rather than 1 -
// tanh^2, ...). The table in jet.h says what happens where there is no derivative.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>

#include <hesscope/autodiff/gamma_functions.h>
#include <hesscope/autodiff/jet.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>

namespace hesscope {

namespace detail {

// Whether products with x stay in the range of double for all but the most extreme factors. 0
// counts as out of range, because it may be an underflow.
inline bool is_far_from_limits(double x) {
  return std::abs(x) >= 0x1p-340 && std::abs(x) <= 0x1p340;
}

// A function f of v with f' = c1 s and f'' = c2 s^2. These may leave the range of double although
// c1, c2, s, and s times the derivatives of x, do not: log'' is -exp(-800) at exp(400), while the
// derivatives of the argument are large. In that case f is treated as a function of u = s x, with
// respect to which its derivatives are c1 and c2.
template <AnyJet J>
J scaled_unary(const J& x, double f, double f1, double f2, double c1, double c2, double s) {
  const bool is_plain = is_far_from_limits(f1) && is_far_from_limits(f2);
  const bool may_be_scaled =
      std::isnormal(s) && std::isnormal(c1) && (std::isnormal(c2) || c2 == 0.0);
  return is_plain || !may_be_scaled ? J::unary(x, f, f1, f2) : J::unary(x * s, f, c1, c2);
}

}  // namespace detail

/// The value without its derivatives: the explicit way to drop them.
inline double value_of(double x) { return x; }

template <AnyJet J>
double value_of(const J& x) {
  return x.value;
}

// Like comparisons, these consider the value only.
template <AnyJet J>
bool isfinite(const J& x) {
  return std::isfinite(x.value);
}

template <AnyJet J>
bool isnan(const J& x) {
  return std::isnan(x.value);
}

template <AnyJet J>
bool isinf(const J& x) {
  return std::isinf(x.value);
}

template <AnyJet J>
bool signbit(const J& x) {
  return std::signbit(x.value);
}

// |v|' = sign(v), 0 at 0
template <AnyJet J>
J abs(const J& x) {
  const double v = x.value;
  const double sign = v > 0.0 ? 1.0 : (v < 0.0 ? -1.0 : v);  // keeps NaN
  return J::unary(x, std::abs(v), sign, 0.0);
}

template <AnyJet J>
J fabs(const J& x) {
  return abs(x);
}

/// max(x, 0) with slope 0 at 0.
inline double relu(double x) { return x < 0.0 ? 0.0 : x; }

// relu' = 1 for v > 0, else 0
template <AnyJet J>
J relu(const J& x) {
  return x.value > 0.0 ? x : J::unary(x, relu(x.value), 0.0, 0.0);
}

inline double square(double x) { return x * x; }

// (v^2)' = 2 v, (v^2)'' = 2
template <AnyJet J>
J square(const J& x) {
  return J::unary(x, x.value * x.value, 2.0 * x.value, 2.0);
}

// f = sqrt(v), f' = 1 / (2 f), f'' = -f' / (2 v). Two cases at v = 0, for each entry of the result:
//   1. the argument moves at first order in x_i or x_j: one-sided limits, infinite.
//   2. it does not, as x_i * x_i at 0: with u = c d^2, sqrt(u) = sqrt(c) |d|, and |.| has slope 0
//      at its kink.
template <AnyJet J>
J sqrt(const J& x) {
  const double v = x.value + 0.0;  // -0 becomes +0
  const double f = std::sqrt(v);
  const double f1 = 0.5 / f;
  const double f2 = -0.5 * f1 / v;
  if constexpr (J::kOrder == 2 && J::kNumVariables != Eigen::Dynamic) {
    if (v == 0.0) {
      J moving = x;
      for (int j = 0; j < J::kNumColumns; ++j) {
        for (int i = j; i < J::kNumVariables; ++i) {
          const bool case_2 = x.gradient[static_cast<std::size_t>(i)] == 0.0 &&
                              x.gradient[static_cast<std::size_t>(j)] == 0.0;
          if (case_2) moving.hessian[J::packed(i, j)] = 0.0;
        }
      }
      return J::unary(moving, f, f1, f2);
    }
  }
  return detail::scaled_unary(x, f, f1, f2, 0.5 * f, -0.25 * f, 1.0 / v);
}

// f = cbrt(v), f' = 1 / (3 f^2), f'' = -2 f' / (3 v); odd around 0, so that f'' has no limit there
template <AnyJet J>
J cbrt(const J& x) {
  const double v = x.value;
  const double f = std::cbrt(v);
  const double f1 = 1.0 / (3.0 * f * f);
  const double f2 = v == 0.0 ? kNaN : -2.0 * f1 / (3.0 * v);
  return detail::scaled_unary(x, f, f1, f2, f / 3.0, -2.0 * f / 9.0, 1.0 / v);
}

// exp' = exp
template <AnyJet J>
J exp(const J& x) {
  const double f = std::exp(x.value);
  return J::unary(x, f, f, f);
}

// (2^v)' = 2^v ln 2
template <AnyJet J>
J exp2(const J& x) {
  constexpr double kLn2 = std::numbers::ln2;
  const double f = std::exp2(x.value);
  return J::unary(x, f, f * kLn2, f * kLn2 * kLn2);
}

// (exp(v) - 1)' = exp(v)
template <AnyJet J>
J expm1(const J& x) {
  const double f1 = std::exp(x.value);
  return J::unary(x, std::expm1(x.value), f1, f1);
}

// log' = 1 / v, log'' = -1 / v^2
template <AnyJet J>
J log(const J& x) {
  const double f1 = 1.0 / (x.value + 0.0);  // -0 becomes +0
  return detail::scaled_unary(x, std::log(x.value), f1, -f1 * f1, 1.0, -1.0, f1);
}

// log(v) / ln 2
template <AnyJet J>
J log2(const J& x) {
  const double inverse = 1.0 / (x.value + 0.0);
  constexpr double k = std::numbers::log2e;
  const double f1 = inverse * k;
  return detail::scaled_unary(x, std::log2(x.value), f1, -f1 * inverse, k, -k, inverse);
}

// log(v) / ln 10
template <AnyJet J>
J log10(const J& x) {
  const double inverse = 1.0 / (x.value + 0.0);
  constexpr double k = std::numbers::log10e;
  const double f1 = inverse * k;
  return detail::scaled_unary(x, std::log10(x.value), f1, -f1 * inverse, k, -k, inverse);
}

// log(1 + v)' = 1 / (1 + v)
template <AnyJet J>
J log1p(const J& x) {
  const double f1 = 1.0 / (1.0 + x.value);
  return detail::scaled_unary(x, std::log1p(x.value), f1, -f1 * f1, 1.0, -1.0, f1);
}

// sin' = cos, sin'' = -sin
template <AnyJet J>
J sin(const J& x) {
  const double f = std::sin(x.value);
  return J::unary(x, f, std::cos(x.value), -f);
}

// cos' = -sin, cos'' = -cos
template <AnyJet J>
J cos(const J& x) {
  const double f = std::cos(x.value);
  return J::unary(x, f, -std::sin(x.value), -f);
}

// f = tan(v), f' = 1 + f^2, f'' = 2 f f'
template <AnyJet J>
J tan(const J& x) {
  const double f = std::tan(x.value);
  const double f1 = 1.0 + f * f;
  return J::unary(x, f, f1, 2.0 * f * f1);
}

// asin' = 1 / sqrt(1 - v^2), asin'' = v asin'^3
template <AnyJet J>
J asin(const J& x) {
  const double v = x.value;
  const double f1 = 1.0 / std::sqrt((1.0 - v) * (1.0 + v));
  return J::unary(x, std::asin(v), f1, v * f1 * f1 * f1);
}

// acos = pi / 2 - asin
template <AnyJet J>
J acos(const J& x) {
  const double v = x.value;
  const double f1 = -1.0 / std::sqrt((1.0 - v) * (1.0 + v));
  return J::unary(x, std::acos(v), f1, v * f1 * f1 * f1);
}

// atan' = 1 / (1 + v^2), atan'' = -2 v atan'^2
template <AnyJet J>
J atan(const J& x) {
  const double f1 = 1.0 / (1.0 + x.value * x.value);
  return J::unary(x, std::atan(x.value), f1, -2.0 * x.value * f1 * f1);
}

// sinh' = cosh, sinh'' = sinh
template <AnyJet J>
J sinh(const J& x) {
  const double f = std::sinh(x.value);
  return J::unary(x, f, std::cosh(x.value), f);
}

// cosh' = sinh, cosh'' = cosh
template <AnyJet J>
J cosh(const J& x) {
  const double f = std::cosh(x.value);
  return J::unary(x, f, std::sinh(x.value), f);
}

// f = tanh(v), f' = 1 / cosh(v)^2, f'' = -2 f f'
template <AnyJet J>
J tanh(const J& x) {
  const double f = std::tanh(x.value);
  const double sech = 1.0 / std::cosh(x.value);
  const double f1 = sech * sech;
  return J::unary(x, f, f1, -2.0 * f * f1);
}

// asinh' = 1 / sqrt(1 + v^2), asinh'' = -v asinh'^3
template <AnyJet J>
J asinh(const J& x) {
  const double v = x.value;
  const double f1 = 1.0 / std::hypot(1.0, v);
  return detail::scaled_unary(x, std::asinh(v), f1, -(v * f1) * f1 * f1, 1.0, -v * f1, f1);
}

// acosh' = 1 / sqrt(v^2 - 1), acosh'' = -v acosh'^3
template <AnyJet J>
J acosh(const J& x) {
  const double v = x.value;
  const double f1 = 1.0 / (std::sqrt(v - 1.0) * std::sqrt(v + 1.0));
  return detail::scaled_unary(x, std::acosh(v), f1, -(v * f1) * f1 * f1, 1.0, -v * f1, f1);
}

// atanh' = 1 / (1 - v^2), atanh'' = 2 v atanh'^2
template <AnyJet J>
J atanh(const J& x) {
  const double v = x.value;
  const double f1 = 1.0 / ((1.0 - v) * (1.0 + v));
  return J::unary(x, std::atanh(v), f1, 2.0 * v * f1 * f1);
}

// erf' = 2 / sqrt(pi) exp(-v^2), erf'' = -2 v erf'
template <AnyJet J>
J erf(const J& x) {
  const double v = x.value;
  const double f1 = 2.0 * std::numbers::inv_sqrtpi * std::exp(-v * v);
  return J::unary(x, std::erf(v), f1, -2.0 * v * f1);
}

// erfc = 1 - erf
template <AnyJet J>
J erfc(const J& x) {
  const double v = x.value;
  const double f1 = -2.0 * std::numbers::inv_sqrtpi * std::exp(-v * v);
  return J::unary(x, std::erfc(v), f1, -2.0 * v * f1);
}

// lgamma' is the digamma function, lgamma'' the trigamma function
template <AnyJet J>
J lgamma(const J& x) {
  const double v = x.value;
  return J::unary(x, detail::log_gamma(v), detail::digamma(v), detail::trigamma(v));
}

// With psi the digamma function: tgamma' = tgamma psi, tgamma'' = tgamma (psi^2 + psi')
template <AnyJet J>
J tgamma(const J& x) {
  const double f = std::tgamma(x.value);
  const double psi = detail::digamma(x.value);
  return J::unary(x, f, f * psi, f * (psi * psi + detail::trigamma(x.value)));
}

// Piecewise constant.
template <AnyJet J>
J floor(const J& x) {
  return J::unary(x, std::floor(x.value), 0.0, 0.0);
}

template <AnyJet J>
J ceil(const J& x) {
  return J::unary(x, std::ceil(x.value), 0.0, 0.0);
}

template <AnyJet J>
J trunc(const J& x) {
  return J::unary(x, std::trunc(x.value), 0.0, 0.0);
}

template <AnyJet J>
J round(const J& x) {
  return J::unary(x, std::round(x.value), 0.0, 0.0);
}

template <AnyJet J>
J rint(const J& x) {
  return J::unary(x, std::rint(x.value), 0.0, 0.0);
}

template <AnyJet J>
J nearbyint(const J& x) {
  return J::unary(x, std::nearbyint(x.value), 0.0, 0.0);
}

}  // namespace hesscope

#include <hesscope/autodiff/jet_binary_functions.h>
