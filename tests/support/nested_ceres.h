// SPDX-License-Identifier: BSD-3-Clause
//
// ceres::Jet<ceres::Jet<double, N>, N>, the second implementation with which Jets are compared,
// extended to mix with double so that one test function serves all scalars. It is wrong at kinks
// (see jet.h), so it is for smooth points only.
#pragma once

#include <Eigen/Core>
#include <ceres/jet.h>

namespace hesscope::test {

template <int N>
struct NestedCeres {
  using Inner = ceres::Jet<double, N>;
  using Outer = ceres::Jet<Inner, N>;

  Outer jet;

  NestedCeres(double constant = 0.0) : jet(Inner(constant)) {}  // NOLINT: mixes with T

  explicit NestedCeres(const Outer& from) : jet(from) {}

  static NestedCeres variable(double at, int index) {
    NestedCeres x;
    x.jet.a = Inner(at, index);
    x.jet.v(index) = Inner(1.0);
    return x;
  }

  NestedCeres operator-() const { return NestedCeres(-jet); }

  NestedCeres& operator+=(const NestedCeres& b) { return *this = *this + b; }

  NestedCeres& operator-=(const NestedCeres& b) { return *this = *this - b; }

  NestedCeres& operator*=(const NestedCeres& b) { return *this = *this * b; }

  NestedCeres& operator/=(const NestedCeres& b) { return *this = *this / b; }

  friend NestedCeres operator+(const NestedCeres& a, const NestedCeres& b) {
    return NestedCeres(Outer(a.jet + b.jet));
  }

  friend NestedCeres operator-(const NestedCeres& a, const NestedCeres& b) {
    return NestedCeres(Outer(a.jet - b.jet));
  }

  friend NestedCeres operator*(const NestedCeres& a, const NestedCeres& b) {
    return NestedCeres(Outer(a.jet * b.jet));
  }

  friend NestedCeres operator/(const NestedCeres& a, const NestedCeres& b) {
    return NestedCeres(Outer(a.jet / b.jet));
  }

  friend bool operator<(const NestedCeres& a, const NestedCeres& b) {
    return a.jet.a.a < b.jet.a.a;
  }

  friend bool operator>(const NestedCeres& a, const NestedCeres& b) { return b < a; }

  // clang-format off
  friend NestedCeres abs(const NestedCeres& x) { return NestedCeres(ceres::abs(x.jet)); }
  friend NestedCeres sqrt(const NestedCeres& x) { return NestedCeres(ceres::sqrt(x.jet)); }
  friend NestedCeres cbrt(const NestedCeres& x) { return NestedCeres(ceres::cbrt(x.jet)); }
  friend NestedCeres exp(const NestedCeres& x) { return NestedCeres(ceres::exp(x.jet)); }
  friend NestedCeres exp2(const NestedCeres& x) { return NestedCeres(ceres::exp2(x.jet)); }
  friend NestedCeres log(const NestedCeres& x) { return NestedCeres(ceres::log(x.jet)); }
  friend NestedCeres log2(const NestedCeres& x) { return NestedCeres(ceres::log2(x.jet)); }
  friend NestedCeres log1p(const NestedCeres& x) { return NestedCeres(ceres::log1p(x.jet)); }
  friend NestedCeres expm1(const NestedCeres& x) { return NestedCeres(ceres::expm1(x.jet)); }
  friend NestedCeres sin(const NestedCeres& x) { return NestedCeres(ceres::sin(x.jet)); }
  friend NestedCeres cos(const NestedCeres& x) { return NestedCeres(ceres::cos(x.jet)); }
  friend NestedCeres tan(const NestedCeres& x) { return NestedCeres(ceres::tan(x.jet)); }
  friend NestedCeres asin(const NestedCeres& x) { return NestedCeres(ceres::asin(x.jet)); }
  friend NestedCeres acos(const NestedCeres& x) { return NestedCeres(ceres::acos(x.jet)); }
  friend NestedCeres atan(const NestedCeres& x) { return NestedCeres(ceres::atan(x.jet)); }
  friend NestedCeres sinh(const NestedCeres& x) { return NestedCeres(ceres::sinh(x.jet)); }
  friend NestedCeres cosh(const NestedCeres& x) { return NestedCeres(ceres::cosh(x.jet)); }
  friend NestedCeres tanh(const NestedCeres& x) { return NestedCeres(ceres::tanh(x.jet)); }
  friend NestedCeres log10(const NestedCeres& x) { return NestedCeres(ceres::log10(x.jet)); }
  friend NestedCeres erf(const NestedCeres& x) { return NestedCeres(ceres::erf(x.jet)); }
  friend NestedCeres erfc(const NestedCeres& x) { return NestedCeres(ceres::erfc(x.jet)); }
  friend NestedCeres hypot(const NestedCeres& x, const NestedCeres& y) { return NestedCeres(ceres::hypot(x.jet, y.jet)); }
  friend NestedCeres atan2(const NestedCeres& y, const NestedCeres& x) { return NestedCeres(ceres::atan2(y.jet, x.jet)); }
  friend NestedCeres pow(const NestedCeres& x, const NestedCeres& y) { return NestedCeres(ceres::pow(x.jet, y.jet)); }
  friend NestedCeres fmax(const NestedCeres& x, const NestedCeres& y) { return x < y ? y : x; }
  friend NestedCeres fmin(const NestedCeres& x, const NestedCeres& y) { return y < x ? y : x; }

  // clang-format on
};

}  // namespace hesscope::test

template <int N>
struct Eigen::NumTraits<hesscope::test::NestedCeres<N>> : Eigen::NumTraits<double> {
  using Real = hesscope::test::NestedCeres<N>;
  using NonInteger = Real;
  using Nested = Real;
  using Literal = Real;

  enum { RequireInitialization = 1 };
};

template <int N, typename Operation>
struct Eigen::ScalarBinaryOpTraits<hesscope::test::NestedCeres<N>, double, Operation> {
  using ReturnType = hesscope::test::NestedCeres<N>;
};

template <int N, typename Operation>
struct Eigen::ScalarBinaryOpTraits<double, hesscope::test::NestedCeres<N>, Operation> {
  using ReturnType = hesscope::test::NestedCeres<N>;
};
