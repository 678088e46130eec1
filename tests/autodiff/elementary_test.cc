// SPDX-License-Identifier: BSD-3-Clause
//
// f, f' and f'' of every elementary function: in the middle, in the tails, at kinks and at NaN.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/core/constants.h>

#include "support/graph_oracle.h"
#include "support/loss_oracle.h"

namespace hesscope {
namespace {

using test::kEpsilon;
using test::Real50;

struct Point {
  double f;
  double df;
  double ddf;
};

Graph graph_of(Elementary function) {
  Graph g;
  g.set_output(elementary(function, g.parameter(0, 1, 1)));
  return g;
}

Point evaluate(Elementary function, double x) {
  const test::Derivatives d = test::from_sweep(
      graph_of(function), Eigen::VectorXd::Constant(1, x), SampleTable::Zero(1, 1));
  return {d.value, d.gradient(0), d.hessian(0, 0)};
}

struct Case {
  const char* name;
  Elementary function;
  std::function<Real50(const Real50&)> definition;
  std::vector<double> smooth_points;
  double absolute = 0;  // error in multiples of eps that is allowed besides the relative one
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Case> cases() {
  const std::vector<double> both_sides = {-30, -5.5, -1, -1e-3, -1e-9, 1e-9, 1e-3, 0.7, 2, 8, 30};
  std::vector<double> with_zero = both_sides;
  with_zero.push_back(0);
  return {
      {"Abs", Elementary::kAbs, [](const Real50& x) { return abs(x); }, both_sides},
      {"Exp", Elementary::kExp, [](const Real50& x) { return exp(x); }, with_zero},
      {"Gelu",
       Elementary::kGelu,
       [](const Real50& x) { return Real50(x * erfc(-x / sqrt(Real50(2))) / 2); },
       with_zero},
      {"Relu",
       Elementary::kRelu,
       [](const Real50& x) { return x > 0 ? x : Real50(0); },
       both_sides},
      {"Softplus",
       Elementary::kSoftplus,
       [](const Real50& x) { return Real50(log1p(exp(x))); },
       with_zero},
      {"Sqrt", Elementary::kSqrt, [](const Real50& x) { return sqrt(x); }, {0.01, 0.5, 1, 2, 1e6}},
      {"Square", Elementary::kSquare, [](const Real50& x) { return Real50(x * x); }, with_zero},
      // 1 - tanh^2 is known to eps, not to eps of itself.
      {"Tanh", Elementary::kTanh, [](const Real50& x) { return tanh(x); }, with_zero, 4},
  };
}

class ElementaryFunction : public testing::TestWithParam<Case> {};

TEST_P(ElementaryFunction, MatchesDifferencesOfItsDefinition) {
  const Case& c = GetParam();
  const Real50 h("1e-10");
  for (const double x : c.smooth_points) {
    SCOPED_TRACE(x);
    const Real50 at(x);
    const Real50 below = c.definition(at - h);
    const Real50 middle = c.definition(at);
    const Real50 above = c.definition(at + h);
    const Point actual = evaluate(c.function, x);
    // An exponential of x or of x^2 / 2 amplifies the rounding of its argument.
    const auto close = [&](double value, const Real50& expected) {
      const double exact = static_cast<double>(expected);
      const double bound = (8 * (1 + x * x) * std::abs(exact) + c.absolute) * kEpsilon;
      // Second differences of a straight line leave rounding of 1e-48 / h^2.
      return std::abs(value - exact) <= bound + 1e-26;
    };
    EXPECT_TRUE(close(actual.f, middle)) << actual.f;
    EXPECT_TRUE(close(actual.df, (above - below) / (2 * h))) << actual.df;
    EXPECT_TRUE(close(actual.ddf, (above - 2 * middle + below) / (h * h))) << actual.ddf;
  }
}

TEST_P(ElementaryFunction, IsTheSameInFiftyDigits) {
  const Case& c = GetParam();
  const Graph graph = graph_of(c.function);
  for (const double x : c.smooth_points) {
    SCOPED_TRACE(x);
    const Eigen::VectorXd theta = Eigen::VectorXd::Constant(1, x);
    const MultiprecisionDerivatives exact =
        multiprecision_derivatives(graph, test::span_of(theta), {&x, 1, 0});
    const Point actual = evaluate(c.function, x);
    const double bound = 8 * (1 + x * x) * kEpsilon;
    const auto close = [&](double value, double expected) {
      return std::abs(value - expected) <= bound * std::abs(expected) + c.absolute * kEpsilon;
    };
    EXPECT_TRUE(close(actual.f, exact.value));
    EXPECT_TRUE(close(actual.df, exact.gradient(0)));
    EXPECT_TRUE(close(actual.ddf, exact.hessian(0, 0)));
  }
}

TEST_P(ElementaryFunction, GivesNaNForNaN) {
  const Point actual = evaluate(GetParam().function, kNaN);
  EXPECT_TRUE(std::isnan(actual.f));
  EXPECT_TRUE(std::isnan(actual.df));
  EXPECT_TRUE(std::isnan(actual.ddf));
}

TEST_P(ElementaryFunction, KeepsANaNInItsLane) {
  // f(theta_0 x) for samples x of which one is NaN.
  Graph g;
  g.set_output(elementary(GetParam().function, hadamard(g.parameter(0, 1, 1), g.input(0, 1, 1))));
  const std::vector<double> inputs = {0.5, 2, kNaN, 0.25, 1};
  const double theta = 0.75;
  const auto sweep = Sweep::create(g);
  std::vector<double> gradients(inputs.size());
  sweep->per_sample_gradients({&theta, 1}, {inputs.data(), 5, 1}, gradients);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const double x = inputs[i];
    const double expected = x * evaluate(GetParam().function, theta * x).df;
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(gradients[i]));
    } else {
      EXPECT_EQ(gradients[i], expected);
    }
  }
}

