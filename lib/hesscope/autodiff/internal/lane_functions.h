// SPDX-License-Identifier: BSD-3-Clause
//
// Functions of a whole register. B is a type Lanes (lanes.h).
#pragma once

#include <hesscope/core/constants.h>

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

/// c_0 + c_1 x + ..., with even and odd powers separate, so that each sum waits for half as many
/// others.
template <typename Vector, int kCount>
[[gnu::always_inline]] inline Vector lane_polynomial(const double (&c)[kCount], Vector x) {
  static_assert(kCount >= 2);
  const Vector square = x * x;
  Vector sum = Vector{} + c[kCount - 1];
  Vector other = Vector{} + c[kCount - 2];
  for (int i = kCount - 3; i >= 0; --i) {
    const Vector next = sum * square + c[i];
    sum = other;
    other = next;
  }
  return other + sum * x;
}

/// The nearest number between two limits; NaN stays NaN.
template <typename B>
[[gnu::always_inline]] inline typename B::Vector lane_clamped(typename B::Vector x,
                                                              double lowest,
                                                              double highest) {
  using Vector = typename B::Vector;
  const Vector low = Vector{} + lowest;
  const Vector high = Vector{} + highest;
  // GCC compiles a maximum with a constant to a comparison and a choice.
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (sizeof(Vector) == 64) {
    x = __builtin_ia32_maxpd512_mask(low, x, x, -1, 4);
    return __builtin_ia32_minpd512_mask(high, x, x, -1, 4);
  }
#endif
#ifdef __AVX2__
  if constexpr (sizeof(Vector) == 32) {
    return __builtin_ia32_minpd256(high, __builtin_ia32_maxpd256(low, x));
  }
#endif
  x = low > x ? low : x;
  return high < x ? high : x;
}

/// exp(x) = s (1 + p): s = 2^k, p = expm1(r), r = x - k log 2 within log(2) / 2 of 0.
template <typename B>
class LaneExponential {
 public:
  using Vector = typename B::Vector;
  using Bits = typename B::Bits;

  /// Added to a number less than 2^51 in magnitude, this leaves it as an integer in the low bits.
  static constexpr double kShift = 0x1.8p52;

  /// log 2 in two parts; the first has so few digits that its multiples are exact.
  static constexpr double kLogTwoHigh = 0x1.62e42feep-1;
  static constexpr double kLogTwoLow = 0x1.a39ef35793c76p-33;

  // Beyond these limits the result is 0 or infinite, as it is at them; NaN is kept.
  [[gnu::always_inline]] explicit LaneExponential(Vector x) {
    x = lane_clamped<B>(x, -746.0, 710.0);
    shifted_ = x * 1.4426950408889634 + kShift;
    const Vector k = shifted_ - kShift;
    const Vector r = (x - k * kLogTwoHigh) - k * kLogTwoLow;
    p_ = r + r * r * lane_polynomial(kSeries, r);
  }

  /// Error at most one unit in the last place.
  [[gnu::always_inline]] Vector exp() const { return scaled(1.0 + p_); }

  /// exp(x) - 1, unless 2^k overflows.
  [[gnu::always_inline]] Vector minus_one() const {
    const Vector s = scaled(Vector{} + 1.0);
    return s * p_ + (s - 1.0);
  }

 private:
  // (expm1(r) - r) / r^2 by Taylor: at |r| = log(2) / 2, the next term is 2^-56 of the sum.
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

  // 2^k y for y near 1.
  [[gnu::always_inline]] Vector scaled(Vector y) const {
#ifdef __AVX512F__
    if constexpr (sizeof(Vector) == 64) {
      return __builtin_ia32_scalefpd512_mask(y, shifted_ - kShift, y, -1, 4);
    }
#endif
    // 2^k itself may overflow or lose digits although the result does not: multiply by each half of
    // k.
    const auto k = reinterpret_cast<Bits>(shifted_);
    const Bits half = k >> 1;
    return y * power_of_two(half) * power_of_two(k - half);
  }

