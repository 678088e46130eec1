// SPDX-License-Identifier: BSD-3-Clause
//
// Functions of a whole register. B is a type of Lanes (lanes.h).
#pragma once

namespace hesscope::detail {

template <typename B>
using LaneBits = decltype(typename B::Vector{} < typename B::Vector{});

template <typename B>
[[gnu::always_inline]] inline LaneBits<B> lane_signs(typename B::Vector x) {
  return reinterpret_cast<LaneBits<B>>(x) & reinterpret_cast<LaneBits<B>>(-typename B::Vector{});
}

/// |x|
template <typename B>
[[gnu::always_inline]] inline typename B::Vector lane_magnitude(typename B::Vector x) {
  return reinterpret_cast<typename B::Vector>(reinterpret_cast<LaneBits<B>>(x) ^ lane_signs<B>(x));
}

/// |x| with the sign of another number.
template <typename B>
[[gnu::always_inline]] inline typename B::Vector lane_signed(typename B::Vector x,
                                                             typename B::Vector sign) {
  return reinterpret_cast<typename B::Vector>(reinterpret_cast<LaneBits<B>>(lane_magnitude<B>(x)) |
                                              lane_signs<B>(sign));
}

/// c_0 + c_1 x + ...
template <typename Vector, int kCount>
[[gnu::always_inline]] inline Vector lane_polynomial(const double (&c)[kCount], Vector x) {
  Vector sum = Vector{} + c[kCount - 1];
  for (int i = kCount - 2; i >= 0; --i) sum = sum * x + c[i];
  return sum;
}

/// exp(x) = s (1 + p): s = 2^k, p = expm1(r), r = x - k log 2 within log(2) / 2 of 0.
template <typename B>
class LaneExponential {
 public:
  using Vector = typename B::Vector;

  // Beyond these limits the result is 0 or infinite, as it is at them; NaN stays what it is.
  [[gnu::always_inline]] explicit LaneExponential(Vector x) {
    const Vector low = Vector{} - 746.0;
    const Vector high = Vector{} + 710.0;
    x = x < low ? low : x;
    x = x > high ? high : x;
    const Vector k = rounded(x * 1.4426950408889634);
    // log 2 in two parts, of which the first has so few digits that k times it is exact.
    const Vector r = (x - k * 0x1.62e42feep-1) - k * 0x1.a39ef35793c76p-33;
    p_ = r + r * r * lane_polynomial(kSeries, r);
    // 2^k itself may overflow or have lost digits where the result has not.
    const Vector half = rounded(k * 0.5);
    first_ = power_of_two(half);
    second_ = power_of_two(k - half);
  }

  /// Within a unit in the last place.
  [[gnu::always_inline]] Vector exp() const { return (1.0 + p_) * first_ * second_; }

  /// exp(x) - 1 for x <= 0.
  [[gnu::always_inline]] Vector minus_one() const {
    const Vector s = first_ * second_;
    return s * p_ + (s - 1.0);
  }

 private:
  // (expm1(r) - r) / r^2 by Taylor: at |r| = log(2) / 2 the next term is 2^-56 of the sum.
  static constexpr double kSeries[] = {1.0 / 2,
                                       1.0 / 6,
                                       1.0 / 24,
                                       1.0 / 120,
                                       1.0 / 720,
                                       1.0 / 5040,
                                       1.0 / 40320,
                                       1.0 / 362880,
                                       1.0 / 3628800,
                                       1.0 / 39916800,
                                       1.0 / 479001600,
                                       1.0 / 6227020800};

  // Added to a number less than 2^51 in magnitude, this leaves it as an integer in the low bits.
  static constexpr double kShift = 0x1.8p52;

  [[gnu::always_inline]] static Vector rounded(Vector x) { return (x + kShift) - kShift; }

  [[gnu::always_inline]] static Vector power_of_two(Vector k) {
    return reinterpret_cast<Vector>((reinterpret_cast<LaneBits<B>>(k + kShift) + 1023) << 52);
  }

