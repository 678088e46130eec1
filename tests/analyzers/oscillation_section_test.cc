// SPDX-License-Identifier: BSD-3-Clause
//
// /sharpening on the oscillation at the edge of stability, by closed form and by descent.
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/core/constants.h>
#include <hesscope/models/mlp.h>

#include "support/closed_form_objectives.h"
#include "support/maxima.h"
#include "support/numbers.h"

namespace hesscope {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

constexpr const char* kAtEdge[] = {"centre_rate",
                                   "centre_gap",
                                   "squared_offset",
                                   "oscillation_variance",
                                   "loss_excess",
                                   "predicted_loss_excess",
                                   "predicted_squared_gradient",
                                   "cycle_energy",
                                   "cycle_gap",
                                   "cycle_period"};

Analysis oscillation(const Objective& objective,
                     const VectorXd& theta,
                     std::optional<double> learning_rate = {},
                     std::int64_t count = 1) {
  OptimizerState optimizer{.kind = OptimizerKind::kSgd};
  optimizer.groups = {OptimizerSettings{.learning_rate = learning_rate}};
  return analyze(objective,
                 {{"here", theta, {}, optimizer}},
                 {"sharpening"},
                 {.options = {{"sharpening", count}}});
}

double number(const Analysis& analysis, const char* name) {
  return analysis[0].number("sharpening", name);
}

Status status(const Analysis& analysis, const char* name) {
  return analysis[0].status("sharpening", name);
}

// A valley that narrows: L = (s + b y) x^2 / 2 + k x^4 / 24 - a y, with the gradient
//   ((s + b y) x + k x^3 / 6, b x^2 / 2 - a).
// At x = 0 its largest eigenvalue is s + b y, along x, with the gradient (0, b): alpha = a b,
// beta = b^2, sigma^2 = 2 a / b.
struct Valley {
  double s = 4;
  double a = 0.03;
  double b = 2;
  double k = 0;

  GraphObjective objective() const {
    ModelBuilder builder("valley");
    const Var v = builder.parameter("v", {2});
    builder.array("none", {});
    const Var x = slice(v, 0, 0, 1, 1);
    const Var y = slice(v, 1, 0, 1, 1);
    Model model = builder.finish(s / 2 * square(x) + b / 2 * hadamard(square(x), y) +
                                 k / 24 * power(x, 4) + -a * y);
    return {std::move(model), SampleTable::Zero(1, 1)};
  }

  double variance() const { return 2 * a / b; }

  double sharpness(double y) const { return s + b * y; }

