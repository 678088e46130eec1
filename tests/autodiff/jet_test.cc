// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <type_traits>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <hesscope/autodiff/jet.h>
#include <hesscope/core/constants.h>

#include "autodiff/jet_checks.h"
#include "support/derivative_oracle.h"

namespace hesscope::test {
namespace {

static_assert(sizeof(Jet<1, 3>) == 4 * sizeof(double));
static_assert(sizeof(Jet<2, 3>) == 10 * sizeof(double));
static_assert(sizeof(Jet<2, 5, 2>) == 15 * sizeof(double));
static_assert(alignof(Jet<2, 4>) == alignof(double));
static_assert(std::is_trivially_copyable_v<Jet<2, 3>>);
static_assert(!std::is_convertible_v<Jet<2, 3>, double>);

TEST(Jet, FollowsTheWorkedExampleOfItsHeader) {
  using J = Jet<2, 2>;
  const J x = J::variable(3.0, 0);
  const J y = J::variable(5.0, 1);
  const J f = x * y + x * x;
  EXPECT_EQ(f.value, 24.0);
  EXPECT_EQ(f.gradient, (std::array<double, 2>{11.0, 3.0}));
  EXPECT_EQ(f.hessian, (std::array<double, 3>{2.0, 1.0, 0.0}));
  EXPECT_EQ(f.second(0, 1), 1.0);
  EXPECT_EQ(f.second(1, 0), 1.0);
}

TEST(Jet, CompoundAssignmentEqualsTheBinaryOperator) {
  const Jet1 x = square(variable(1.5));
  const Jet1 y = exp(variable(0.25));
  const auto expect_same = [](const Jet1& a, const Jet1& b) {
    expect_jet(a, b.value, b.gradient[0], b.second(0, 0));
  };
  Jet1 a = x;
  expect_same(a += y, x + y);
  expect_same(a -= y, (x + y) - y);
  a = x;
  expect_same(a *= y, x * y);
  a = x;
  expect_same(a /= y, x / y);
  const Jet1& alias = a;
  a = x;
  expect_same(a *= alias, x * x);
  a = x;
  expect_same(a /= alias, x / x);
  a = x;
  expect_same(((a += 2) -= 0.5), x + 1.5);
  a = x;
  expect_same(((a *= 3) /= 2), x * 3 / 2);
  expect_same(+x, x);
}

TEST(Jet, ComparesValuesWithJetsAndArithmeticTypes) {
  const Jet1 x = variable(1.5);
  EXPECT_TRUE(x < 2 && x <= 2.0 && x > 1 && x >= 1.5 && x == 1.5 && x != 2);
  EXPECT_TRUE(2 > x && 2.0 >= x && 1 < x && 1.5 <= x && 1.5 == x && 2 != x);
  EXPECT_TRUE(x == Jet1(1.5) && x < Jet1(2.0) && x >= Jet1(1.0) && x != Jet1(2.0));
  const Jet1 nan = variable(kNaN);
  EXPECT_FALSE(nan < 1.0 || nan >= 1.0 || nan == nan || nan == 0.0);
  EXPECT_TRUE(nan != nan);
  EXPECT_TRUE(isnan(nan) && isfinite(x) && isinf(variable(-kInfinity)));
  EXPECT_FALSE(isnan(x) || isinf(x) || isfinite(nan));
  EXPECT_EQ(value_of(x), value_of(1.5));
}

TEST(Jet, SatisfiesIdentities) {
  for (const double v : {-2.0, -0.5, 0.25, 1.0, 3.0}) {
    const Jet1 x = square(variable(v)) + 0.5;
    const auto expect_same = [&](const Jet1& a, const Jet1& b) {
      const double bound = 256 * kEpsilon * (1 + std::abs(b.value) + std::abs(b.second(0, 0)));
      EXPECT_TRUE(std::abs(a.value - b.value) <= bound);
      EXPECT_TRUE(std::abs(a.gradient[0] - b.gradient[0]) <= bound);
      EXPECT_TRUE(std::abs(a.second(0, 0) - b.second(0, 0)) <= bound);
    };
    expect_same(square(sin(x)) + square(cos(x)), Jet1(1.0));
    expect_same((cosh(x) + sinh(x)) * exp(-x), Jet1(1.0));
    expect_same(log(exp(x)), x);
    expect_same(sqrt(x) * sqrt(x), x);
    expect_same(cbrt(x) * cbrt(x) * cbrt(x), x);
    expect_same(erf(x) + erfc(x), Jet1(1.0));
    expect_same(pow(x, Jet1(2.0)), x * x);
    expect_same(hypot(x, x), std::sqrt(2.0) * x);
    expect_same(tan(atan(x)), x);
  }
}

TEST(Jet, NanSpreadsToAllDerivatives) {
  const Jet1 x = variable(kNaN);
  for (const Jet1& y : {abs(x),
                        relu(x),
                        sqrt(x),
                        exp(x),
                        tanh(x),
                        log(x),
                        pow(x, 3),
                        pow(2.0, x),
                        hypot(x, 1.0),
                        atan2(x, 1.0),
                        erf(x),
                        cbrt(x),
                        asinh(x),
                        acosh(x),
                        atanh(x),
                        lgamma(x),
                        tgamma(x),
                        hypot(x, 1.0, 2.0),
                        hypot(1.0, 2.0, x),
                        fma(x, 2.0, 1.0),
                        fdim(x, 1.0),
                        fmod(x, 1.0),
                        copysign(x, 1.0),
                        round(x),
                        sin(x)}) {
    expect_jet(y, kNaN, kNaN, kNaN);
  }
}

TEST(Jet, KeepsTheAskedColumnsOfTheTriangle) {
  using Full = Jet<2, 5>;
  using Part = Jet<2, 5, 2>;
  const auto f = [](const auto& x) { return exp(x[0] * x[3]) * sin(x[1] + x[4] / x[2]); };
  std::array<Full, 5> full;
  std::array<Part, 5> part;
  for (int i = 0; i < 5; ++i) {
    full[static_cast<std::size_t>(i)] = Full::variable(0.5 + 0.1 * i, i);
    part[static_cast<std::size_t>(i)] = Part::variable(0.5 + 0.1 * i, i);
  }
  const Full a = f(full);
  const Part b = f(part);
  EXPECT_EQ(a.gradient, b.gradient);
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 2; ++j) EXPECT_EQ(a.second(i, j), b.second(i, j)) << i << ", " << j;
  }
}

