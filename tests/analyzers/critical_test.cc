// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <type_traits>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>

#include "support/closed_form_objectives.h"
#include "support/decompositions.h"
#include "support/manifold_of_minima.h"
#include "support/numbers.h"

namespace hesscope {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

double number(const Analysis& analysis, const char* name) {
  return analysis[0].number("critical", name);
}

// (a b - 2)^2 / 2: at the origin H = [0, -2; -2, 0], on the hyperbola one zero, of the rescaling.
TEST(CriticalAnalyzer, OfAProductHasASaddleAndAnOrbitOfMinima) {
  const GraphObjective objective = test::product_of_two({2});
  const Analysis saddle = analyze(objective, {{"here", Vector2d(0.1, 0.3)}}, {"critical"});
  EXPECT_EQ(number(saddle, "index"), 1);
  EXPECT_EQ(number(saddle, "num_zero"), 0);
  EXPECT_EQ(number(saddle, "num_explained"), 0);
  EXPECT_NEAR(number(saddle, "loss"), 2, 1e-15);
  EXPECT_NEAR(number(saddle, "escape_rate"), 2, 1e-14);
  EXPECT_NEAR(number(saddle, "lambda_min"), -2, 1e-14);
  EXPECT_NEAR(number(saddle, "distance"), std::sqrt(0.1), 1e-12);
  EXPECT_TRUE(number(saddle, "relative_gradient") <= 1e-12);
  EXPECT_NEAR(number(saddle, "loss_difference"), 0.5 * 1.97 * 1.97 - 2, 1e-14);

  const Analysis minimum = analyze(objective, {{"here", Vector2d(2.1, 1)}}, {"critical"});
  EXPECT_EQ(number(minimum, "index"), 0);
  EXPECT_EQ(number(minimum, "num_zero"), 0);
  EXPECT_EQ(number(minimum, "num_explained"), 1);
  EXPECT_EQ(number(minimum, "escape_rate"), 0);
  const VectorXd there = minimum[0].values("critical", "parameters");
  EXPECT_NEAR(number(minimum, "lambda_min"), there.squaredNorm(), 1e-13);
}

// The index, the zeros and lambda_min are those of Eigen's decomposition of the Hessian there.
TEST(CriticalAnalyzer, CountsWhatADecompositionThereHas) {
  int num_saddles = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const Model model = mlp({.widths = {3, 2, 3},
                             .activation = Activation::kIdentity,
                             .loss = MlpLoss::kMeanSquaredError});
    const GraphObjective objective(model, test::Numbers(1).table(40, model.record_size()));
    const VectorXd start = 0.4 * test::Numbers(seed).vector(model.num_parameters());
    const Analysis analysis = analyze(objective, {{"here", start}}, {"critical"});
    if (analysis[0].status("critical", "loss") != Status::kOk) {
      EXPECT_NE(analysis[0].status("critical", "index"), Status::kOk);
      continue;
    }
    const VectorXd theta = analysis[0].values("critical", "parameters");
    EXPECT_TRUE(objective.gradient(theta).norm() <= 1e-11);
    const VectorXd lambda = test::eigenvalues(objective.hessian(theta));
    constexpr double kZero = 1e-11;
    EXPECT_EQ(number(analysis, "index"), (lambda.array() < -kZero).count());
    EXPECT_EQ(number(analysis, "num_zero") + number(analysis, "num_explained"),
              (lambda.array().abs() <= kZero).count());
    EXPECT_TRUE(number(analysis, "num_explained") > 0);
    if (number(analysis, "index") == 0) continue;
    ++num_saddles;
    EXPECT_NEAR(number(analysis, "lambda_min"), lambda[0], 1e-12);
    EXPECT_EQ(number(analysis, "escape_rate"), -number(analysis, "lambda_min"));
    // Gradient flow leaves along the eigenvector at that rate.
  }
  EXPECT_GE(num_saddles, 2);
}

// Ten of 13 eigenvalues are zeros, however far the search still is from the manifold where it is
// done.
TEST(CriticalAnalyzer, ZerosAreNotMadeEigenvaluesByTheDistanceStillToGo) {
  test::ManifoldOfMinima minima;
  for (const double size : {1e-5, 1e-7, 1e-9, 1e-11}) {
    minima.descend(size);
    const Analysis analysis = analyze(minima.objective,
                                      {{"here", minima.theta}},
                                      {"critical"},
                                      {.options = {{"critical-gradient", 1e-4}}});
    EXPECT_EQ(number(analysis, "index"), 0);
    EXPECT_EQ(number(analysis, "num_zero"), 10);
    EXPECT_EQ(number(analysis, "escape_rate"), 0);
  }
}

// Mean of (x - a_i)^2 / 2 + s_i y, the s_i of which cancel: a valley along y that no symmetry
// explains unless every s_i is 0.
TEST(CriticalAnalyzer, AParameterThatSamplesAreLinearInIsAnUnexplainedZero) {
  ModelBuilder builder("linear");
  const Var x = builder.parameter("x", {});
  const Var y = builder.parameter("y", {});
  const Var a = builder.array("a", {});
  const Var s = builder.array("s", {});
  const Model model = builder.finish(0.5 * square(x - a) + hadamard(s, y));
  SampleTable samples(2, 2);
  samples << 1, 1, 3, -1;
  const auto critical = [&] {
    return analyze(GraphObjective(model, samples), {{"here", Vector2d(2.5, 0.5)}}, {"critical"});
  };
  const Analysis linear = critical();
  EXPECT_EQ(number(linear, "index"), 0);
  EXPECT_EQ(number(linear, "num_explained"), 0);
  EXPECT_EQ(number(linear, "num_zero"), 1);
  samples.col(1).setZero();
  const Analysis dead = critical();
  EXPECT_EQ(number(dead, "num_explained"), 1);
  EXPECT_EQ(number(dead, "num_zero"), 0);
  EXPECT_NEAR(number(dead, "lambda_min"), 1, 1e-14);
}