  Vector p_;
  Vector first_;
  Vector second_;
};

/// tanh(x) = sign(x) (1 - e) / (1 + e), e = exp(-2 |x|): of large |x| as 1 - 2 e / (1 + e), of others by
/// expm1. Within 2.5 units in the last place.
template <typename B>
[[gnu::always_inline]] inline typename B::Vector lane_tanh(typename B::Vector x) {
  const typename B::Vector magnitude = lane_magnitude<B>(x);
  const LaneExponential<B> terms(magnitude * -2.0);
  const typename B::Vector e = terms.exp();
  const auto is_large = magnitude > typename B::Vector{} + 0.55;
  const typename B::Vector quotient = (is_large ? 2.0 * e : -terms.minus_one()) / (1.0 + e);
  return lane_signed<B>(is_large ? 1.0 - quotient : quotient, x);
}

/// erf(x) = x P(x^2) for |x| < 1, elsewhere sign(x) (1 - exp(-x^2) Q(1 / (3 + |x|))). P and Q interpolate
/// in Chebyshev's points on 0 <= x <= 1 and 1 <= x <= 6, Q times the exponential within 4e-18; beyond
/// 6 it is nothing beside 1. Within two units in the last place.
template <typename B>
[[gnu::always_inline]] inline typename B::Vector lane_erf(typename B::Vector x) {
  constexpr double kP[] = {1.1283791670955126,
                           -0.3761263890318354,
                           0.11283791670945006,
                           -0.02686617064323777,
                           0.0052239776071164227,
                           -0.00085483259753896921,
                           0.00012055294904839708,
                           -1.492473690741966e-5,
                           1.6447424703317362e-6,
                           -1.6208483801871706e-7,
                           1.3720064546777686e-8,
                           -7.7958988270021422e-10};
  constexpr double kQ[] = {3.7809408605387701e-7,
                           0.56415398032428763,
                           1.6941264743931759,
                           4.7536193879491817,
                           13.473819204688666,
                           20.342385791905985,
                           174.55446138650821,
                           -708.64780162266605,
                           5135.8661343263079,
                           -22445.40603284159,
                           75849.69992134399,
                           -186798.79449594932,
                           293421.80833837453,
                           -260512.05593115601,
                           100321.025996593};
  using Vector = typename B::Vector;
  const Vector magnitude = lane_magnitude<B>(x);
  const Vector near = x * lane_polynomial(kP, x * x);
  const Vector far =
      1.0 - LaneExponential<B>(-(x * x)).exp() * lane_polynomial(kQ, 1.0 / (3.0 + magnitude));
  return magnitude < Vector{} + 1.0 ? near : lane_signed<B>(far, x);
}

/// The normal distribution function Phi(x): for x <= 0, with m = |x|, exp(-m^2 / 2) P(t) / (1 + sqrt(2) m),
/// t = (m - 6) / (m + 6), and for others 1 - Phi(-x). P interpolates in Chebyshev's points on 0 <= m <= 40,
/// within 1e-17; beyond, the result is 0 or 1. Within 4 (1 + x^2 / 8) units in the last place, however
/// small.
template <typename B>
[[gnu::always_inline]] inline typename B::Vector lane_normal_distribution(typename B::Vector x) {
  constexpr double kP[] = {0.6144500235976215,     -0.0692142626805466,     0.012465016640197299,
                           0.027741689627895274,   -0.04636447320659537,    0.046470639146096455,
                           -0.03581897714377506,   0.02239820868751177,     -0.011399844511604383,
                           0.004571429469919259,   -0.0013036569563877368,  0.00016385835871079833,
                           6.194532372697153e-05,  -3.954165155524043e-05,  6.042571798808876e-06,
                           2.8196376255361173e-06, -1.460773634503303e-06,  -2.6466924700884612e-08,
                           1.9736205208498998e-07, -2.6325435232130917e-08, -2.3399358804592012e-08,
                           3.979320034645963e-09,  2.2785765446983248e-09};
  using Vector = typename B::Vector;
  const Vector most = Vector{} + 40.0;
  Vector m = lane_magnitude<B>(x);
  m = m > most ? most : m;
  const Vector slow = 1.0 + 1.4142135623730951 * m;
  const Vector far = m + 6.0;
  const Vector inverse = 1.0 / (slow * far);
  const Vector t = (m - 6.0) * slow * inverse;
  // As a density has it, so that one exponential does for both.
  const Vector tail =
      LaneExponential<B>(x * x * -0.5).exp() * (lane_polynomial(kP, t) * far * inverse);
  return x > Vector{} ? 1.0 - tail : tail;
}

}  // namespace hesscope::detail
