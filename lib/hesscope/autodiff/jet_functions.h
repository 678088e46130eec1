// SPDX-License-Identifier: BSD-3-Clause
//
// The functions of <cmath> for Jets; include <hesscope/autodiff/jet.h>, which includes this.
//
// They are found by argument-dependent lookup, so that one source serves doubles and Jets:
//
//   using std::exp;  return exp(x);      // not std::exp(x), which knows no Jets
//
// Above each function stands its calculus in one line, v the value of x; f1 and f2 are f' and f''.
// Formulas are chosen to keep relative accuracy (1 / cosh^2 rather than 1 - tanh^2, ...). What
// happens where there is no derivative is in the table of jet.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <hesscope/autodiff/jet.h>

namespace hesscope {

/// The value without its derivatives: the named way to drop them.
inline double value_of(double x) { return x; }

template <AnyJet J>
double value_of(const J& x) {
  return x.value;
}

// As comparisons, these look at the value only.
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

// f = sqrt(v), f' = 1 / (2 f), f'' = -f' / (2 v). Two cases at v = 0, entry by entry of the result:
//   1. the argument moves at first order in x_i or x_j: one-sided limits, infinite.
//   2. it does not, as x_i * x_i at 0: with u = c d^2, sqrt(u) = sqrt(c) |d|, and |.| has 0 at its
//   kink.
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
  return J::unary(x, f, f1, f2);
}

// f = cbrt(v), f' = 1 / (3 f^2), f'' = -2 f' / (3 v), odd around 0 and so without a limit there
template <AnyJet J>
J cbrt(const J& x) {
  const double v = x.value;
  const double f = std::cbrt(v);
  const double f1 = 1.0 / (3.0 * f * f);
  const double f2 = v == 0.0 ? std::numeric_limits<double>::quiet_NaN() : -2.0 * f1 / (3.0 * v);
  return J::unary(x, f, f1, f2);
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
  return J::unary(x, std::log(x.value), f1, -f1 * f1);
}

// log(v) / ln 2
template <AnyJet J>
J log2(const J& x) {
  const double inverse = 1.0 / (x.value + 0.0);
  const double f1 = inverse * std::numbers::log2e;
  return J::unary(x, std::log2(x.value), f1, -f1 * inverse);
}

// log(v) / ln 10
template <AnyJet J>
J log10(const J& x) {
  const double inverse = 1.0 / (x.value + 0.0);
  const double f1 = inverse * std::numbers::log10e;
  return J::unary(x, std::log10(x.value), f1, -f1 * inverse);
}

// log(1 + v)' = 1 / (1 + v)
template <AnyJet J>
J log1p(const J& x) {
  const double f1 = 1.0 / (1.0 + x.value);
  return J::unary(x, std::log1p(x.value), f1, -f1 * f1);
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

// Piecewise constant.
template <AnyJet J>
J floor(const J& x) {
  return J::unary(x, std::floor(x.value), 0.0, 0.0);
}

template <AnyJet J>
J ceil(const J& x) {
  return J::unary(x, std::ceil(x.value), 0.0, 0.0);
}

namespace detail {

// d/dv v^p = p v^(p - 1), where 0 v^(-1) is 0: exact at v = 0 for every p >= 0.
inline double power_slope(double v, double p) { return p == 0.0 ? 0.0 : p * std::pow(v, p - 1.0); }

// d2/dv2 v^p = p (p - 1) v^(p - 2)
inline double power_curvature(double v, double p) {
  const double c = p * (p - 1.0);
  return c == 0.0 ? 0.0 : c * std::pow(v, p - 2.0);
}

}  // namespace detail

// (v^p)' = p v^(p - 1), for integer p also at v <= 0; p = 1/2 is sqrt, its kink included
template <AnyJet J>
J pow(const J& x, double p) {
  if (p == 0.5) return sqrt(x);
  const double v = x.value;
  return J::unary(x, std::pow(v, p), detail::power_slope(v, p), detail::power_curvature(v, p));
}

// (b^w)' = b^w ln b in four cases:
//   1. b > 0: the formula.
//   2. b = 0, w > 0: 0 in a neighbourhood of w.
//   3. b = 0, w <= 0: jumps or is infinite; the value is std's, derivatives are NaN.
//   4. b < 0: defined at integers w only; likewise.
template <AnyJet J>
J pow(double b, const J& y) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const double f = std::pow(b, y.value);
  if (b > 0.0) {  // case 1
    const double log_b = std::log(b);
    return J::unary(y, f, f * log_b, f * log_b * log_b);
  }
  if (b == 0.0 && y.value > 0.0) return J::unary(y, f, 0.0, 0.0);  // case 2
  return J::unary(y, f, kNan, kNan);                               // cases 3, 4, b = NaN
}