TEST(Jet, IsAScalarOfEigen) {
  using J = Jet<2, 3>;
  const Eigen::Matrix3d a = (Eigen::Matrix3d() << 4, 1, -2, 1, 3, 0.5, -2, 0.5, 5).finished();
  const Eigen::Vector3d at(0.5, -1.25, 2.0);
  Eigen::Matrix<J, Eigen::Dynamic, 1> x(3);
  for (int i = 0; i < 3; ++i) x(i) = J::variable(at(i), i);

  const auto expect_quadratic = [&](const J& q) {  // x' A x
    const Eigen::Vector3d slope = 2.0 * a * at;
    EXPECT_NEAR(q.value, at.dot(a * at), 1e-14);
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(q.gradient[static_cast<std::size_t>(i)], slope(i), 1e-14);
      for (int j = 0; j < 3; ++j) EXPECT_NEAR(q.second(i, j), 2.0 * a(i, j), 1e-14);
    }
  };
  expect_quadratic(x.dot(a * x));
  expect_quadratic((x.transpose() * a * x).value());
  expect_quadratic((a * (x * x.transpose())).trace());
  expect_quadratic((a.llt().matrixU().toDenseMatrix() * x).squaredNorm());
  expect_quadratic(x.cwiseProduct(a * x).sum());

  const J norm = x.norm();
  EXPECT_NEAR(norm.value, at.norm(), 1e-15);
  EXPECT_NEAR(norm.gradient[1], at(1) / at.norm(), 1e-15);
  EXPECT_NEAR(norm.second(1, 0), -at(0) * at(1) / std::pow(at.norm(), 3), 1e-15);

  const J exps = (2.0 * x).array().exp().sum() + x.array().tanh().square().sum() +
                 x.array().abs().maxCoeff<Eigen::PropagateNaN>();
  const double expected =  // the largest entry is x_2
      2.0 * std::exp(4.0) + 2.0 * std::tanh(2.0) / std::pow(std::cosh(2.0), 2) + 1.0;
  EXPECT_NEAR(exps.gradient[2], expected, 1e-13);

  const Eigen::Matrix<J, 3, 3> identity = (a.cast<J>() * a.inverse());
  EXPECT_NEAR(identity(1, 1).value, 1.0, 1e-14);
  const Eigen::Matrix<J, Eigen::Dynamic, 1> solved = a.cast<J>().eval().partialPivLu().solve(x);
  EXPECT_NEAR(solved(0).gradient[2], a.inverse()(0, 2), 1e-15);
}

}  // namespace
}  // namespace hesscope::test
