// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <type_traits>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <hesscope/autodiff/jet.h>
#include <hesscope/core/constants.h>

#include "support/derivative_oracle.h"

namespace hesscope::test {
namespace {

using Jet1 = Jet<2, 1>;

// NaN equals NaN; the sign of zero does not matter.
void expect_number(double actual, double expected, const char* what) {
  EXPECT_TRUE(std::isnan(expected) ? std::isnan(actual) : actual == expected)
      << what << " is " << actual << ", expected " << expected;
}

void expect_jet(const Jet1& y, double value, double first, double second) {
  expect_number(y.value, value, "value");
  expect_number(y.gradient[0], first, "first derivative");
  expect_number(y.second(0, 0), second, "second derivative");
}

Jet1 variable(double at) { return Jet1::variable(at, 0); }

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

TEST(JetKink, AbsAndReluHaveSlopeZeroAtZero) {
  for (const double zero : {0.0, -0.0}) {
    expect_jet(abs(variable(zero)), 0.0, 0.0, 0.0);
    expect_jet(fabs(variable(zero)), 0.0, 0.0, 0.0);
    expect_jet(relu(variable(zero)), 0.0, 0.0, 0.0);
  }
  expect_jet(abs(variable(-2.0)), 2.0, -1.0, 0.0);
  expect_jet(relu(variable(2.0)), 2.0, 1.0, 0.0);
  expect_jet(relu(variable(-2.0)), 0.0, 0.0, 0.0);
  EXPECT_EQ(relu(-2.0), 0.0);
  EXPECT_EQ(relu(2.0), 2.0);
}

TEST(JetKink, SqrtHasItsOneSidedLimitsAtZero) {
  expect_jet(sqrt(variable(0.0)), 0.0, kInfinity, -kInfinity);
  expect_jet(sqrt(variable(-0.0)), 0.0, kInfinity, -kInfinity);
  expect_jet(sqrt(Jet1(0.0)), 0.0, 0.0, 0.0);  // a constant stays one
  expect_jet(pow(variable(0.0), 0.5), 0.0, kInfinity, -kInfinity);
  expect_jet(pow(variable(0.0), Jet1(0.5)), 0.0, kInfinity, -kInfinity);
}

TEST(JetKink, SqrtOfASquareIsAbs) {
  const Jet1 x = variable(0.0);
  expect_jet(sqrt(x * x), 0.0, 0.0, 0.0);
  expect_jet(hypot(x, x), 0.0, 0.0, 0.0);
  expect_jet(hypot(x, 0.0), 0.0, 0.0, 0.0);
  const Jet<1, 1> first = Jet<1, 1>::variable(0.0, 0);
  EXPECT_EQ(sqrt(first * first).gradient[0], 0.0);
  expect_jet(pow(x * x, 0.5), 0.0, 0.0, 0.0);
  expect_jet(pow(x * x, Jet1(0.5)), 0.0, 0.0, 0.0);
}

TEST(JetKink, IntegerPowersAreExactAtZero) {
  const Jet1 x = variable(0.0);
  expect_jet(pow(x, 0), 1.0, 0.0, 0.0);
  expect_jet(pow(x, 1), 0.0, 1.0, 0.0);
  expect_jet(pow(x, 2), 0.0, 0.0, 2.0);
  expect_jet(pow(x, 3.0), 0.0, 0.0, 0.0);
  expect_jet(pow(x, Jet1(0.0)), 1.0, 0.0, 0.0);
  expect_jet(pow(x, Jet1(1.0)), 0.0, 1.0, 0.0);
  expect_jet(pow(x, Jet1(2.0)), 0.0, 0.0, 2.0);
  expect_jet(pow(x, Jet1(3.0)), 0.0, 0.0, 0.0);
  expect_jet(pow(x, 1.5), 0.0, 0.0, kInfinity);
  expect_jet(pow(variable(-2.0), Jet1(3.0)), -8.0, 12.0, -12.0);
  expect_jet(square(x), 0.0, 0.0, 2.0);
}

TEST(JetKink, PowFollowsItsCasesAtNonPositiveBases) {
  const Jet1 y = variable(2.0);
  expect_jet(pow(0.0, y), 0.0, 0.0, 0.0);                // 0^y is 0 around y = 2
  expect_jet(pow(0.0, variable(0.0)), 1.0, kNaN, kNaN);  // 0^y jumps at 0
  expect_jet(pow(-2.0, y), 4.0, kNaN, kNaN);             // defined at integers only
  expect_jet(pow(-2.0, variable(0.5)), kNaN, kNaN, kNaN);
  expect_jet(pow(-2.0, Jet1(2.0)), 4.0, 0.0, 0.0);  // constants
  expect_jet(pow(variable(-2.0), 0.5), kNaN, kNaN, kNaN);
  using J = Jet<2, 2>;
  const J p = pow(J::variable(0.0, 0), J::variable(2.0, 1));  // case 2
  EXPECT_EQ(p.value, 0.0);
  EXPECT_EQ(p.gradient, (std::array<double, 2>{0.0, 0.0}));
  EXPECT_EQ(p.hessian, (std::array<double, 3>{2.0, 0.0, 0.0}));
  const J q = pow(J::variable(0.0, 0), J::variable(1.0, 1));  // case 3
  EXPECT_EQ(q.gradient, (std::array<double, 2>{1.0, 0.0}));
  EXPECT_EQ(q.hessian, (std::array<double, 3>{0.0, -kInfinity, 0.0}));
}

TEST(JetKink, LogarithmsRootsAndArcsAtTheEndOfTheirDomain) {
  expect_jet(log(variable(0.0)), -kInfinity, kInfinity, -kInfinity);
  expect_jet(log2(variable(0.0)), -kInfinity, kInfinity, -kInfinity);
  expect_jet(log10(variable(-0.0)), -kInfinity, kInfinity, -kInfinity);
  expect_jet(log1p(variable(-1.0)), -kInfinity, kInfinity, -kInfinity);
  expect_jet(cbrt(variable(0.0)), 0.0, kInfinity, kNaN);
  expect_jet(asin(variable(1.0)), std::asin(1.0), kInfinity, kInfinity);
  expect_jet(acos(variable(1.0)), 0.0, -kInfinity, -kInfinity);
  expect_jet(acosh(variable(1.0)), 0.0, kInfinity, -kInfinity);
  expect_jet(atanh(variable(1.0)), kInfinity, kInfinity, kInfinity);
  expect_jet(atanh(variable(-1.0)), -kInfinity, kInfinity, -kInfinity);
  for (const double pole : {0.0, -0.0, -1.0, -30.0}) {
    expect_jet(lgamma(variable(pole)), kInfinity, kNaN, kInfinity);
  }
  expect_jet(lgamma(variable(kInfinity)), kInfinity, kInfinity, 0.0);
  expect_jet(tgamma(variable(0.0)), kInfinity, kNaN, kNaN);
  expect_jet(tgamma(variable(-0.0)), -kInfinity, kNaN, kNaN);
  for (const Jet1& outside : {log(variable(-1.0)),
                              sqrt(variable(-1.0)),
                              log1p(variable(-2.0)),
                              asin(variable(1.5)),
                              acos(variable(-1.5)),
                              log2(variable(-1.0)),
                              acosh(variable(0.5)),
                              atanh(variable(-1.5)),
                              tgamma(variable(-2.0)),
                              fmod(variable(1.0), 0.0),
                              remainder(variable(kInfinity), 2.0)}) {
    expect_jet(outside, kNaN, kNaN, kNaN);
  }
}

TEST(JetKink, SmoothPrimitivesAtZeroHaveTheirTaylorCoefficients) {
  const Jet1 x = variable(0.0);
  expect_jet(exp(x), 1.0, 1.0, 1.0);
  expect_jet(expm1(x), 0.0, 1.0, 1.0);
  expect_jet(log1p(x), 0.0, 1.0, -1.0);
  expect_jet(sin(x), 0.0, 1.0, 0.0);
  expect_jet(cos(x), 1.0, 0.0, -1.0);
  expect_jet(tan(x), 0.0, 1.0, 0.0);
  expect_jet(asin(x), 0.0, 1.0, 0.0);
  expect_jet(atan(x), 0.0, 1.0, 0.0);
  expect_jet(sinh(x), 0.0, 1.0, 0.0);
  expect_jet(cosh(x), 1.0, 0.0, 1.0);
  expect_jet(tanh(x), 0.0, 1.0, 0.0);
  expect_jet(atan2(x, 1.0), 0.0, 1.0, 0.0);
  expect_jet(asinh(x), 0.0, 1.0, 0.0);
  expect_jet(atanh(x), 0.0, 1.0, 0.0);
}

TEST(JetKink, RoundingIsPiecewiseConstant) {
  expect_jet(floor(variable(0.0)), 0.0, 0.0, 0.0);
  expect_jet(ceil(variable(0.5)), 1.0, 0.0, 0.0);
  expect_jet(trunc(variable(-1.5)), -1.0, 0.0, 0.0);
  expect_jet(round(variable(2.5)), 3.0, 0.0, 0.0);
  expect_jet(rint(variable(2.5)), 2.0, 0.0, 0.0);
  expect_jet(nearbyint(variable(-2.5)), -2.0, 0.0, 0.0);
  EXPECT_TRUE(signbit(variable(-0.0)));
  EXPECT_FALSE(signbit(variable(1.0)));
}

TEST(JetKink, BranchesAreThoseOfTheStandardFunctions) {
  const Jet1 x = variable(0.0);
  expect_jet(fdim(x, 0.0), 0.0, 0.0, 0.0);  // a tie
  expect_jet(fdim(variable(3.0), 1.0), 2.0, 1.0, 0.0);
  expect_jet(fdim(1.0, variable(3.0)), 0.0, 0.0, 0.0);
  expect_jet(copysign(x, -1.0), -0.0, 0.0, 0.0);  // as abs
  expect_jet(copysign(variable(-kInfinity), 1.0), kInfinity, -1.0, 0.0);
  expect_jet(copysign(2.0, variable(-3.0)), -2.0, 0.0, 0.0);
  expect_jet(fmod(variable(6.0), 3.0), 0.0, 1.0, 0.0);  // a jump
  expect_jet(fmod(7.0, variable(3.0)), 1.0, -2.0, 0.0);
  expect_jet(fmod(variable(5.0), kInfinity), 5.0, 1.0, 0.0);
  expect_jet(remainder(8.0, variable(3.0)), -1.0, -3.0, 0.0);
  expect_jet(fma(x, x, 1.0), 1.0, 0.0, 2.0);
  EXPECT_EQ(fma(Jet1(0.1), 10.0, -1.0).value, std::fma(0.1, 10.0, -1.0));  // rounded once
}

TEST(JetKink, HypotIsTheTipOfAConeAtZero) {
  const Jet1 x = variable(0.0);
  expect_jet(hypot(x, x, x), 0.0, 0.0, 0.0);
  expect_jet(hypot(x, 0, 0), 0.0, 0.0, 0.0);
  expect_jet(hypot(0, x, 2), 2.0, 0.0, 0.5);  // the bowl next to it
  const Jet1 large = hypot(variable(3e200), 0, 4e200);
  EXPECT_DOUBLE_EQ(large.value, 5e200);
  EXPECT_DOUBLE_EQ(large.gradient[0], 0.6);
  EXPECT_DOUBLE_EQ(large.second(0, 0), 0.64 / 5e200);
  expect_jet(hypot(variable(3e-300), 0, 0), 3e-300, 1.0, 0.0);
}

TEST(JetKink, MinAndMaxTakeTheFirstArgumentAtATie) {
  const Jet1 x = variable(0.0);
  const Jet1 y = 3.0 * variable(0.0);
  using std::max;
  using std::min;
  expect_jet(max(x, y), 0.0, 1.0, 0.0);
  expect_jet(max(y, x), 0.0, 3.0, 0.0);
  expect_jet(min(x, y), 0.0, 1.0, 0.0);
  expect_jet(fmax(y, x), 0.0, 3.0, 0.0);
  expect_jet(fmin(y, x), 0.0, 3.0, 0.0);
  expect_jet(max(x, 0.0), 0.0, 1.0, 0.0);
  expect_jet(max(0.0, x), 0.0, 0.0, 0.0);
  expect_jet(std::max<Jet1>(0.0, x), 0.0, 0.0, 0.0);  // agrees with the standard algorithm
  expect_jet(min(x, -1), -1.0, 0.0, 0.0);
  expect_jet(fmax(variable(kNaN), 2.0), 2.0, 0.0, 0.0);
  expect_jet(fmin(2.0, variable(kNaN)), 2.0, 0.0, 0.0);
}

TEST(JetKink, DirectionsWithoutMotionStayIndependent) {
  using J = Jet<2, 2>;
  const J x = J::variable(0.0, 0);
  const J f = sqrt(x) + J::variable(1.0, 1);
  EXPECT_EQ(f.gradient, (std::array<double, 2>{kInfinity, 1.0}));
  EXPECT_EQ(f.hessian, (std::array<double, 3>{-kInfinity, 0.0, 0.0}));
  const J angle = atan2(J(0.0), J(0.0));
  EXPECT_EQ(angle.gradient, (std::array<double, 2>{0.0, 0.0}));
}

// f'' A A' decides where the argument moves at first order; where it moves at second order alone,
// the functions below tend to -inf, -inf and +inf.
TEST(JetKink, SecondDerivativesAtAPoleThatIsReachedAtSecondOrderAreUndefined) {
  const Jet1 x = variable(0.0);
  expect_jet(log(x + x * x), -kInfinity, kInfinity, -kInfinity);
  expect_jet(sqrt(x + x * x), 0.0, kInfinity, -kInfinity);
  expect_jet(asin(1.0 - x - x * x), std::asin(1.0), -kInfinity, kInfinity);
  expect_jet(log(x * x), -kInfinity, 0.0, kNaN);
  expect_jet(cbrt(x * x), 0.0, 0.0, kNaN);
  expect_jet(pow(x * x, 0.7), 0.0, 0.0, kNaN);
  using J = Jet<2, 2>;
  const J u = J::variable(0.0, 0);
  const J v = J::variable(0.0, 1);
  const J f = log(u * (1.0 + v));  // log(u) + log(1 + v)
  EXPECT_EQ(f.gradient, (std::array<double, 2>{kInfinity, 0.0}));
  EXPECT_EQ(f.second(0, 0), -kInfinity);
  EXPECT_TRUE(std::isnan(f.second(1, 0)));
  EXPECT_EQ(f.second(1, 1), 0.0);
  const J g = pow(u * u, J(0.3) + v);
  EXPECT_TRUE(std::isnan(g.second(0, 0)));
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
