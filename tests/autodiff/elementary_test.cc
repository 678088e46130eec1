// SPDX-License-Identifier: BSD-3-Clause
//
// f to f'''' of every elementary function: in the middle, in the tails, at kinks and at NaN.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/core/constants.h>

#include "autodiff/elementary_cases.h"
#include "support/graph_oracle.h"
#include "support/line_differences.h"
#include "support/loss_oracle.h"

namespace hesscope {
namespace {

using test::ElementaryCase;
using test::kEpsilon;
using test::Real50;

struct Point {
  double f;
  double df;
  double ddf;
  double dddf;
  double ddddf;
};

Graph graph_of(Elementary function, double alpha = 1, double beta = 0) {
  Graph g;
  g.set_output(elementary(function, g.parameter(0, 1, 1), alpha, beta));
  return g;
}

Point evaluate(Elementary function, double x, double alpha = 1, double beta = 0) {
  const Graph graph = graph_of(function, alpha, beta);
  const Eigen::VectorXd at = Eigen::VectorXd::Constant(1, x);
  const SampleTable sample = SampleTable::Zero(1, 1);
  const test::Derivatives d = test::from_sweep(graph, at, sample);
  const Eigen::MatrixXd one = Eigen::MatrixXd::Ones(1, 1);
  const Eigen::MatrixXd third = test::third_derivatives_from_sweep(graph, at, sample, one, one);
  const Eigen::MatrixXd lines = test::line_derivatives_from_sweep(graph, at, sample, one);
  return {d.value, d.gradient(0), d.hessian(0, 0), third(0, 0), lines(4, 0)};
}

Point evaluate(const ElementaryCase& c, double x) {
  return evaluate(c.function, x, c.alpha, c.beta);
}

class ElementaryFunction : public testing::TestWithParam<ElementaryCase> {};

TEST_P(ElementaryFunction, MatchesDifferencesOfItsDefinition) {
  const ElementaryCase& c = GetParam();
  const Real50 h("1e-10");
  for (const double x : c.smooth_points) {
    SCOPED_TRACE(x);
    const Real50 at(x);
    const Real50 below = c.definition(at - h);
    const Real50 middle = c.definition(at);
    const Real50 above = c.definition(at + h);
    const Point actual = evaluate(c, x);
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

    const Real50 step = Real50("1e-11") * std::max(1.0, std::abs(x));
    const auto odd = [&](const Real50& by) {
      return Real50(c.definition(at + by) - c.definition(at - by));
    };
    const auto third =
        static_cast<double>(Real50((odd(2 * step) - 2 * odd(step)) / (2 * step * step * step)));
    // Third differences leave 1e-50 / step^3.
    const double bound = (16 * (1 + x * x) * std::abs(third) + 4 * c.absolute) * kEpsilon + 1e-16;
    EXPECT_TRUE(std::abs(actual.dddf - third) <= bound) << actual.dddf << " for " << third;

    // Where a kink is near, f is as small as the distance, and so is its rounding.
    const Real50 width = Real50(abs(middle) < 1e-6 ? "1e-10" : "1e-8") * std::max(1.0, std::abs(x));
    const auto fourth = static_cast<double>(test::differences_along_a_line(
        [&](const Real50& by) { return c.definition(at + by); }, width)[4]);
    EXPECT_TRUE(std::abs(actual.ddddf - fourth) <=
                (32 * (1 + x * x) * std::abs(fourth) + 16 * c.absolute) * kEpsilon + 1e-16)
        << actual.ddddf << " for " << fourth;
  }
}

TEST_P(ElementaryFunction, IsTheSameAlongALine) {
  const ElementaryCase& c = GetParam();
  const Graph graph = graph_of(c.function, c.alpha, c.beta);
  const Eigen::MatrixXd one = Eigen::MatrixXd::Ones(1, 1);
  for (const double x : c.smooth_points) {
    SCOPED_TRACE(x);
    const Eigen::VectorXd line = test::line_derivatives_from_sweep(
        graph, Eigen::VectorXd::Constant(1, x), SampleTable::Zero(1, 1), one);
    const Point at = evaluate(c, x);
    // Compilers fuse other products with sums here.
    const auto close = [&](double value, double expected) {
      return std::abs(value - expected) <=
             (8 * (1 + x * x) * std::abs(expected) + c.absolute) * kEpsilon;
    };
    EXPECT_TRUE(close(line(0), at.f)) << line(0);
    EXPECT_TRUE(close(line(1), at.df)) << line(1);
    EXPECT_TRUE(close(line(2), at.ddf)) << line(2);
    EXPECT_TRUE(close(line(3), at.dddf)) << line(3);
  }
}

TEST_P(ElementaryFunction, IsTheSameInFiftyDigits) {
  const ElementaryCase& c = GetParam();
  const Graph graph = graph_of(c.function, c.alpha, c.beta);
  for (const double x : c.smooth_points) {
    SCOPED_TRACE(x);
    const Eigen::VectorXd theta = Eigen::VectorXd::Constant(1, x);
    const MultiprecisionDerivatives exact =
        multiprecision_derivatives(graph, test::span_of(theta), {&x, 1, 0});
    const Point actual = evaluate(c, x);
    const double bound = 8 * (1 + x * x) * kEpsilon;
    const auto close = [&](double value, double expected) {
      return std::abs(value - expected) <= bound * std::abs(expected) + c.absolute * kEpsilon;
    };
    EXPECT_TRUE(close(actual.f, exact.value));
    EXPECT_TRUE(close(actual.df, exact.gradient(0)));
    EXPECT_TRUE(close(actual.ddf, exact.hessian(0, 0)));
    const Eigen::MatrixXd one = Eigen::MatrixXd::Ones(1, 1);
    const double third = multiprecision_third_derivative_times(
        graph, test::span_of(theta), {&x, 1, 0}, one, one)(0, 0);
    EXPECT_TRUE(std::abs(actual.dddf - third) <=
                2 * bound * std::abs(third) + 4 * c.absolute * kEpsilon + 1e-30)
        << actual.dddf << " for " << third;
  }
}

// By 50 digits, where they are enough to take multiples of pi from x.
Real50 periodic(const Real50& x, double (*nearest)(double), const Real50& exact) {
  return abs(x) < 1e20 ? exact : Real50(nearest(static_cast<double>(x)));
}

// Those that registers have of their own, from the smallest number to what overflows.
TEST(ElementaryFunctions, FunctionsOfRegistersAreCorrectToTheirLastDigits) {
  std::vector<double> points = {0, 5e-324, 709.7827, 709.7828, 745.13, 745.14, 1e300, kInfinity};
  for (double x = 1e-20; x < 800; x *= 1.0173) points.push_back(x);
  // As near to zeros of sin and cos as numbers are, on both sides of where registers leave them to
  // others.
  for (double k = 1; k < 1e6; k *= 1.37) points.push_back(std::round(k) * 1.5707963267948966);
  for (std::size_t i = points.size(); i-- > 0;) points.push_back(-points[i]);
  const auto count = static_cast<Eigen::Index>(points.size());

  struct Function {
    Elementary name;
    Real50 (*definition)(const Real50& x);
    double ulps;
  };

  const Function functions[] = {
      {Elementary::kExp, [](const Real50& x) { return Real50(exp(x)); }, 1},
      {Elementary::kTanh, [](const Real50& x) { return Real50(tanh(x)); }, 2.5},
      {Elementary::kErf, [](const Real50& x) { return Real50(erf(x)); }, 2},
      {Elementary::kLog,
       [](const Real50& x) { return x > 0 ? Real50(log(x)) : Real50(x < 0 ? kNaN : -kInfinity); },
       1},
      {Elementary::kElu, [](const Real50& x) { return x > 0 ? x : Real50(expm1(x)); }, 2},
      {Elementary::kSoftplus,
       [](const Real50& x) { return Real50(log1p(exp(-abs(x))) + (x > 0 ? x : Real50(0))); },
       2},
      {Elementary::kSin,
       [](const Real50& x) { return periodic(x, &std::sin, Real50(sin(x))); },
       2.5},
      {Elementary::kCos,
       [](const Real50& x) { return periodic(x, &std::cos, Real50(cos(x))); },
       2.5}};
  for (const InstructionSet set : supported_instruction_sets()) {
    for (const Function& function : functions) {
      Graph g;
      const Var one = g.parameter(0, 1, 1);
      g.set_prediction(elementary(function.name, hadamard(one, g.input(0, 1, 1)), 1, 1));
      g.set_output(g.constant(Eigen::MatrixXd::Zero(1, 1)));
      const double theta = 1;
      std::vector<double> found(points.size());
      Sweep::create(g, set)->predictions({&theta, 1}, {points.data(), count, 1}, found);
      for (std::size_t i = 0; i < points.size(); ++i) {
        SCOPED_TRACE(points[i]);
        const auto exact = function.definition(Real50(points[i]));
        const auto nearest = static_cast<double>(exact);
        if (!std::isfinite(nearest)) {
          EXPECT_TRUE(std::isnan(nearest) ? std::isnan(found[i]) : found[i] == nearest);
          continue;
        }
        const double ulp = std::nextafter(std::abs(nearest), kInfinity) - std::abs(nearest);
        EXPECT_LE(std::abs(static_cast<double>(Real50(found[i]) - exact)), function.ulps * ulp);
        EXPECT_EQ(found[i] < 0, nearest < 0);
      }
    }
  }
}

TEST_P(ElementaryFunction, GivesNaNForNaN) {
  const Point actual = evaluate(GetParam(), kNaN);
  EXPECT_TRUE(std::isnan(actual.f));
  EXPECT_TRUE(std::isnan(actual.df));
  EXPECT_TRUE(std::isnan(actual.ddf));
  EXPECT_TRUE(std::isnan(actual.dddf));
  EXPECT_TRUE(std::isnan(actual.ddddf));
}

TEST_P(ElementaryFunction, KeepsANaNInItsLane) {
  // f(theta_0 x) for samples x of which one is NaN.
  const ElementaryCase& c = GetParam();
  Graph g;
  g.set_output(
      elementary(c.function, hadamard(g.parameter(0, 1, 1), g.input(0, 1, 1)), c.alpha, c.beta));
  // With digits of its own, too.
  const std::vector<double> inputs = {0.5, 2, kNaN, 0.25, std::nan("0xabc"), 1};
  const double theta = 0.75;
  for (const InstructionSet set : supported_instruction_sets()) {
    std::vector<double> gradients(inputs.size());
    Sweep::create(g, set)->per_sample_gradients({&theta, 1}, {inputs.data(), 6, 1}, gradients);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const double x = inputs[i];
      const double expected = x * evaluate(c, theta * x).df;
      if (std::isnan(x) || std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(gradients[i]));
      } else if (set == best_instruction_set()) {
        EXPECT_EQ(gradients[i], expected);
      } else {
        EXPECT_NEAR(gradients[i], expected, 1e-14 * std::abs(expected));
      }
    }
  }
}

