// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers with the precision of double and a practically unlimited range, for intermediate results
// between doubles. The square of a gradient of 1e-235 is not representable as a double, but the
// root of a sum of such squares is, and so is their ratio to a loss.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hesscope::detail {

/// fraction 2^exponent, 1 <= |fraction| < 2. Every operation rounds the fraction once, like the one
/// on doubles: if no intermediate double would overflow or be subnormal, results are bit-identical.
/// Zeros, infinities and NaN behave like those of double.
class Wide {
 public:
  constexpr Wide() = default;

  // NOLINTNEXTLINE(google-explicit-constructor): a double is a Wide, without loss.
  Wide(double x) : Wide(x, 0) {}

  /// The nearest double, subnormal ones included; infinite beyond the largest.
  double value() const {
    // Exponents beyond these over- or underflow whatever the fraction.
    return std::ldexp(fraction_,
                      static_cast<int>(std::clamp<std::int64_t>(exponent_, -5000, 5000)));
  }

  friend Wide operator-(const Wide& a) { return {-a.fraction_, a.exponent_}; }

  friend Wide operator*(const Wide& a, const Wide& b) {
    return {a.fraction_ * b.fraction_, a.exponent_ + b.exponent_};
  }

  friend Wide operator/(const Wide& a, const Wide& b) {
    return {a.fraction_ / b.fraction_, a.exponent_ - b.exponent_};
  }

  friend Wide operator+(const Wide& a, const Wide& b) {
    // Zeros have no exponent to which the other number's could be aligned.
    if (a.fraction_ == 0.0) return b.fraction_ == 0.0 ? Wide(a.fraction_ + b.fraction_) : b;
    if (b.fraction_ == 0.0) return a;
    const std::int64_t exponent = std::max(a.exponent_, b.exponent_);
    return {a.fraction_at(exponent) + b.fraction_at(exponent), exponent};
  }

  friend Wide operator-(const Wide& a, const Wide& b) { return a + -b; }

  Wide& operator+=(const Wide& other) { return *this = *this + other; }

  friend Wide sqrt(const Wide& a) {
    const std::int64_t is_odd = a.exponent_ & 1;
    return {std::sqrt(is_odd != 0 ? 2.0 * a.fraction_ : a.fraction_), (a.exponent_ - is_odd) / 2};
  }

  friend Wide abs(const Wide& a) { return {std::abs(a.fraction_), a.exponent_}; }

  /// a 2^exponent
  friend Wide ldexp(const Wide& a, std::int64_t exponent) {
    return {a.fraction_, a.exponent_ + exponent};
  }

  friend bool isfinite(const Wide& a) { return std::isfinite(a.fraction_); }

  // Signs of differences are exact.
  friend bool operator<(const Wide& a, const Wide& b) { return (a - b).fraction_ < 0.0; }

  friend bool operator>(const Wide& a, const Wide& b) { return (a - b).fraction_ > 0.0; }

 private:
  // fraction 2^exponent for an arbitrary fraction.
  Wide(double fraction, std::int64_t exponent) : fraction_(fraction), exponent_(exponent) {
    if (fraction == 0.0 || !std::isfinite(fraction)) {
      exponent_ = 0;
      return;
    }
    const int shift = std::ilogb(fraction);
    fraction_ = std::ldexp(fraction, -shift);
    exponent_ += shift;
  }

  // The fraction of the same number for an exponent that is not smaller. A summand that is 2^-200
  // times smaller than the other one does not change the sum.
  double fraction_at(std::int64_t exponent) const {
    return std::ldexp(fraction_,
                      static_cast<int>(std::max<std::int64_t>(exponent_ - exponent, -200)));
  }

  double fraction_ = 0.0;
  std::int64_t exponent_ = 0;
};

}  // namespace hesscope::detail
