// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/autodiff/derivatives.h>
#include <hesscope/core/constants.h>

#include "support/derivative_oracle.h"
#include "support/matrices.h"

namespace hesscope::test {
namespace {

// sum_i (1 - x_i)^2 + 100 (x_{i+1} - x_i^2)^2, with (1 - x_0)^2 for n = 1.
struct Rosenbrock {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x) const {
    T sum = (1.0 - x(0)) * (1.0 - x(0));
    for (Eigen::Index i = 0; i + 1 < x.size(); ++i) {
      const T a = 1.0 - x(i);
      const T b = x(i + 1) - x(i) * x(i);
      sum += 100.0 * b * b;
      if (i > 0) sum += a * a;
    }
    return sum;
  }
};

ClosedForms rosenbrock_closed_forms(const Eigen::VectorXd& x) {
  const Eigen::Index n = x.size();
  Eigen::VectorXd g = Eigen::VectorXd::Zero(n);
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < std::max<Eigen::Index>(1, n - 1); ++i) {
    g(i) -= 2.0 * (1.0 - x(i));
    H(i, i) += 2.0;
  }
  for (Eigen::Index i = 0; i + 1 < n; ++i) {
    const double b = x(i + 1) - x(i) * x(i);
    g(i) -= 400.0 * x(i) * b;
    g(i + 1) += 200.0 * b;
    H(i, i) += 800.0 * x(i) * x(i) - 400.0 * b;
    H(i + 1, i + 1) += 200.0;
    H(i, i + 1) -= 400.0 * x(i);
    H(i + 1, i) -= 400.0 * x(i);
  }
  return {.value = {}, .gradient = g, .hessian = H};
}

Eigen::VectorXd wavy_point(Eigen::Index n) {
  return (2.0 * Eigen::VectorXd::LinSpaced(n, 1.0, static_cast<double>(n))).array().sin() * 0.8;
}

// Couples all pairs of variables, none alike.
struct Coupled {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x) const {
    using std::exp;
    using std::log1p;
    using std::tanh;
    T wave(0.0);
    T square(0.5);
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const double weight = 1.0 / (3.0 + static_cast<double>(i));
      wave += weight * x(i);
      square += weight * x(i) * x(i) * x((i + 1) % x.size());
    }
    return tanh(wave) * log1p(exp(square)) + wave / (2.0 + square * square);
  }
};

class DerivativesOfSize : public testing::TestWithParam<int> {};

TEST_P(DerivativesOfSize, MatchAllOracles) {
  const Eigen::VectorXd x = wavy_point(GetParam());
  expect_derivatives(Coupled{}, x);
  expect_derivatives(Rosenbrock{}, x, rosenbrock_closed_forms(x));
}

// 17 and 33 begin a second and a fifth column block, 16 and 4 fill their Jets.
INSTANTIATE_TEST_SUITE_P(AllJets,
                         DerivativesOfSize,
                         testing::Values(1, 2, 3, 4, 5, 8, 9, 16, 17, 33));

TEST(Hessian, MatchesClosedFormOfRosenbrock) {
  const Eigen::MatrixXd H = hessian(Rosenbrock{}, Eigen::Vector2d(-1.2, 1.0));
  const Eigen::Matrix2d expected = (Eigen::Matrix2d() << 1330.0, 480.0, 480.0, 200.0).finished();
  expect_close(H, expected, 4 * kEpsilon, "Hessian at the classical start");
  const Eigen::VectorXd at_minimum = gradient(Rosenbrock{}, Eigen::Vector2d(1.0, 1.0));
  EXPECT_EQ(at_minimum, Eigen::Vector2d(0.0, 0.0));
}

TEST(Hessian, MatchesClosedFormOfAHundredVariables) {
  const Eigen::VectorXd x = wavy_point(100);
  const ClosedForms expected = rosenbrock_closed_forms(x);
  const ValueGradientHessian actual = value_gradient_hessian(Rosenbrock{}, x);
  expect_close(actual.gradient, *expected.gradient, 16 * kEpsilon, "gradient");
  expect_close(actual.hessian, *expected.hessian, 16 * kEpsilon, "Hessian");
  EXPECT_EQ(gradient(Rosenbrock{}, x), actual.gradient);
  EXPECT_EQ(actual.value, Rosenbrock{}(x));
}

template <typename J>
ValueGradientHessian in_one_sweep(const Eigen::VectorXd& x) {
  const J y = Coupled{}(detail::seeded<J>(x, {0, x.size(), x.size(), 0}));
  ValueGradientHessian result{
      y.value, Eigen::VectorXd(x.size()), Eigen::MatrixXd(x.size(), x.size())};
  for (int i = 0; i < x.size(); ++i) {
    result.gradient(i) = y.gradient[static_cast<std::size_t>(i)];
    for (int j = 0; j < x.size(); ++j) result.hessian(i, j) = y.second(i, j);
  }
  return result;
}