  // For the exponent in the lowest twelve bits.
  [[gnu::always_inline]] static Vector power_of_two(Bits exponent) {
    return reinterpret_cast<Vector>((exponent + 1023) << 52);
  }

  Vector p_;
  Vector shifted_;  // k is in its low bits
};

/// exp(x) - 1. Error at most two units in the last place.
template <typename B>
[[gnu::always_inline]] inline typename B::Vector lane_expm1(typename B::Vector x) {
  const LaneExponential<B> terms(x);
  return x > typename B::Vector{} + 40.0 ? terms.exp() : terms.minus_one();
}

/// log(u) + c for c that are small compared with 1: with u = 2^k (1 + f), 1 + f within a factor
/// sqrt(2) of 1, it is computed as k log(2) + log(1 + f), where with s = f / (2 + f), log(1 + f) =
/// 2 artanh(s) = f - f^2 / 2 + s (f^2 / 2 + R), R = 2 s^2 / 3 + 2 s^4 / 5 + ... Error at most one
/// unit in the last place.
template <typename B>
[[gnu::always_inline]] inline typename B::Vector lane_log(typename B::Vector u,
                                                          typename B::Vector c) {
  // At |s| = 0.1716, the next term is 2^-60 of the sum.
  constexpr double kSeries[] = {2.0 / 3,
                                2.0 / 5,
                                2.0 / 7,
                                2.0 / 9,
                                2.0 / 11,
                                2.0 / 13,
                                2.0 / 15,
                                2.0 / 17,
                                2.0 / 19,
                                2.0 / 21};
  using Vector = typename B::Vector;
  using Bits = LaneBits<B>;
  const auto is_subnormal = u < Vector{} + 0x1p-1022;
  // Without the sign of numbers that have no logarithm: a difference of bits would overflow.
  const auto bits = reinterpret_cast<Bits>(lane_magnitude<B>(is_subnormal ? u * 0x1p54 : u));
  const Bits exponent = (bits - reinterpret_cast<Bits>(Vector{} + 0x1.6a09e667f3bcdp-1)) >> 52;
  const Vector f = reinterpret_cast<Vector>(bits - (exponent << 52)) - 1.0;
  const Vector shift = Vector{} + LaneExponential<B>::kShift;
  const Vector power = reinterpret_cast<Vector>(exponent + reinterpret_cast<Bits>(shift)) - shift;
  const Vector k = is_subnormal ? power - 54.0 : power;
  const Vector s = f / (2.0 + f);
  const Vector z = s * s;
  const Vector half = 0.5 * f * f;
  const Vector low =
      s * (half + z * lane_polynomial(kSeries, z)) + (k * LaneExponential<B>::kLogTwoLow + c);
  const Vector sum = k * LaneExponential<B>::kLogTwoHigh - ((half - low) - f);
  const Vector infinite = Vector{} + kInfinity;
  const Vector limit = u == Vector{} ? -infinite : Vector{} + kNaN;
  return u > Vector{} ? (u < infinite ? sum : u) : limit;
}

/// log(1 + x). Error at most one unit in the last place.
template <typename B>
[[gnu::always_inline]] inline typename B::Vector lane_log1p(typename B::Vector x) {
  const typename B::Vector u = 1.0 + x;
  return lane_log<B>(u, (x - (u - 1.0)) * (1.0 / u));
}

