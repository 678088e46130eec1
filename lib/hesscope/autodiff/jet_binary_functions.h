// SPDX-License-Identifier: BSD-3-Clause
//
// The functions of <cmath> with two and more arguments for Jets; see jet_functions.h, which
// includes this header. Each argument is a Jet or a number, and at least one is a Jet.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include <hesscope/autodiff/jet.h>
#include <hesscope/core/constants.h>

namespace hesscope {

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
  const double f = std::pow(v, p);
  const double f1 = detail::power_slope(v, p);
  const double f2 = detail::power_curvature(v, p);
  if (p == 0.0 || p == 1.0) return J::unary(x, f, f1, f2);
  return detail::scaled_unary(x, f, f1, f2, p * f, p * (p - 1.0) * f, 1.0 / v);
}

// (b^w)' = b^w ln b in four cases:
//   1. b > 0: the formula.
//   2. b = 0, w > 0: 0 in a neighbourhood of w.
//   3. b = 0, w <= 0: jumps or is infinite; the value is std's, derivatives are NaN.
//   4. b < 0: defined at integers w only; likewise.
template <AnyJet J>
J pow(double b, const J& y) {
  const double f = std::pow(b, y.value);
  if (b > 0.0) {  // case 1
    const double log_b = std::log(b);
    return J::unary(y, f, f * log_b, f * log_b * log_b);
  }
  if (b == 0.0 && y.value > 0.0) return J::unary(y, f, 0.0, 0.0);  // case 2
  return J::unary(y, f, kNaN, kNaN);                               // cases 3, 4, b = NaN
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
    const double scale = 1.0 / v;
    const bool is_plain = detail::is_far_from_limits(p.f_a) && detail::is_far_from_limits(p.f_aa);
    if (!is_plain && std::isnormal(scale) && std::isnormal(p.f)) {  // by x / v, see scaled_unary()
      p.f_a = w * p.f;
      p.f_aa = w * (w - 1.0) * p.f;
      p.f_ab = p.f * (1.0 + w * log_v);
      return J::binary(x * scale, y, p);
    }
  } else if (v == 0.0 && w > 0.0) {  // cases 2, 3
    p.f_b = 0.0;
    p.f_ab = w > 1.0 ? 0.0 : -kInfinity;
    p.f_bb = 0.0;
  } else {  // case 4
    p.f_b = p.f_ab = p.f_bb = kNaN;
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

namespace detail {

// The Jet type among these types; all Jets among them have the same type.
template <typename A, typename B, typename C>
using JetAmong = std::conditional_t<kIsJet<A>, A, std::conditional_t<kIsJet<B>, B, C>>;

template <typename T, typename J>
concept JetOrNumber = std::is_same_v<T, J> || std::is_arithmetic_v<T>;

// Three arguments of which at least one is a Jet. JetsOrNumbers is the same concept in a form to
// which overloads with AnyJet are preferred: see jet_std_names.h.
template <typename A, typename B, typename C>
concept JetsOrNumbers = JetType<JetAmong<A, B, C>> && JetOrNumber<A, JetAmong<A, B, C>> &&
    JetOrNumber<B, JetAmong<A, B, C>> && JetOrNumber<C, JetAmong<A, B, C>>;

// C with A and B: Jets of one type and numbers, at least one a Jet.
template <typename C, typename A, typename B>
concept CompletesJets = JetsOrNumbers<A, B, C> && AnyJet<JetAmong<A, B, C>>;

template <AnyJet J, typename T>
J as_jet(const T& x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return J(static_cast<double>(x));
  } else {
    return x;
  }
}

}  // namespace detail

// hypot(hypot(v, w), z) with v the largest argument, so that the inner one is at the tip of its
// cone only if all are 0
template <typename A, typename B, detail::CompletesJets<A, B> C>
detail::JetAmong<A, B, C> hypot(const A& x, const B& y, const C& z) {
  using J = detail::JetAmong<A, B, C>;
  J u = detail::as_jet<J>(x);
  J v = detail::as_jet<J>(y);
  J w = detail::as_jet<J>(z);
  const double h = std::hypot(u.value, v.value, w.value);
  if (std::abs(v.value) > std::abs(u.value)) std::swap(u, v);
  if (std::abs(w.value) > std::abs(u.value)) std::swap(u, w);
  J r = hypot(hypot(u, v), w);
  r.value = h;
  return r;
}

// x y + z, rounded once
template <typename A, typename B, detail::CompletesJets<A, B> C>
detail::JetAmong<A, B, C> fma(const A& x, const B& y, const C& z) {
  using J = detail::JetAmong<A, B, C>;
  const J u = detail::as_jet<J>(x);
  const J v = detail::as_jet<J>(y);
  const J w = detail::as_jet<J>(z);
  J r = u * v + w;
  r.value = std::fma(u.value, v.value, w.value);
  return r;
}