TEST(Hessian, DoesNotDependOnTheGroupingOfVariables) {
  for (const int n : {17, 24, 33, 45}) {
    const Eigen::VectorXd x = wavy_point(n);
    const ValueGradientHessian blocks = value_gradient_hessian(Coupled{}, x);
    const ValueGradientHessian single = in_one_sweep<Jet<2, 45>>(x);
    EXPECT_EQ(blocks.value, single.value) << n;
    expect_close(blocks.gradient, single.gradient, 1e-15, "gradient");
    expect_close(blocks.hessian, single.hessian, 1e-15, "Hessian");
  }
}

TEST(Hessian, RotatesWithItsArgument) {
  for (const int n : {3, 20}) {
    const Eigen::MatrixXd Q = test::random_orthogonal(n, 1);
    const auto rotated = [&Q](const auto& x) { return Coupled{}((Q.transpose() * x).eval()); };
    const Eigen::VectorXd x = wavy_point(n);
    const Eigen::VectorXd y = Q * x;
    const double bound = 64 * n * kEpsilon;
    expect_close(gradient(rotated, y), Q * gradient(Coupled{}, x), bound, "gradient");
    expect_close(hessian(rotated, y), Q * hessian(Coupled{}, x) * Q.transpose(), bound, "Hessian");
  }
}

TEST(HessianTimes, EqualsTheProductForAnyNumberOfDirections) {
  for (const int n : {1, 5, 17, 40}) {
    const Eigen::VectorXd x = wavy_point(n);
    const Eigen::MatrixXd H = hessian(Coupled{}, x);
    for (const int k : {0, 1, 2, 4, 5, 9}) {
      const Eigen::MatrixXd V =
          Eigen::MatrixXd::NullaryExpr(n, k, [](Eigen::Index i, Eigen::Index j) {
            return std::cos(static_cast<double>(5 * i + j * j));
          });
      const Eigen::MatrixXd actual = hessian_times(Coupled{}, x, V);
      ASSERT_EQ(actual.cols(), k);
      if (k > 0) expect_close(actual, H * V, 64 * n * kEpsilon, "H V");
    }
  }
}

TEST(Derivatives, AcceptAnyVectorExpression) {
  const std::vector<double> storage{9.0, -1.2, 9.0, 1.0};
  using Strided = Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<2>>;
  const Strided map(storage.data() + 1, 2);
  const Eigen::VectorXd dynamic = map;
  const Eigen::Vector2d fixed = map;
  const Eigen::RowVector2d row = map.transpose();
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(3, 3);
  matrix.block<2, 1>(1, 1) = map;
  const Eigen::MatrixXd H = hessian(Rosenbrock{}, dynamic);
  EXPECT_EQ(hessian(Rosenbrock{}, map), H);
  EXPECT_EQ(hessian(Rosenbrock{}, fixed), H);
  EXPECT_EQ(hessian(Rosenbrock{}, row), H);
  EXPECT_EQ(hessian(Rosenbrock{}, dynamic.transpose()), H);
  EXPECT_EQ(hessian(Rosenbrock{}, matrix.col(1).tail(2)), H);
  EXPECT_EQ(hessian(Rosenbrock{}, 2.0 * (0.5 * fixed)), H);
  EXPECT_EQ(hessian_times(Rosenbrock{}, row, fixed), H * fixed);
  EXPECT_EQ(gradient(Rosenbrock{}, matrix.col(1).tail(2)), gradient(Rosenbrock{}, dynamic));
}

TEST(Derivatives, AcceptLambdasAndEigenExpressions) {
  const Eigen::Matrix2d A = (Eigen::Matrix2d() << 2.0, 0.5, 0.5, 3.0).finished();
  const auto quadratic = [&A](const auto& x) { return x.dot(A * x); };
  EXPECT_EQ(hessian(quadratic, Eigen::Vector2d(0.25, -1.0)), 2.0 * A);
  // A product of a row and a column is an expression that converts to its scalar.
  const auto product = [](const auto& x) { return x.transpose() * x; };
  EXPECT_EQ(hessian(product, Eigen::Vector2d(0.25, -1.0)), 2.0 * Eigen::Matrix2d::Identity());
}