/// sin(x + n pi / 2) by the Taylor series of sin or cos at r = x - k pi / 2 within pi / 4 of 0,
/// with an error of at most 2.5 units in the last place; for |x| > 10^6 it is exact(x).
template <typename B, typename Exact>
[[gnu::always_inline]] inline typename B::Vector lane_sine(typename B::Vector x,
                                                           int n,
                                                           Exact exact) {
  // (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 in powers of r^2: at |r| = pi / 4, the next
  // terms are 2^-62 and 2^-58 of the whole.
  constexpr double kSine[] = {-1.0 / 6,
                              1.0 / 120,
                              -1.0 / 5040,
                              1.0 / 362880,
                              -1.0 / 39916800,
                              1.0 / 6227020800,
                              -1.0 / 1307674368000,
                              1.0 / 355687428096000};
  constexpr double kCosine[] = {1.0 / 24,
                                -1.0 / 720,
                                1.0 / 40320,
                                -1.0 / 3628800,
                                1.0 / 479001600,
                                -1.0 / 87178291200,
                                1.0 / 20922789888000};
  using Vector = typename B::Vector;
  using Bits = LaneBits<B>;
  const Vector shift = Vector{} + LaneExponential<B>::kShift;
  const Vector shifted = x * 0.63661977236758134 + shift;
  const Vector k = shifted - shift;
  // pi / 2 in three parts; the first two have so few digits that k times them is exact.
  const Vector r = ((x - k * 0x1.921fb544p0) - k * 0x1.0b4611a6p-34) - k * 0x1.3198a2e037073p-69;
  const Vector z = r * r;
  const Vector sine = r + r * z * lane_polynomial(kSine, z);
  const Vector half = 0.5 * z;
  const Vector most = 1.0 - half;
  const Vector cosine = most + (((1.0 - most) - half) + z * z * lane_polynomial(kCosine, z));
  const Bits quarters = reinterpret_cast<Bits>(shifted) + static_cast<long long>(n);
  const Vector size = (quarters & 1) != 0 ? cosine : sine;
  auto y = reinterpret_cast<Vector>(reinterpret_cast<Bits>(size) ^ ((quarters & 2) << 62));
  const auto is_near = lane_magnitude<B>(x) <= Vector{} + 1e6;
  for (unsigned lane = 0; lane < sizeof(Vector) / sizeof(double); ++lane) {
    if (is_near[lane] == 0) y[lane] = exact(x[lane]);
  }
  return y;
}

/// tanh(x) = sign(x) (1 - e) / (1 + e), e = exp(-2 |x|), 1 - e by expm1. Error at most 3.5 units in
/// the last place.
template <typename B>
[[gnu::always_inline]] inline typename B::Vector lane_tanh(typename B::Vector x) {
  const LaneExponential<B> terms(lane_magnitude<B>(x) * -2.0);
  // A quotient, computed from terms that the derivative also needs.
  return lane_signed<B>(terms.minus_one() * (1.0 / (1.0 + terms.exp())), x);
}

/// erf(x) = x P(x^2) for |x| < 1, elsewhere sign(x) (1 - exp(-x^2) Q(1 / (3 + |x|))). P and Q
/// interpolate at Chebyshev points on 0 <= x <= 1 and 1 <= x <= 6, Q times the exponential within
/// 4e-18; beyond 6 this term is negligible compared with 1. Error at most two units in the last
/// place.
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

/// The normal distribution function Phi(x): for x <= 0, with m = |x|, it is exp(-m^2 / 2) P(t) / (1
/// + sqrt(2) m), t = (m - 6) / (m + 6), and for x > 0 it is 1 - Phi(-x). P interpolates at
/// Chebyshev points on 0 <= m <= 40, within 1e-17; beyond, the result is 0 or 1. Error at most 4 (1
/// + x^2 / 8) units in the last place, however small the result is.
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
  const Vector m = lane_clamped<B>(lane_magnitude<B>(x), 0.0, 40.0);
  const Vector slow = 1.0 + 1.4142135623730951 * m;
  const Vector far = m + 6.0;
  const Vector inverse = 1.0 / (slow * far);
  const Vector t = (m - 6.0) * slow * inverse;
  // In the form that a density also has, so that one exponential serves both.
  const Vector tail =
      LaneExponential<B>(x * x * -0.5).exp() * (lane_polynomial(kP, t) * far * inverse);
  return x > Vector{} ? 1.0 - tail : tail;
}

}  // namespace hesscope::detail
