// SPDX-License-Identifier: BSD-3-Clause
//
// /sharpening on the lines along the largest eigenvalues' eigenvectors, by closed form and by
// descent.
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
#include "support/numbers.h"

namespace hesscope {
namespace {

constexpr const char* kOnLine[] = {"first_derivative",
                                   "third_derivative",
                                   "fourth_derivative",
                                   "flip_coefficient",
                                   "period_two_half_width"};

Analysis on_lines(const Objective& objective,
                  const Eigen::VectorXd& theta,
                  std::optional<double> learning_rate = {},
                  std::int64_t count = 1,
                  SpectrumMethod method = SpectrumMethod::kAuto) {
  OptimizerState optimizer{.kind = OptimizerKind::kSgd};
  optimizer.groups = {OptimizerSettings{.learning_rate = learning_rate}};
  return analyze(objective,
                 {{"here", theta, {}, optimizer}},
                 {"sharpening"},
                 {.options = {{"sharpening", count}}, .method = method});
}

// f = p x + lambda/2 x^2 + a/6 x^3 + b/24 x^4 + y^2 / 4: at 0, x is the eigenvector of lambda.
GraphObjective quartic_loss(double p, double lambda, double a, double b) {
  ModelBuilder builder("formula");
  const Var v = builder.parameter("v", {2});
  builder.array("none", {});
  const Var x = slice(v, 0, 0, 1, 1);
  const Var y = slice(v, 1, 0, 1, 1);
  Model model = builder.finish(p * x + lambda / 2 * square(x) + a / 6 * power(x, 3) +
                               b / 24 * power(x, 4) + 0.25 * square(y));
  return {std::move(model), SampleTable::Zero(1, 1)};
}

void expect_number(const Analysis& analysis, const char* name, double expected) {
  const double found = analysis[0].number("sharpening", name);
  EXPECT_TRUE(std::abs(found - expected) <= 1e-13 * (1 + std::abs(expected)))
      << name << ": " << found << " for " << expected;
  EXPECT_EQ(analysis[0].status("sharpening", name), Status::kOk) << name;
}

TEST(FlipSection, OfAQuarticIsTheClosedForm) {
  // Whatever the sign of the eigenvector, the third derivative is not negative.
  for (const double sign : {1.0, -1.0}) {
    const Analysis analysis =
        on_lines(quartic_loss(sign * 0.5, 4, sign * 6, 3), Eigen::Vector2d::Zero(), 0.505);
    expect_number(analysis, "first_derivative", 0.5);
    expect_number(analysis, "third_derivative", 6);
    expect_number(analysis, "fourth_derivative", 3);
    const double c = (3 * 36 - 4 * 3) / (3.0 * 16);
    expect_number(analysis, "flip_coefficient", c);
    expect_number(analysis, "period_two_half_width", std::sqrt(2 * (1 - 2 / (0.505 * 4)) / c));
  }
}

TEST(FlipSection, SaysWhyThereIsNoOrbit) {
  const Eigen::Vector2d zero = Eigen::Vector2d::Zero();
  const auto status = [](const Analysis& analysis, const char* name) {
    return analysis[0].status("sharpening", name);
  };
  // Below the edge descent stays where it is.
  expect_number(on_lines(quartic_loss(0, 4, 6, 3), zero, 0.5), "period_two_half_width", 0);
  expect_number(on_lines(quartic_loss(0, 4, 6, 3), zero, 0.0), "period_two_half_width", 0);

  const Analysis unknown = on_lines(quartic_loss(0, 4, 6, 3), zero);
  EXPECT_EQ(status(unknown, "flip_coefficient"), Status::kOk);
  EXPECT_EQ(status(unknown, "period_two_half_width"), Status::kNotStored);

  // Subcritical.
  const Analysis leaves = on_lines(quartic_loss(0, 4, 0, 3), zero, 0.505);
  expect_number(leaves, "flip_coefficient", -0.25);
  EXPECT_EQ(status(leaves, "period_two_half_width"), Status::kUndefinedNotPositiveDefinite);
  EXPECT_TRUE(std::isnan(leaves[0].number("sharpening", "period_two_half_width")));

  // The descending direction of a saddle; the largest eigenvalue is that of y.
  const Analysis saddle = on_lines(quartic_loss(0, -4, 6, 3), zero, 0.505, 2);
  const Eigen::VectorXd c = saddle[0].values("sharpening", "flip_coefficient");
  EXPECT_EQ(c(0), 0);
  EXPECT_TRUE(std::isnan(c(1)));
  EXPECT_EQ(saddle[0].group("sharpening").find("flip_coefficient")->statuses[1],
            Status::kUndefinedNotPositiveDefinite);
  EXPECT_EQ(saddle[0].values("sharpening", "fourth_derivative")(1), 3);
}

// Their eigenvectors are not unique.
TEST(FlipSection, OfEigenvaluesThatCoincideIsMissing) {
  const Analysis analysis = on_lines(quartic_loss(0, 0.5, 6, 3), Eigen::Vector2d::Zero(), 0.5, 2);
  EXPECT_EQ(analysis[0].status("sharpening", "eigenvalues_largest"), Status::kOk);
  for (const char* name : kOnLine) {
    EXPECT_EQ(analysis[0].status("sharpening", name), Status::kNotComputed) << name;
    EXPECT_TRUE(std::isnan(analysis[0].number("sharpening", name))) << name;
  }
}

// (a b - 1)^2 / 2 from (1, 1): gradient descent stays on the line a = b and settles near the point.
TEST(FlipSection, ForetellsTheOrbitOfGradientDescent) {
  const GraphObjective objective = test::product_of_two({1});
  for (const double learning_rate : {1.001, 1.004}) {
    SCOPED_TRACE(learning_rate);
    const Analysis analysis = on_lines(objective, Eigen::Vector2d(1, 1), learning_rate);
    expect_number(analysis, "first_derivative", 0);
    expect_number(analysis, "third_derivative", 3 * std::sqrt(2.0));
    expect_number(analysis, "fourth_derivative", 3);
    expect_number(analysis, "flip_coefficient", 4);
    Eigen::VectorXd theta = Eigen::Vector2d::Constant(1.01);
    Eigen::VectorXd before = theta;
    for (int i = 0; i < 40'000; ++i) {
      before = theta;
      theta -= learning_rate * objective.gradient(theta);
    }
    const double found = (theta - before).norm() / 2;
    const double expected = analysis[0].number("sharpening", "period_two_half_width");
    EXPECT_GT(found, 0.02);
    EXPECT_LE(std::abs(found / expected - 1), 3 * (learning_rate - 1)) << found;
  }
}

// With parameters 2^k times as large, everything scales by powers of two, although f'''' may leave
// the range of double.
TEST(FlipSection, HasTheCoefficientOfLossesOnAnyScale) {
  const auto on_scale = [](int k) {
    const double unit = std::ldexp(1.0, -k);
    ModelBuilder builder("line");
    const Var x = builder.parameter("x", {1});
    builder.array("none", {});
    const Var t = unit * x;
    const GraphObjective objective(
        builder.finish(square(t) + 0.5 * power(t, 3) - 0.3 * power(t, 4)), SampleTable::Zero(1, 1));
    return on_lines(objective, Eigen::VectorXd::Constant(1, 0.125 / unit), 3 / unit / unit);
  };
  const Analysis ordinary = on_scale(0);
  for (const int k : {330, -150}) {
    const Analysis scaled = on_scale(k);
    const auto expect = [&](const char* name, int power) {
      EXPECT_EQ(scaled[0].number("sharpening", name),
                std::ldexp(ordinary[0].number("sharpening", name), power * k))
          << name << " " << k;
    };
    expect("third_derivative", -3);
    expect("flip_coefficient", -2);
    expect("period_two_half_width", 1);
  }
}

TEST(FlipSection, WithoutTheMatrixSaysThatNothingIsProved) {
  const Model model = mlp({.widths = {4, 20, 12, 2},
                           .activation = Activation::kTanh,
                           .loss = MlpLoss::kMeanSquaredError});
  const GraphObjective objective(model, test::Numbers(4).table(20, model.record_size()));
  const Eigen::VectorXd theta = test::Numbers(5).vector(model.num_parameters());
  const Analysis dense = on_lines(objective, theta, 100, 1, SpectrumMethod::kDense);
  const Analysis free = on_lines(objective, theta, 100, 1, SpectrumMethod::kMatrixFree);
  for (const char* name : kOnLine) {
    const auto number = [&](const Analysis& analysis) {
      return analysis[0].number("sharpening", name);
    };
    if (std::isfinite(number(dense))) {
      EXPECT_NEAR(number(free), number(dense), 1e-5 * std::abs(number(dense))) << name;
    }
    EXPECT_TRUE(dense[0].group("sharpening").find(name)->is_proved) << name;
    EXPECT_FALSE(free[0].group("sharpening").find(name)->is_proved) << name;
  }
  EXPECT_NE(dense[0].number("sharpening", "third_derivative"), 0);
}

TEST(FlipSection, OfWeightsThatAreNaNIsMissing) {
  const Analysis analysis = on_lines(test::product_of_two({2}), Eigen::Vector2d(1, kNaN), 0.5);
  for (const char* name : kOnLine) {
    EXPECT_EQ(analysis[0].status("sharpening", name), Status::kNonFinite) << name;
  }
}

}  // namespace
}  // namespace hesscope
