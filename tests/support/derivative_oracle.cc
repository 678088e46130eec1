// SPDX-License-Identifier: BSD-3-Clause
#include "support/derivative_oracle.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "support/maxima.h"

namespace hesscope::test {

void expect_close(const Eigen::MatrixXd& actual,
                  const Eigen::MatrixXd& expected,
                  double tolerance,
                  const std::string& what) {
  ASSERT_EQ(actual.rows(), expected.rows()) << what;
  ASSERT_EQ(actual.cols(), expected.cols()) << what;
  const double bound = tolerance * (1.0 + largest_magnitude(expected));
  for (Eigen::Index i = 0; i < actual.rows(); ++i) {
    for (Eigen::Index j = 0; j < actual.cols(); ++j) {
      EXPECT_TRUE(std::abs(actual(i, j) - expected(i, j)) <= bound)
          << what << " (" << i << ", " << j << "): " << actual(i, j) << ", expected "
          << expected(i, j) << ", difference " << actual(i, j) - expected(i, j) << ", bound "
          << bound;
    }
  }
}

template <typename T>
CentralDifferences<T>::CentralDifferences(const FunctionOn<T>& f,
                                          const Eigen::VectorXd& x,
                                          const T& h)
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

template struct CentralDifferences<double>;
template struct CentralDifferences<Real50>;

void expect_derivatives(const SaidOfDerivatives& said,
                        const FunctionOn<double>& f,
                        const FunctionOn<Real50>& exact_f,
                        const Eigen::VectorXd& x,
                        const ClosedForms& closed,
                        const DerivativeTolerances& tolerances) {
  const ValueGradientHessian& actual = said.all;
  const double value = f(x);

  // The function is the same, and all ways to ask for a derivative agree.
  EXPECT_TRUE(std::abs(actual.value - value) <= tolerances.value * (1.0 + std::abs(value)));
  EXPECT_EQ(actual.hessian, actual.hessian.transpose().eval());
  EXPECT_EQ(actual.hessian, said.hessian);
  expect_close(said.gradient, actual.gradient, tolerances.gradient, "gradient(f, x)");
  expect_close(said.times_identity, actual.hessian, tolerances.hessian, "hessian_times(I)");
  expect_close(said.times_direction,
               actual.hessian * said.direction,
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
  const CentralDifferences<Real50> exact(exact_f, x, Real50("1e-12"));
  expect_close(actual.gradient, exact.gradient, tolerances.gradient, "gradient in 50 digits");
  expect_close(actual.hessian, exact.hessian, tolerances.hessian, "Hessian in 50 digits");

  // h = 2^-13, about eps^(1/4), so that x + h is exact for x of ordinary size.
  const double h = std::ldexp(1.0, -13);
  const CentralDifferences<double> plain(f, x, h);
  const CentralDifferences<Real50> truncated(exact_f, x, Real50(h));
  const double rounding = 64 * kEpsilon * (1.0 + plain.largest);
  const double gradient_error =
      largest_difference(truncated.gradient, exact.gradient) + rounding / h;
  const double hessian_error =
      largest_difference(truncated.hessian, exact.hessian) + rounding / (h * h);
  EXPECT_TRUE(largest_difference(actual.gradient, plain.gradient) <= gradient_error);
  EXPECT_TRUE(largest_difference(actual.hessian, plain.hessian) <= hessian_error);
}

}  // namespace hesscope::test
