// SPDX-License-Identifier: BSD-3-Clause
//
// Values and derivatives where a function has a kink, a jump or a pole: the table of jet.h.
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include <hesscope/autodiff/jet.h>
#include <hesscope/core/constants.h>

#include "autodiff/jet_checks.h"

namespace hesscope::test {
namespace {

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

}  // namespace
}  // namespace hesscope::test