// v^w: in v as pow(x, double), in w as pow(double, y), and the mixed partial
// f_vw = v^(w - 1) (1 + w ln v):
//   1. v > 0: the formulas.
//   2. v = 0, w > 1: f_w = f_vw = f_ww = 0.
//   3. v = 0, 0 < w <= 1: f_w = f_ww = 0; f_vw = -inf, its limit.
//   4. v = 0, w <= 0, and v < 0: partials in w are NaN; those in v are as for a constant w.
// An exponent without derivatives is a constant exponent in all cases: see the rule on independence
// in jet.h.
template <AnyJet J>
J pow(const J& x, const J& y) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const double v = x.value;
  const double w = y.value;
  if (w == 0.5 && y.is_constant()) return sqrt(x);
  typename J::Partials p;
  p.f = std::pow(v, w);
  p.f_a = detail::power_slope(v, w);
  p.f_aa = detail::power_curvature(v, w);
  if (v > 0.0) {  // case 1
    const double log_v = std::log(v);
    p.f_b = p.f * log_v;
    p.f_ab = std::pow(v, w - 1.0) * (1.0 + w * log_v);
    p.f_bb = p.f * log_v * log_v;
  } else if (v == 0.0 && w > 0.0) {  // cases 2, 3
    p.f_b = 0.0;
    p.f_ab = w > 1.0 ? 0.0 : -kInfinity;
    p.f_bb = 0.0;
  } else {  // case 4
    p.f_b = p.f_ab = p.f_bb = kNan;
  }
  return J::binary(x, y, p);
}

// h = hypot(v, w), u = (v, w) / h: h' = u, h'' = (I - u u') / h; all 0 at the tip of the cone
template <AnyJet J>
J hypot(const J& x, const J& y) {
  const double h = std::hypot(x.value, y.value);
  if (h == 0.0) return J::binary(x, y, {h, 0.0, 0.0, 0.0, 0.0, 0.0});
  const double a = x.value / h;
  const double b = y.value / h;
  return J::binary(x, y, {h, a, b, b * b / h, -a * b / h, a * a / h});
}

// atan2(v, w): with c = w / r^2, s = v / r^2, r^2 = v^2 + w^2,
// f_v = c, f_w = -s, f_vv = -2 c s, f_vw = s^2 - c^2, f_ww = 2 c s
template <AnyJet J>
J atan2(const J& y, const J& x) {
  const double r = std::hypot(x.value, y.value);
  const double c = x.value / r / r;
  const double s = y.value / r / r;
  return J::binary(
      y, x, {std::atan2(y.value, x.value), c, -s, -2.0 * c * s, (s - c) * (s + c), 2.0 * c * s});
}

// The larger or smaller argument with its derivatives; the first at a tie. max and min treat NaN as
// std::max and std::min do, fmax and fmin skip it.
template <AnyJet J>
J max(const J& a, const J& b) {
  return a.value < b.value ? b : a;
}

template <AnyJet J>
J min(const J& a, const J& b) {
  return b.value < a.value ? b : a;
}

template <AnyJet J>
J fmax(const J& a, const J& b) {
  return std::isnan(a.value) || a.value < b.value ? b : a;
}

template <AnyJet J>
J fmin(const J& a, const J& b) {
  return std::isnan(a.value) || b.value < a.value ? b : a;
}

// Mixed arguments: the number is a constant Jet.
template <AnyJet J>
J hypot(const J& x, double y) {
  return hypot(x, J(y));
}

template <AnyJet J>
J hypot(double x, const J& y) {
  return hypot(J(x), y);
}

template <AnyJet J>
J atan2(const J& y, double x) {
  return atan2(y, J(x));
}

template <AnyJet J>
J atan2(double y, const J& x) {
  return atan2(J(y), x);
}

template <AnyJet J>
J max(const J& a, double b) {
  return max(a, J(b));
}

template <AnyJet J>
J max(double a, const J& b) {
  return max(J(a), b);
}

template <AnyJet J>
J min(const J& a, double b) {
  return min(a, J(b));
}

template <AnyJet J>
J min(double a, const J& b) {
  return min(J(a), b);
}

template <AnyJet J>
J fmax(const J& a, double b) {
  return fmax(a, J(b));
}

template <AnyJet J>
J fmax(double a, const J& b) {
  return fmax(J(a), b);
}

template <AnyJet J>
J fmin(const J& a, double b) {
  return fmin(a, J(b));
}

template <AnyJet J>
J fmin(double a, const J& b) {
  return fmin(J(a), b);
}

}  // namespace hesscope