// x y z at 0, a saddle of third order, and x^4 / 24 at its minimum: rows of H that are zero there
// alone explain nothing.
TEST(CriticalAnalyzer, APointThatIsDegenerateHasUnexplainedZeros) {
  const auto saddle = make_objective(
      [](const auto& x, Eigen::Index /*sample*/) {
        using T = std::decay_t<decltype(x(0))>;
        return T(x(0) * x(1) * x(2));
      },
      3,
      2);
  const Analysis of_saddle = analyze(saddle, {{"here", Eigen::Vector3d::Zero()}}, {"critical"});
  EXPECT_EQ(number(of_saddle, "outcome"), 0);
  EXPECT_EQ(number(of_saddle, "num_explained"), 0);
  EXPECT_EQ(number(of_saddle, "num_zero"), 3);
  const auto quartic = make_objective(
      [](const auto& x, Eigen::Index /*sample*/) {
        using T = std::decay_t<decltype(x(0))>;
        return T(x(0) * x(0) * x(0) * x(0) / 24.0 + 0.5 * x(1) * x(1));
      },
      2,
      2);
  for (const double start : {0.0, 0.1}) {
    const Analysis at = analyze(quartic, {{"here", Vector2d(start, start)}}, {"critical"});
    EXPECT_EQ(number(at, "index"), 0);
    EXPECT_EQ(number(at, "num_explained"), 0);
    EXPECT_EQ(number(at, "num_zero"), 1);
  }
}

// (x - 1)^4 / 4 + y^2 / 2, expanded: rounding of the gradient ends the search 1e-5 away from 1,
// where the curvature along x is not 0.
TEST(CriticalAnalyzer, ADegenerateMinimumIsOneAsFarAwayAsItIsFound) {
  for (const double stiffness : {0.0, 1.0}) {
    const auto objective = make_objective(
        [&](const auto& x, Eigen::Index /*sample*/) {
          using T = std::decay_t<decltype(x(0))>;
          const T u = x(0);
          return T(0.25 * u * u * u * u - u * u * u + 1.5 * u * u - u +
                   0.5 * stiffness * x(1) * x(1));
        },
        2,
        2);
    for (const double start : {1.5, 1.01}) {
      SCOPED_TRACE(start);
      const Analysis at = analyze(objective, {{"here", Vector2d(start, 0.2)}}, {"critical"});
      EXPECT_EQ(number(at, "outcome"), 0);
      EXPECT_NEAR(number(at, "distance"), std::hypot(start - 1, 0.2 * stiffness), 1e-4);
      EXPECT_EQ(number(at, "index"), 0);
      EXPECT_EQ(number(at, "num_zero"), 1);
      EXPECT_EQ(number(at, "num_explained"), stiffness > 0 ? 0 : 1);
    }
  }
}

TEST(CriticalAnalyzer, OfALossThatIsConstantNoEigenvalueIsLeft) {
  const test::QuadraticObjective objective({MatrixXd::Zero(2, 2)});
  const Analysis analysis = analyze(objective, {{"here", Vector2d(1, 2)}}, {"critical"});
  EXPECT_EQ(number(analysis, "outcome"), 0);
  EXPECT_EQ(number(analysis, "num_explained"), 2);
  EXPECT_EQ(number(analysis, "index"), 0);
  EXPECT_EQ(number(analysis, "num_zero"), 0);
  EXPECT_EQ(number(analysis, "escape_rate"), 0);
  EXPECT_EQ(analysis[0].status("critical", "lambda_min"), Status::kUndefinedTooFewPoints);
}

TEST(CriticalAnalyzer, WhatDoesNotConvergeHasNoNumbers) {
  const GraphObjective objective = test::product_of_two({2});
  const Analysis analysis = analyze(objective,
                                    {{"here", Vector2d(30, 40)}},
                                    {"critical"},
                                    {.options = {{"critical", std::int64_t{1}}}});
  EXPECT_EQ(number(analysis, "outcome"), 2);
  EXPECT_EQ(number(analysis, "num_iterations"), 1);
  EXPECT_TRUE(number(analysis, "relative_gradient") > 1e-12);
  for (const char* name : {"loss", "index", "escape_rate", "distance", "parameters", "num_zero"}) {
    EXPECT_EQ(analysis[0].status("critical", name), Status::kFailed) << name;
  }
  ASSERT_EQ(analysis.warnings().size(), 1U);
  EXPECT_THAT(std::string(analysis.warnings()[0]),
              testing::HasSubstr(
                  "the search is not complete after 1 of at most 1 steps; `critical` allows"));
}

TEST(CriticalAnalyzer, WithoutAMatrixOrANumberThereIsNone) {
  const GraphObjective objective = test::product_of_two({2});
  const Analysis free = analyze(
      objective, {{"here", Vector2d(1, 1)}}, {"critical"}, {.method = SpectrumMethod::kMatrixFree});
  EXPECT_EQ(free[0].status("critical", "index"), Status::kNotComputed);
  EXPECT_EQ(number(free, "outcome"), 6);  // not searched
  const Analysis of_nan = analyze(objective, {{"here", Vector2d(std::nan(""), 1)}}, {"critical"});
  EXPECT_EQ(of_nan[0].status("critical", "index"), Status::kNonFinite);
  EXPECT_EQ(number(of_nan, "outcome"), 3);
}

}  // namespace
}  // namespace hesscope