TEST_P(ElementaryFunction, InventsNoFiniteNumberAtInfinity) {
  // Where the limit at +infinity is infinite, so is the value; elsewhere any honest answer will do.
  const Elementary function = GetParam().function;
  const double f = evaluate(function, kInfinity).f;
  if (function == Elementary::kTanh) {
    EXPECT_EQ(f, 1);
  } else {
    EXPECT_EQ(f, kInfinity);
  }
}

INSTANTIATE_TEST_SUITE_P(Elementary,
                         ElementaryFunction,
                         testing::ValuesIn(cases()),
                         [](const auto& instance) { return std::string(instance.param.name); });

void expect_point(const Point& actual, double f, double df, double ddf) {
  EXPECT_EQ(actual.f, f);
  EXPECT_EQ(actual.df, df);
  EXPECT_EQ(actual.ddf, ddf);
}

TEST(Elementary, HasSlopeZeroAtTheKinksOfReluAndAbs) {
  for (const double zero : {0.0, -0.0}) {
    expect_point(evaluate(Elementary::kRelu, zero), 0, 0, 0);
    expect_point(evaluate(Elementary::kAbs, zero), 0, 0, 0);
  }
  // and the slope of the side it is on, however near
  const double tiny = std::numeric_limits<double>::denorm_min();
  expect_point(evaluate(Elementary::kRelu, tiny), tiny, 1, 0);
  expect_point(evaluate(Elementary::kRelu, -tiny), 0, 0, 0);
  expect_point(evaluate(Elementary::kAbs, tiny), tiny, 1, 0);
  expect_point(evaluate(Elementary::kAbs, -tiny), tiny, -1, 0);
}

TEST(Elementary, ReportsTheInfiniteSlopeOfSqrtAtZero) {
  const Point at_zero = evaluate(Elementary::kSqrt, 0);
  EXPECT_EQ(at_zero.f, 0);
  EXPECT_EQ(at_zero.df, kInfinity);
  EXPECT_FALSE(std::isfinite(at_zero.ddf));
  const Point negative = evaluate(Elementary::kSqrt, -1);
  EXPECT_TRUE(std::isnan(negative.f));
  EXPECT_TRUE(std::isnan(negative.df));
  EXPECT_TRUE(std::isnan(negative.ddf));
}

TEST(Elementary, ReportsSqrtOfASquareAtZeroAsNonFinite) {
  // |x| in disguise: the engine cannot know, and must not say 0 or 1.
  Graph g;
  g.set_output(sqrt(square(g.parameter(0, 1, 1))));
  const test::Derivatives d =
      test::from_sweep(g, Eigen::VectorXd::Zero(1), SampleTable::Zero(1, 1));
  EXPECT_EQ(d.value, 0);
  EXPECT_FALSE(std::isfinite(d.gradient(0)));
  EXPECT_FALSE(std::isfinite(d.hessian(0, 0)));
}

TEST(Elementary, SaturatesWithoutOverflow) {
  expect_point(evaluate(Elementary::kSoftplus, 800), 800, 1, 0);
  expect_point(evaluate(Elementary::kSoftplus, -800), 0, 0, 0);
  expect_point(evaluate(Elementary::kTanh, 800), 1, 0, 0);
  expect_point(evaluate(Elementary::kTanh, -800), -1, 0, 0);
  for (const double x : {40.0, 800.0, 1e160}) {
    SCOPED_TRACE(x);
    const Point right = evaluate(Elementary::kGelu, x);
    EXPECT_EQ(right.f, x);
    EXPECT_NEAR(right.df, 1, 1e-300);
    EXPECT_NEAR(right.ddf, 0, 1e-300);
    const Point left = evaluate(Elementary::kGelu, -x);
    EXPECT_NEAR(left.f, 0, 1e-300);
    EXPECT_NEAR(left.df, 0, 1e-300);
    EXPECT_NEAR(left.ddf, 0, 1e-300);
  }
  const double deep = evaluate(Elementary::kSoftplus, -700).df;
  EXPECT_NEAR(deep / std::exp(-700), 1, 4 * kEpsilon);
}

}  // namespace
}  // namespace hesscope
