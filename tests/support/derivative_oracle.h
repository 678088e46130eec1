// SPDX-License-Identifier: BSD-3-Clause
//
// One call that checks everything hesscope says about a function's derivatives at a point:
//
//   expect_derivatives(f, x);                                  // f smooth at x
//   expect_derivatives(f, x, {.gradient = g, .hessian = H});   // and closed forms
//
// Value, gradient, Hessian and Hessian-vector products from hesscope are compared with
//   1. the closed forms, where given;
//   2. central differences of f on 50-digit numbers, good to some 20 digits;
//   3. central differences of f on doubles, whose error is predicted: the truncation is what the
//      same difference quotient shows in 50 digits, the rounding a multiple of eps |f| / h^order;
//   4. nested Ceres Jets, for n up to kLargestNested.
// All comparisons fail on NaN.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/derivatives.h>

#include "support/multiprecision.h"
#include "support/nested_ceres.h"

namespace hesscope::test {

inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
inline constexpr int kLargestNested = 4;

// Relative to 1 + the largest entry of the expected value.
struct DerivativeTolerances {
  double value = 8 * kEpsilon;      // f itself is computed in the same way
  double gradient = 64 * kEpsilon;  // a few tens of operations, each with a rounding of eps / 2
  double hessian = 256 * kEpsilon;  // as above, and second derivatives cancel more
};

struct ClosedForms {
  std::optional<double> value = {};
  std::optional<Eigen::VectorXd> gradient = {};
  std::optional<Eigen::MatrixXd> hessian = {};
};

inline void expect_close(const Eigen::MatrixXd& actual,
                         const Eigen::MatrixXd& expected,
                         double tolerance,
                         const std::string& what) {
  ASSERT_EQ(actual.rows(), expected.rows()) << what;
  ASSERT_EQ(actual.cols(), expected.cols()) << what;
  const double bound = tolerance * (1.0 + expected.cwiseAbs().maxCoeff());
  for (Eigen::Index i = 0; i < actual.rows(); ++i) {
    for (Eigen::Index j = 0; j < actual.cols(); ++j) {
      EXPECT_TRUE(std::abs(actual(i, j) - expected(i, j)) <= bound)
          << what << " (" << i << ", " << j << "): " << actual(i, j) << ", expected "
          << expected(i, j) << ", difference " << actual(i, j) - expected(i, j) << ", bound "
          << bound;
    }
  }
}

// Central differences with step h on scalar T, and the largest |f| met.
template <typename T>
struct CentralDifferences {
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
  double largest = 0.0;

  template <typename F>
  CentralDifferences(const F& f, const Eigen::VectorXd& x, const T& h)
      : gradient(x.size()), hessian(x.size(), x.size()) {
    Eigen::Matrix<T, Eigen::Dynamic, 1> at = x.cast<T>();
    const auto moved = [&](Eigen::Index i, int a, Eigen::Index j, int b) {
      const T keep_i = at(i);
      const T keep_j = at(j);
      at(i) = at(i) + a * h;
      at(j) = at(j) + b * h;
      const T value = f(at);
      at(j) = keep_j;
      at(i) = keep_i;
      largest = std::max(largest, std::abs(static_cast<double>(value)));
      return value;
    };
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      gradient(i) = static_cast<double>((moved(i, 1, i, 0) - moved(i, -1, i, 0)) / (2 * h));
      for (Eigen::Index j = 0; j <= i; ++j) {
        const T sum =
            moved(i, 1, j, 1) - moved(i, 1, j, -1) - moved(i, -1, j, 1) + moved(i, -1, j, -1);
        hessian(i, j) = hessian(j, i) = static_cast<double>(sum / (4 * h * h));
      }
    }
  }
};

