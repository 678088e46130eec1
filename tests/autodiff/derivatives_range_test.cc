// SPDX-License-Identifier: BSD-3-Clause
//
// Near the ends of the range of double, where first and second partial derivatives leave it before
// the function's own do.
#include <cmath>
#include <numbers>
#include <type_traits>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/derivatives.h>

namespace hesscope::test {
namespace {

// Derivatives are those of x - shift, though 1 / exp(shift)^2 is 0 in doubles.
TEST(DerivativesRange, SurviveIntermediateNumbersWhoseSquaresLeaveTheRangeOfDouble) {
  const auto log_sum_exp = [](const auto& x) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    T sum(0.0);
    for (Eigen::Index i = 0; i < x.size(); ++i) sum += exp(x(i));
    return T(log(sum));
  };
  const auto log_softmax = [](const auto& x) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    T sum(0.0);
    for (Eigen::Index i = 0; i < x.size(); ++i) sum += 1.0 / exp(-x(i));
    return T(log(exp(x(0)) / sum));
  };
  for (const int n : {3, 8, 12}) {
    const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(n, -1.0, 1.0);
    for (const double shift : {-600.0, -372.0, 372.0, 600.0}) {
      const Eigen::VectorXd moved = x.array() + shift;
      const auto expect_those_of = [&](const auto& f) {
        EXPECT_LE((gradient(f, moved) - gradient(f, x)).norm(), 1e-12);
        const Eigen::MatrixXd h = hessian(f, x);
        EXPECT_LE((hessian(f, moved) - h).norm(), 1e-12 * h.norm());
        EXPECT_LE((hessian_times(f, moved, h) - h * h).norm(), 1e-12 * (h * h).norm());
      };
      expect_those_of(log_sum_exp);
      expect_those_of(log_softmax);
    }
  }
}

// f(s x) with s f(s) known: homogeneous functions of numbers near the ends of the range.
TEST(DerivativesRange, OfHomogeneousFunctionsDoNotDependOnTheScale) {
  for (const double s : {1e-250, 1e-120, 1.0, 1e120, 1e250}) {
    const auto f = [s](const auto& x) {
      using T = typename std::decay_t<decltype(x)>::Scalar;
      T sum(0.0);
      for (Eigen::Index i = 0; i < x.size(); ++i) {
        const T y = s * x(i);
        sum += log(y) + log2(y) + log10(y) + sqrt(y) / std::sqrt(s) + cbrt(y) / std::cbrt(s) +
               pow(y, 0.3) / std::pow(s, 0.3) + pow(y, 0.2 * x(i)) * pow(1.0 / s, 0.2 * x(i)) +
               atan2(y, s * x(0)) + hypot(y, s * x(0)) / s + y / (s * x(0) + y);
      }
      return sum;
    };
    const auto at_one = [](const auto& x) {
      using T = typename std::decay_t<decltype(x)>::Scalar;
      T sum(0.0);
      for (Eigen::Index i = 0; i < x.size(); ++i) {
        sum += (1.0 + std::numbers::log2e + std::numbers::log10e) * log(x(i)) + sqrt(x(i)) +
               cbrt(x(i)) + pow(x(i), 0.3) + pow(x(i), 0.2 * x(i)) + atan2(x(i), x(0)) +
               hypot(x(i), x(0)) + x(i) / (x(0) + x(i));
      }
      return sum;
    };
    for (const int n : {3, 12}) {
      const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(n, 0.5, 1.5);
      const Eigen::VectorXd g = gradient(at_one, x);
      const Eigen::MatrixXd h = hessian(at_one, x);
      EXPECT_LE((gradient(f, x) - g).norm(), 1e-11 * g.norm()) << s << " n = " << n;
      EXPECT_LE((hessian(f, x) - h).norm(), 1e-11 * h.norm()) << s << " n = " << n;
    }
  }
}

}  // namespace
}  // namespace hesscope::test