  void descend(double learning_rate, Vector2d& at) const {
    const double x = at[0];
    at -= learning_rate * Vector2d(sharpness(at[1]) * x + k / 6 * x * x * x, b / 2 * x * x - a);
  }
};

void expect_number(const Analysis& analysis, const char* name, double expected) {
  EXPECT_TRUE(std::abs(number(analysis, name) - expected) <= 1e-13 * (1 + std::abs(expected)))
      << name << ": " << number(analysis, name) << " for " << expected;
  EXPECT_EQ(status(analysis, name), Status::kOk) << name;
}

TEST(OscillationSection, AtTheCentreIsTheClosedForm) {
  const Valley valley;
  const Analysis analysis = oscillation(valley.objective(), Vector2d(0, 0.5), 0.5);
  expect_number(analysis, "centre_rate", 0.06);
  expect_number(analysis, "centre_gap", -1);
  expect_number(analysis, "squared_offset", 0);
  expect_number(analysis, "oscillation_variance", 0.03);
  expect_number(analysis, "loss_excess", 0);
  expect_number(analysis, "predicted_loss_excess", 5 * 0.03 / 2);
  expect_number(analysis, "squared_gradient", 0.03 * 0.03);
  expect_number(analysis, "predicted_squared_gradient", 0.03 * 0.03 + 25 * 0.03);
  expect_number(
      analysis, "cycle_period", std::sqrt(2) * 3.14159265358979324 / (0.5 * std::sqrt(0.06)));
  // log 0
  EXPECT_EQ(status(analysis, "cycle_energy"), Status::kUndefinedZeroDenominator);
}

// What the analyzer says at (x, y) differs by the tilt of the eigenvector, of the order of x.
TEST(OscillationSection, BesideTheCentreFindsItTheBetterTheNearer) {
  const auto errors = [](double size) {
    const Valley valley{.a = 0.03 * size * size};
    const Vector2d at(0.1 * size, 0.2);
    const Analysis analysis = oscillation(valley.objective(), at, 0.5);
    const double excess = valley.sharpness(at[1]) * at[0] * at[0] / 2;
    const double x2 = at[0] * at[0] / valley.variance();
    const double energy = x2 - std::log(x2) - 1 + 0.4 * 0.4 / (valley.a * valley.b);
    return Eigen::Vector4d(number(analysis, "oscillation_variance") / valley.variance() - 1,
                           number(analysis, "squared_offset") / (at[0] * at[0]) - 1,
                           number(analysis, "loss_excess") / excess - 1,
                           number(analysis, "cycle_energy") / energy - 1);
  };
  const Eigen::Vector4d coarse = errors(1).cwiseAbs();
  const Eigen::Vector4d fine = errors(0.25).cwiseAbs();
  for (Eigen::Index i = 0; i < 4; ++i) {
    EXPECT_TRUE(coarse[i] < 0.1) << i << ": " << coarse[i];
    EXPECT_TRUE(fine[i] < coarse[i] / 8) << i << ": " << fine[i] << " and " << coarse[i];
  }
}

// A fourth derivative below zero damps the cycle: descent settles on x = +-sigma, whatever the
// start.
TEST(OscillationSection, DescentHasThePredictedVariance) {
  const Valley valley{.a = 1e-4, .k = -40};
  constexpr double kRate = 0.5;
  Vector2d at(0.01, -0.05);
  for (int t = 0; t < 100000; ++t) valley.descend(kRate, at);
  const auto objective = valley.objective();
  double variance = 0;
  double excess = 0;
  double squared_gradient = 0;
  constexpr int kWindow = 100;
  for (int t = 0; t < kWindow; ++t) {
    variance += at[0] * at[0] / kWindow;
    const VectorXd gradient = objective.gradient(at);
    squared_gradient += gradient.squaredNorm() / kWindow;
    excess += (objective.value(at) - objective.value(Vector2d(0, at[1]))) / kWindow;
    valley.descend(kRate, at);
  }
  EXPECT_NEAR(variance, valley.variance(), 1e-6 * valley.variance());
  const Analysis analysis = oscillation(objective, at, kRate);
  const auto expect_near = [&](const char* name, double measured) {
    EXPECT_NEAR(number(analysis, name), measured, 0.005 * measured) << name;
  };
  expect_near("oscillation_variance", variance);
  expect_near("squared_offset", variance);
  expect_near("predicted_loss_excess", excess);
  expect_near("loss_excess", excess);
  expect_near("predicted_squared_gradient", squared_gradient);
  expect_near("squared_gradient", squared_gradient);
}

// Without a fourth derivative descent goes round and round; the smaller the learning rate times the
// square root of the rate, the closer to the cycle.
TEST(OscillationSection, DescentStaysOnThePredictedCycle) {
  const Valley valley{.a = 1e-6};
  constexpr double kRate = 0.5;
  Vector2d at(std::sqrt(valley.variance() / 3), 0);
  const Analysis start = oscillation(valley.objective(), at, kRate);
  const double energy = 1 / 3.0 + std::log(3.0) - 1;
  EXPECT_NEAR(number(start, "cycle_energy"), energy, 1e-4);
  double mean = 0;
  double largest = 0;
  double smallest = kInfinity;
  int num_crossings = 0;
  int first_crossing = 0;
  int last_crossing = 0;
  double sum = 0;
  int t = 0;
  // Whole cycles, from one rise through 2 / learning rate to another.
  for (double before = 0; num_crossings < 4; ++t) {
    valley.descend(kRate, at);
    const double gap = 2 / kRate - valley.sharpness(at[1]);
    largest = test::larger(largest, gap);
    smallest = test::smaller(smallest, gap);
    if (before > 0 && gap <= 0) {
      if (num_crossings++ == 0) first_crossing = t;
      last_crossing = t;
      if (num_crossings > 1) mean = sum / (last_crossing - first_crossing);
    }
    if (num_crossings > 0) sum += at[0] * at[0];
    before = gap;
    ASSERT_LT(t, 100000);
  }
  EXPECT_NEAR(mean, number(start, "oscillation_variance"), 0.01 * mean);
  EXPECT_NEAR(largest, number(start, "cycle_gap"), 0.05 * largest);
  EXPECT_NEAR(-smallest, number(start, "cycle_gap"), 0.05 * largest);
  // A cycle with this energy takes a little longer than a small one.
  const double period = (last_crossing - first_crossing) / 3.0;
  const double small = number(start, "cycle_period");
  EXPECT_TRUE(period > small && period < 1.15 * small) << period << " and " << small;
}

// A loss 2^-600 times as large, at a rate 2^600 times as large, does the same.
TEST(OscillationSection, TheVarianceDoesNotPassThroughSquares) {
  const auto variance = [](double scale) {
    const Valley valley{.s = 4 * scale, .a = 0.03 * scale, .b = 2 * scale};
    return number(oscillation(valley.objective(), Vector2d(0.01, 0)), "oscillation_variance");
  };
  EXPECT_NEAR(variance(1), 0.03, 1e-3);
  EXPECT_EQ(variance(std::ldexp(1.0, -600)), variance(1));
}

// With parameters 2^272 times as large squares of the sharpness are no doubles.
TEST(OscillationSection, PredictsSquaredGradientsOfAnySize) {
  const auto predicted = [](double unit) {
    const Valley valley{.s = 4 * unit * unit, .a = 0.03 * unit, .b = 2 * unit * unit * unit};
    return number(oscillation(valley.objective(), Vector2d(1e-6, 0) / unit),
                  "predicted_squared_gradient");
  };
  const double small = std::ldexp(1.0, -272);
  EXPECT_EQ(predicted(small), predicted(1) * small * small);
}

TEST(OscillationSection, SaysWhyThereIsNone) {
  // A valley that widens, a learning rate of zero, and none.
  const Valley widening{.a = -0.03};
  const Analysis none = oscillation(widening.objective(), Vector2d(0.1, 0), 0.5);
  expect_number(none, "oscillation_variance", 0);
  EXPECT_LT(number(none, "centre_rate"), 0);
  for (const char* name : {"cycle_energy", "cycle_gap", "cycle_period"}) {
    EXPECT_EQ(status(none, name), Status::kUndefinedNotPositiveDefinite) << name;
  }
  for (const auto& [rate, why] : {std::pair(std::optional(0.0), Status::kUndefinedZeroDenominator),
                                  std::pair(std::optional<double>(), Status::kNotStored)}) {
    const Analysis unknown = oscillation(Valley().objective(), Vector2d(0.1, 0), rate);
    EXPECT_EQ(status(unknown, "oscillation_variance"), Status::kOk);
    for (const char* name : {"centre_gap", "cycle_energy", "cycle_gap", "cycle_period"}) {
      EXPECT_EQ(status(unknown, name), why) << name;
    }
  }
  // Where the sharpness has no slope nothing holds it.
  const Valley straight{.b = 0};
  const Analysis held = oscillation(straight.objective(), Vector2d(0.1, 0), 0.5);
  EXPECT_EQ(status(held, "oscillation_variance"), Status::kUndefinedZeroDenominator);
  // Where there is no valley.
  const Valley ridge{.s = -4};
  const Analysis top = oscillation(ridge.objective(), Vector2d(0, 0), 0.5);
  for (const char* name : kAtEdge) {
    EXPECT_EQ(status(top, name), Status::kUndefinedNotPositiveDefinite) << name;
  }
}

TEST(OscillationSection, IsNotComparedWithTheRateOfSomeParameters) {
  const Valley valley;
  OptimizerState optimizer{.kind = OptimizerKind::kSgd};
  const auto with = [&](const std::vector<OptimizerSettings>& groups, std::size_t num_not_given) {
    optimizer.groups = groups;
    optimizer.num_not_given = num_not_given;
    return analyze(valley.objective(),
                   {{"here", Vector2d(0.1, 0.5), {}, optimizer}},
                   {"sharpening"},
                   {.options = {{"sharpening", std::int64_t{1}}}});
  };
  const Analysis all = with({{.learning_rate = 0.5}}, 0);
  const Analysis some = with({{.learning_rate = 0.5}}, 1);
  const Analysis differing = with({{.learning_rate = 0.5}, {.learning_rate = 0.25}}, 0);
  for (const char* name :
       {"gap_to_edge", "centre_gap", "cycle_energy", "cycle_period", "period_two_half_width"}) {
    EXPECT_NE(status(all, name), Status::kNotComputed) << name;
    for (const Analysis* analysis : {&some, &differing}) {
      EXPECT_EQ(status(*analysis, name), Status::kNotComputed) << name;
    }
  }
  for (const Analysis* analysis : {&some, &differing}) {
    EXPECT_EQ(number(*analysis, "centre_rate"), number(all, "centre_rate"));
  }
  EXPECT_EQ(all.warnings().size() + differing.warnings().size(), 0U);
  EXPECT_EQ(some.warnings().size(), 1U);
}

// (x y - 2)^2 / 2 where x y is 2 but for rounding: what is left of the gradient is rounding.
TEST(OscillationSection, OfAGradientThatIsRoundingIsAtItsCentre) {
  double largest = 0;
  for (int k = 1; k <= 20; ++k) {
    const Vector2d at(0.37 * k, 2 / (0.37 * k));
    const GraphObjective objective = test::product_of_two({2});
    largest = test::larger(largest, objective.gradient(at).norm());
    const Analysis analysis = oscillation(objective, at, 0.5);
    EXPECT_GT(number(analysis, "gradient_norm_largest"), 0);
    for (const char* name : {"rate_largest",
                             "rate_smallest",
                             "centre_rate",
                             "squared_offset",
                             "squared_gradient",
                             "loss_excess"}) {
      EXPECT_EQ(number(analysis, name), 0) << name;
      EXPECT_FALSE(std::signbit(number(analysis, name))) << name;
    }
    for (const char* name : {"displacement", "oscillation_variance", "predicted_loss_excess"}) {
      if (status(analysis, name) == Status::kUndefinedZeroDenominator) continue;
      EXPECT_EQ(number(analysis, name), 0) << name;
      EXPECT_FALSE(std::signbit(number(analysis, name))) << name;
    }
    for (const char* name : {"cycle_energy", "cycle_gap", "cycle_period"}) {
      EXPECT_EQ(status(analysis, name), Status::kUndefinedNotPositiveDefinite) << name;
    }
  }
  EXPECT_GT(largest, 0);
}

// In a valley that does not fall, the gradient is 0 at the centre but for rounding.
TEST(OscillationSection, OfACentreWhoseGradientIsRoundingHasNoCycle) {
  int num_rounded = 0;
  for (int k = 1; k <= 20; ++k) {
    const Valley valley{.s = 4 + 0.1 * k, .a = 0, .b = 0.7};
    const Vector2d at(0.037 * k, 0);
    const auto objective = valley.objective();
    // u is (1, 0) to first order in x; x^2 b / 2 is left at the centre of a large x.
    const Analysis analysis = oscillation(objective, 1e-9 * at, 0.5);
    EXPECT_GT(number(analysis, "squared_offset"), 0);
    num_rounded += number(analysis, "centre_rate") == 0 ? 1 : 0;
    EXPECT_FALSE(number(analysis, "cycle_period") > 0) << k;
  }
  EXPECT_EQ(num_rounded, 20);
}

// c . v
Var along(const Var& v, const VectorXd& c) {
  Var sum = c[0] * slice(v, 0, 0, 1, 1);
  for (Eigen::Index i = 1; i < c.size(); ++i) sum = sum + c[i] * slice(v, i, 0, 1, 1);
  return sum;
}

// A loss of c . theta alone has an eigenvalue whose gradient is along its eigenvector: what is left
// across is rounding.
TEST(OscillationSection, OfALossAlongOneLineNothingHoldsTheSharpness) {
  test::Numbers numbers(7);
  for (int k = 0; k < 20; ++k) {
    ModelBuilder builder("line");
    const Var v = builder.parameter("v", {4});
    builder.array("none", {});
    const GraphObjective objective(builder.finish(exp(along(v, numbers.vector(4)))),
                                   SampleTable::Zero(1, 1));
    const Analysis analysis = oscillation(objective, numbers.vector(4), 0.5);
    EXPECT_GT(number(analysis, "gradient_norm_largest"), 0);
    EXPECT_EQ(number(analysis, "self_stabilization_largest"), 0);
    EXPECT_EQ(number(analysis, "centre_rate"), 0);
    EXPECT_FALSE(std::signbit(number(analysis, "centre_rate")));
    for (const char* name : {"displacement",
                             "oscillation_variance",
                             "predicted_loss_excess",
                             "predicted_squared_gradient"}) {
      EXPECT_EQ(status(analysis, name), Status::kUndefinedZeroDenominator) << name;
    }
    for (const char* name : {"cycle_energy", "cycle_gap", "cycle_period"}) {
      EXPECT_EQ(status(analysis, name), Status::kUndefinedNotPositiveDefinite) << name;
    }
  }
}

// The largest eigenvalue of a concave loss that is flat along one direction is rounding.
TEST(OscillationSection, AlongAFlatDirectionThereIsNoCentre) {
  test::Numbers numbers(8);
  for (int k = 0; k < 20; ++k) {
    ModelBuilder builder("flat");
    const Var v = builder.parameter("v", {4});
    builder.array("none", {});
    Var loss = along(v, numbers.vector(4));
    for (int i = 0; i < 3; ++i) loss = loss - square(along(v, numbers.vector(4)));
    const GraphObjective objective(builder.finish(loss), SampleTable::Zero(1, 1));
    const Analysis analysis = oscillation(objective, numbers.vector(4), 0.5);
    for (const char* name : kAtEdge) {
      EXPECT_EQ(status(analysis, name), Status::kUndefinedNotPositiveDefinite) << name;
    }
    EXPECT_EQ(status(analysis, "flip_coefficient"), Status::kUndefinedNotPositiveDefinite);
  }
}

TEST(OscillationSection, OfWeightsThatAreNaNIsMissing) {
  const Analysis analysis = oscillation(test::product_of_two({2}), Vector2d(1, kNaN), 0.5);
  for (const char* name : kAtEdge) EXPECT_EQ(status(analysis, name), Status::kNonFinite) << name;
  EXPECT_EQ(status(analysis, "squared_gradient"), Status::kNonFinite);
}

}  // namespace
}  // namespace hesscope