template <int N, typename F>
void expect_equals_nested_ceres(const F& f,
                                const Eigen::VectorXd& x,
                                const ValueGradientHessian& actual,
                                const DerivativeTolerances& tolerances) {
  if (x.size() != N) {
    if constexpr (N < kLargestNested) expect_equals_nested_ceres<N + 1>(f, x, actual, tolerances);
    return;
  }
  Eigen::Matrix<NestedCeres<N>, Eigen::Dynamic, 1> at(N);
  for (int i = 0; i < N; ++i) at(i) = NestedCeres<N>::variable(x(i), i);
  const NestedCeres<N> y = f(at);
  Eigen::VectorXd gradient(N);
  Eigen::MatrixXd hessian(N, N);
  for (int i = 0; i < N; ++i) {
    gradient(i) = y.jet.v(i).a;
    for (int j = 0; j < N; ++j) hessian(i, j) = y.jet.v(i).v(j);
  }
  expect_close(actual.gradient, gradient, tolerances.gradient, "gradient by nested Ceres Jets");
  expect_close(actual.hessian, hessian, tolerances.hessian, "Hessian by nested Ceres Jets");
}

template <typename F>
void expect_derivatives(const F& f,
                        const Eigen::VectorXd& x,
                        const ClosedForms& closed = {},
                        const DerivativeTolerances& tolerances = {}) {
  const ValueGradientHessian actual = value_gradient_hessian(f, x);
  const double value = f(x);

  // The same function, and every way to ask for the same derivative agrees.
  EXPECT_TRUE(std::abs(actual.value - value) <= tolerances.value * (1.0 + std::abs(value)));
  EXPECT_EQ(actual.hessian, actual.hessian.transpose().eval());
  EXPECT_EQ(actual.hessian, hessian(f, x));
  expect_close(gradient(f, x), actual.gradient, tolerances.gradient, "gradient(f, x)");
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(x.size(), x.size());
  expect_close(
      hessian_times(f, x, identity), actual.hessian, tolerances.hessian, "hessian_times(I)");
  const Eigen::VectorXd direction = Eigen::VectorXd::LinSpaced(x.size(), -1.0, 0.75);
  expect_close(hessian_times(f, x, direction),
               actual.hessian * direction,
               tolerances.hessian * static_cast<double>(x.size()),
               "hessian_times(v)");

  if (closed.value)
    expect_close(Eigen::MatrixXd::Constant(1, 1, value),
                 Eigen::MatrixXd::Constant(1, 1, *closed.value),
                 tolerances.value,
                 "value in closed form");
  if (closed.gradient) {
    expect_close(actual.gradient, *closed.gradient, tolerances.gradient, "gradient in closed form");
  }
  if (closed.hessian) {
    expect_close(actual.hessian, *closed.hessian, tolerances.hessian, "Hessian in closed form");
  }

  // Truncation h^2 = 1e-24, rounding 1e-50 / h^2 = 1e-26, both relative.
  const CentralDifferences<Real50> exact(f, x, Real50("1e-12"));
  expect_close(actual.gradient, exact.gradient, tolerances.gradient, "gradient in 50 digits");
  expect_close(actual.hessian, exact.hessian, tolerances.hessian, "Hessian in 50 digits");

  // h = 2^-13, about eps^(1/4), so that x + h is exact for x of ordinary size.
  const double h = std::ldexp(1.0, -13);
  const CentralDifferences<double> plain(f, x, h);
  const CentralDifferences<Real50> truncated(f, x, Real50(h));
  const double rounding = 64 * kEpsilon * (1.0 + plain.largest);
  const double gradient_error =
      (truncated.gradient - exact.gradient).cwiseAbs().maxCoeff() + rounding / h;
  const double hessian_error =
      (truncated.hessian - exact.hessian).cwiseAbs().maxCoeff() + rounding / (h * h);
  EXPECT_TRUE((actual.gradient - plain.gradient).cwiseAbs().maxCoeff() <= gradient_error);
  EXPECT_TRUE((actual.hessian - plain.hessian).cwiseAbs().maxCoeff() <= hessian_error);

  expect_equals_nested_ceres<1>(f, x, actual, tolerances);
}

}  // namespace hesscope::test