// x + z (y - x), rounded as std::lerp does it
template <typename A, typename B, detail::CompletesJets<A, B> C>
detail::JetAmong<A, B, C> lerp(const A& x, const B& y, const C& z) {
  using J = detail::JetAmong<A, B, C>;
  const J u = detail::as_jet<J>(x);
  const J v = detail::as_jet<J>(y);
  const J w = detail::as_jet<J>(z);
  J r = u + w * (v - u);
  r.value = std::lerp(u.value, v.value, w.value);
  return r;
}

// atan2(v, w): with c = w / r^2, s = v / r^2, r^2 = v^2 + w^2,
// f_v = c, f_w = -s, f_vv = -2 c s, f_vw = s^2 - c^2, f_ww = 2 c s
template <AnyJet J>
J atan2(const J& y, const J& x) {
  const double f = std::atan2(y.value, x.value);
  const double r = std::hypot(x.value, y.value);
  const auto partials = [f](double c, double s) {
    return typename J::Partials{f, c, -s, -2.0 * c * s, (s - c) * (s + c), 2.0 * c * s};
  };
  if (detail::is_far_from_limits(r) || !std::isnormal(1.0 / r)) {
    return J::binary(y, x, partials(x.value / r / r, y.value / r / r));
  }
  const double scale = 1.0 / r;  // of v / r and w / r, see scaled_unary()
  return J::binary(y * scale, x * scale, partials(x.value * scale, y.value * scale));
}

// The larger or smaller argument with its derivatives; the first in case of a tie. max and min
// treat NaN like std::max and std::min; fmax and fmin skip it.
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

// max(x - y, 0) with slope 0 at a tie
template <AnyJet J>
J fdim(const J& x, const J& y) {
  const double f = std::fdim(x.value, y.value);
  const double slope = std::isnan(f) ? f : (x.value > y.value ? 1.0 : 0.0);
  const double curvature = 0.0 * slope;  // keeps NaN
  return J::binary(x, y, {f, slope, -slope, curvature, curvature, curvature});
}

// |v| with the sign of w: slope +-1 in v, 0 at v = 0 as abs
template <AnyJet J>
J copysign(const J& x, const J& y) {
  const double v = x.value;
  const double sign = std::copysign(1.0, y.value);
  const double slope = v > 0.0 ? sign : (v < 0.0 ? -sign : v);  // keeps NaN
  return J::binary(x, y, {std::copysign(v, y.value), slope, 0.0, 0.0 * slope, 0.0, 0.0});
}

namespace detail {

// x - n y for the whole number n chosen by std: slope 1 in x, -n in y
template <AnyJet J>
J remainder_of(const J& x, const J& y, double f) {
  const double n = std::round((x.value - f) / y.value);
  const double slope = std::isnan(f) ? f : 1.0;
  const double curvature = 0.0 * slope;  // keeps NaN
  return J::binary(x, y, {f, slope, -n, curvature, curvature, curvature});
}

}  // namespace detail

template <AnyJet J>
J fmod(const J& x, const J& y) {
  return detail::remainder_of(x, y, std::fmod(x.value, y.value));
}

template <AnyJet J>
J remainder(const J& x, const J& y) {
  return detail::remainder_of(x, y, std::remainder(x.value, y.value));
}

// If one argument is a number, it becomes a constant Jet.
#define HESSCOPE_JET_AND_NUMBER(function) \
  template <AnyJet J>                     \
  J function(const J& x, double y) {      \
    return function(x, J(y));             \
  }                                       \
                                          \
  template <AnyJet J>                     \
  J function(double x, const J& y) {      \
    return function(J(x), y);             \
  }

HESSCOPE_JET_AND_NUMBER(hypot)
HESSCOPE_JET_AND_NUMBER(atan2)
HESSCOPE_JET_AND_NUMBER(max)
HESSCOPE_JET_AND_NUMBER(min)
HESSCOPE_JET_AND_NUMBER(fmax)
HESSCOPE_JET_AND_NUMBER(fmin)
HESSCOPE_JET_AND_NUMBER(fdim)
HESSCOPE_JET_AND_NUMBER(fmod)
HESSCOPE_JET_AND_NUMBER(remainder)
HESSCOPE_JET_AND_NUMBER(copysign)
#undef HESSCOPE_JET_AND_NUMBER

}  // namespace hesscope

#include <hesscope/autodiff/jet_std_names.h>
