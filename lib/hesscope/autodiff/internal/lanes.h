// SPDX-License-Identifier: BSD-3-Clause
//
// Lanes<W>: W doubles with the same arithmetic, one sample in each. A base scalar for the tape.
#pragma once

#include <cmath>

#include <hesscope/autodiff/internal/lane_functions.h>
#include <hesscope/simd/instruction_set.h>

namespace hesscope::detail {

// g++ 12 ignores a vector_size that depends on a template parameter, so the widths are spelled out.
template <int W>
struct VectorTypes;

template <>
struct VectorTypes<1> {
  using Double [[gnu::vector_size(8)]] = double;
  using Mask [[gnu::vector_size(8)]] = long long;
  using Bits [[gnu::vector_size(8)]] = unsigned long long;
};

template <>
struct VectorTypes<2> {
  using Double [[gnu::vector_size(16)]] = double;
  using Mask [[gnu::vector_size(16)]] = long long;
  using Bits [[gnu::vector_size(16)]] = unsigned long long;
};

template <>
struct VectorTypes<4> {
  using Double [[gnu::vector_size(32)]] = double;
  using Mask [[gnu::vector_size(32)]] = long long;
  using Bits [[gnu::vector_size(32)]] = unsigned long long;
};

template <>
struct VectorTypes<8> {
  using Double [[gnu::vector_size(64)]] = double;
  using Mask [[gnu::vector_size(64)]] = long long;
  using Bits [[gnu::vector_size(64)]] = unsigned long long;
};

/// `kSet` is the instruction set for which the code using them is compiled. It distinguishes
/// functions that would otherwise be one to the linker, which keeps one copy of each.
template <int W, InstructionSet kSet>
struct Lanes {
  using Vector = typename VectorTypes<W>::Double;
  using Bits = typename VectorTypes<W>::Bits;

  struct Mask {
    typename VectorTypes<W>::Mask bits;
  };

  Vector x;

  Lanes() : x{} {}

  explicit Lanes(double value) : x(value - Vector{}) {}

  explicit Lanes(int value) : Lanes(static_cast<double>(value)) {}

  explicit Lanes(Vector value) : x(value) {}

  double operator[](int lane) const { return x[lane]; }

  void set(int lane, double value) { x[lane] = value; }

  Lanes& operator+=(const Lanes& b) {
    x += b.x;
    return *this;
  }

  Lanes& operator-=(const Lanes& b) {
    x -= b.x;
    return *this;
  }

  Lanes& operator*=(const Lanes& b) {
    x *= b.x;
    return *this;
  }

  Lanes& operator/=(const Lanes& b) {
    x /= b.x;
    return *this;
  }

  friend Lanes operator+(const Lanes& a, const Lanes& b) { return Lanes(a.x + b.x); }

  friend Lanes operator-(const Lanes& a, const Lanes& b) { return Lanes(a.x - b.x); }

  friend Lanes operator*(const Lanes& a, const Lanes& b) { return Lanes(a.x * b.x); }

  friend Lanes operator/(const Lanes& a, const Lanes& b) { return Lanes(a.x / b.x); }

  friend Lanes operator-(const Lanes& a) { return Lanes(-a.x); }

  friend Mask operator<(const Lanes& a, const Lanes& b) { return {a.x < b.x}; }

  friend Mask operator>(const Lanes& a, const Lanes& b) { return {a.x > b.x}; }

  friend Mask operator!=(const Lanes& a, const Lanes& b) { return {a.x != b.x}; }

  friend Mask operator==(const Lanes& a, const Lanes& b) { return {a.x == b.x}; }

  friend Lanes select(const Mask& condition, const Lanes& yes, const Lanes& no) {
    return Lanes(condition.bits ? yes.x : no.x);
  }

  [[gnu::always_inline]] friend Lanes abs(const Lanes& a) {
    return Lanes(lane_magnitude<Lanes>(a.x));
  }

  friend Lanes acos(const Lanes& a) {
    return a.each([](double v) { return std::acos(v); });
  }

  friend Lanes acosh(const Lanes& a) {
    return a.each([](double v) { return std::acosh(v); });
  }

  friend Lanes asin(const Lanes& a) {
    return a.each([](double v) { return std::asin(v); });
  }

  friend Lanes asinh(const Lanes& a) {
    return a.each([](double v) { return std::asinh(v); });
  }

  friend Lanes atan(const Lanes& a) {
    return a.each([](double v) { return std::atan(v); });
  }

  friend Lanes atanh(const Lanes& a) {
    return a.each([](double v) { return std::atanh(v); });
  }

  friend Lanes ceil(const Lanes& a) {
    return a.each([](double v) { return std::ceil(v); });
  }

  [[gnu::always_inline]] friend Lanes cos(const Lanes& a) {
    return Lanes(lane_sine<Lanes>(a.x, 1, [](double v) { return std::cos(v); }));
  }

  friend Lanes cosh(const Lanes& a) {
    return a.each([](double v) { return std::cosh(v); });
  }

  [[gnu::always_inline]] friend Lanes erf(const Lanes& a) { return Lanes(lane_erf<Lanes>(a.x)); }

  friend Lanes erfc(const Lanes& a) {
    return a.each([](double v) { return std::erfc(v); });
  }

  [[gnu::always_inline]] friend Lanes exp(const Lanes& a) {
    return Lanes(LaneExponential<Lanes>(a.x).exp());
  }

  [[gnu::always_inline]] friend Lanes expm1(const Lanes& a) {
    return Lanes(lane_expm1<Lanes>(a.x));
  }

  friend Lanes floor(const Lanes& a) {
    return a.each([](double v) { return std::floor(v); });
  }

  [[gnu::always_inline]] friend Lanes log(const Lanes& a) {
    return Lanes(lane_log<Lanes>(a.x, Vector{}));
  }

  [[gnu::always_inline]] friend Lanes log1p(const Lanes& a) {
    return Lanes(lane_log1p<Lanes>(a.x));
  }

  [[gnu::always_inline]] friend Lanes sin(const Lanes& a) {
    return Lanes(lane_sine<Lanes>(a.x, 0, [](double v) { return std::sin(v); }));
  }

  friend Lanes sinh(const Lanes& a) {
    return a.each([](double v) { return std::sinh(v); });
  }

  friend Lanes sqrt(const Lanes& a) {
    return a.each([](double v) { return std::sqrt(v); });
  }

  friend Lanes tan(const Lanes& a) {
    return a.each([](double v) { return std::tan(v); });
  }

  [[gnu::always_inline]] friend Lanes normal_distribution(const Lanes& a) {
    return Lanes(lane_normal_distribution<Lanes>(a.x));
  }

  [[gnu::always_inline]] friend Lanes tanh(const Lanes& a) { return Lanes(lane_tanh<Lanes>(a.x)); }

  friend Lanes pow(const Lanes& a, const Lanes& b) {
    Lanes result;
    for (int lane = 0; lane < W; ++lane) result.x[lane] = std::pow(a.x[lane], b.x[lane]);
    return result;
  }

 private:
  template <typename F>
  Lanes each(F f) const {
    Lanes result;
    for (int lane = 0; lane < W; ++lane) result.x[lane] = f(x[lane]);
    return result;
  }
};

/// The scalar counterpart of Lanes' lane-wise choice, for base scalars whose comparisons give bool.
template <typename T>
T select(bool condition, const T& yes, const T& no) {
  return condition ? yes : no;
}

}  // namespace hesscope::detail