TEST_P(ElementaryFunction, HasItsLimitAtInfinity) {
  const ElementaryCase& c = GetParam();
  const double f = evaluate(c, kInfinity).f;
  if (std::isnan(c.at_infinity)) {
    EXPECT_TRUE(std::isnan(f));
  } else {
    EXPECT_EQ(f, c.at_infinity);
  }
}

INSTANTIATE_TEST_SUITE_P(Elementary,
                         ElementaryFunction,
                         testing::ValuesIn(test::elementary_cases()),
                         [](const auto& instance) { return std::string(instance.param.name); });

void expect_point(
    const Point& actual, double f, double df, double ddf, double dddf = 0, double ddddf = 0) {
  EXPECT_EQ(actual.f, f);
  EXPECT_EQ(actual.df, df);
  EXPECT_EQ(actual.ddf, ddf);
  EXPECT_EQ(actual.dddf, dddf);
  EXPECT_EQ(actual.ddddf, ddddf);
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

TEST(Elementary, HasPyTorchsSlopesAtOtherKinks) {
  expect_point(evaluate(Elementary::kLeakyRelu, 0, 0.25), 0, 0.25, 0);
  expect_point(evaluate(Elementary::kElu, 0, 1.5, 2), 0, 0.75, 0.375, 0.1875, 0.09375);
  expect_point(evaluate(Elementary::kClip, -2, -2, 5), -2, 1, 0);
  expect_point(evaluate(Elementary::kClip, 5, -2, 5), 5, 1, 0);
  expect_point(evaluate(Elementary::kSoftsign, 0), 0, 1, 0, 6);
  expect_point(evaluate(Elementary::kPower, 0, 4), 0, 0, 0, 0, 24);
  expect_point(evaluate(Elementary::kPower, 0, 3), 0, 0, 0, 6);
  expect_point(evaluate(Elementary::kPower, 0, 2), 0, 0, 2);
  expect_point(evaluate(Elementary::kPower, 0, 1), 0, 1, 0);
  expect_point(evaluate(Elementary::kPower, 0, 0), 1, 0, 0);
}

TEST(Elementary, StepsToTheRightNumber) {
  const auto value = [](Elementary function, double x) { return evaluate(function, x).f; };
  const std::vector<std::array<double, 5>> cases = {
      // x, floor, ceil, round, sign
      {-2.5, -3, -2, -2, -1},
      {-1.5, -2, -1, -2, -1},
      {-0.5, -1, 0, 0, -1},
      {0, 0, 0, 0, 0},
      {0.5, 0, 1, 0, 1},
      {1.5, 1, 2, 2, 1},
      {2.4999, 2, 3, 2, 1},
      {2.5, 2, 3, 2, 1},
      {2.5001, 2, 3, 3, 1},
      {1e300, 1e300, 1e300, 1e300, 1},
  };
  for (const auto& [x, floor, ceil, round, sign] : cases) {
    SCOPED_TRACE(x);
    EXPECT_EQ(value(Elementary::kFloor, x), floor);
    EXPECT_EQ(value(Elementary::kCeil, x), ceil);
    EXPECT_EQ(value(Elementary::kRound, x), round);
    EXPECT_EQ(value(Elementary::kSign, x), sign);
    expect_point(evaluate(Elementary::kFloor, x), floor, 0, 0);
  }
}

TEST(Elementary, HasSlopesOfInverseHyperbolicFunctionsFarOut) {
  for (const double x : {1e80, 1e99, 1e101, 1e160, 1e200, 1e300}) {
    EXPECT_NEAR(evaluate(Elementary::kAsinh, x).df * x, 1, 4e-16);
    EXPECT_NEAR(evaluate(Elementary::kAsinh, -x).df * x, 1, 4e-16);
    EXPECT_NEAR(evaluate(Elementary::kAcosh, x).df * x, 1, 4e-16);
  }
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
    EXPECT_NEAR(right.dddf, 0, 1e-300);
    EXPECT_NEAR(left.dddf, 0, 1e-300);
    EXPECT_NEAR(right.ddddf, 0, 1e-300);
    EXPECT_NEAR(left.ddddf, 0, 1e-300);
  }
  const double deep = evaluate(Elementary::kSoftplus, -700).df;
  EXPECT_NEAR(deep / std::exp(-700), 1, 4 * kEpsilon);
}

}  // namespace
}  // namespace hesscope