TEST(Derivatives, OfAConstantAreZero) {
  const auto constant = [](const auto& x) {
    return typename std::decay_t<decltype(x)>::Scalar(7.0);
  };
  const ValueGradientHessian result =
      value_gradient_hessian(constant, Eigen::Vector3d(1.0, 2.0, 3.0));
  EXPECT_EQ(result.value, 7.0);
  EXPECT_EQ(result.gradient, Eigen::Vector3d::Zero());
  EXPECT_EQ(result.hessian, Eigen::Matrix3d::Zero());
}

struct RefusesNegatives {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x) const {
    using std::log;
    if (x(0) < 0) throw std::domain_error("x_0 must not be negative");
    return log(x(0));
  }
};

TEST(Derivatives, ThrowWhereTheFunctionThrows) {
  const RefusesNegatives f;
  for (const double at : {-1.0, 2.0}) {
    Eigen::VectorXd x(1);
    x << at;
    if (at < 0) {
      EXPECT_THROW(f(x), std::domain_error);
      EXPECT_THROW(gradient(f, x), std::domain_error);
      EXPECT_THROW(hessian(f, x), std::domain_error);
      EXPECT_THROW(hessian_times(f, x, x), std::domain_error);
    } else {
      EXPECT_NO_THROW(f(x));
      EXPECT_NO_THROW(gradient(f, x));
      EXPECT_NO_THROW(hessian(f, x));
      EXPECT_NO_THROW(hessian_times(f, x, x));
    }
  }
}

TEST(Derivatives, ReturnNonFiniteResults) {
  const Eigen::VectorXd x = Eigen::Vector3d(1.0, kNaN, 2.0);
  const ValueGradientHessian result = value_gradient_hessian(Coupled{}, x);
  EXPECT_TRUE(std::isnan(result.value));
  EXPECT_TRUE(result.gradient.hasNaN());
  EXPECT_TRUE(result.hessian.hasNaN());
  EXPECT_TRUE(hessian_times(Coupled{}, x, Eigen::Vector3d(1.0, 0.0, 0.0)).hasNaN());
}

TEST(Derivatives, AtAKinkDoNotDependOnTheGroupingOfVariables) {
  // |x_0| + sqrt(x_1), the other variables regular
  const auto f = [](const auto& x) {
    using std::abs;
    using std::sqrt;
    return abs(x(0)) + sqrt(x(1)) + x.tail(x.size() - 2).squaredNorm();
  };
  for (const int n : {3, 30}) {
    Eigen::VectorXd x = Eigen::VectorXd::Ones(n);
    x(0) = x(1) = 0.0;
    Eigen::MatrixXd expected = 2.0 * Eigen::MatrixXd::Identity(n, n);
    expected(0, 0) = 0.0;
    expected(1, 1) = -kInfinity;
    EXPECT_EQ(hessian(f, x), expected) << n;
  }
}

template <typename Call>
void expect_refusal(const Call& call, const std::string& message) {
  try {
    call();
    ADD_FAILURE() << "not refused; expected: " << message;
  } catch (const PreconditionError& error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(Derivatives, RefuseWhatBreaksTheirPreconditions) {
  const Eigen::VectorXd empty;
  const Rosenbrock f;
  expect_refusal([&] { gradient(f, empty); }, "gradient: x must have at least 1 entry");
  expect_refusal([&] { hessian(f, empty); }, "hessian: x must have at least 1 entry");
  expect_refusal([&] { value_gradient_hessian(f, empty); },
                 "value_gradient_hessian: x must have at least 1 entry");
  expect_refusal([&] { hessian_times(f, empty, empty); },
                 "hessian_times: x must have at least 1 entry");
  expect_refusal([&] { hessian_times(f, Eigen::Vector2d(1.0, 2.0), Eigen::MatrixXd::Zero(3, 1)); },
                 "hessian_times: V must have as many rows as x has entries, 2, got 3");
}

// The least of several squared distances, begun at infinity as for any scalar.
TEST(Derivatives, KnowTheLimitsOfTheirScalars) {
  const auto nearest = [](const auto& x) {
    using T = std::decay_t<decltype(x(0) * x(0))>;
    T least = std::numeric_limits<T>::infinity();
    for (const double at : {0.8, -3.0}) least = std::min(least, T((x(0) - at) * (x(0) - at)));
    return T(least + std::numeric_limits<T>::lowest() * 0.0 + std::numeric_limits<T>::epsilon());
  };
  for (const Eigen::Index n : {2, 10}) {  // by Jets, and by records
    const Eigen::VectorXd x = Eigen::VectorXd::Constant(n, 1.0);
    EXPECT_NEAR(nearest(x), 0.04, 1e-15);
    EXPECT_NEAR(gradient(nearest, x)(0), 0.4, 1e-14);
    EXPECT_NEAR(hessian(nearest, x)(0, 0), 2.0, 1e-14);
  }
}

}  // namespace
}  // namespace hesscope::test
