// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>

#include "support/closed_form_objectives.h"
#include "support/decompositions.h"
#include "support/maxima.h"
#include "support/numbers.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

Analysis sharpening(const Objective& objective,
                    const std::vector<NamedPoint>& points,
                    std::int64_t count,
                    double gap = 1e-6,
                    SpectrumMethod method = SpectrumMethod::kAuto) {
  return analyze(objective,
                 points,
                 {"sharpening"},
                 {.options = {{"sharpening", count}, {"cluster-gap", gap}}, .method = method});
}

// The loss that `record` records of parameters x, one number each.
GraphObjective objective_of(
    Eigen::Index size, const std::function<Var(const std::function<Var(Eigen::Index)>&)>& record) {
  ModelBuilder builder("formula");
  const Var x = builder.parameter("x", {size});
  builder.array("none", {});
  Model model = builder.finish(record([&](Eigen::Index i) { return slice(x, i, 0, 1, 1); }));
  return {std::move(model), SampleTable::Zero(1, 1)};
}

// f = 1/2 x^2 (1 + y) + y^2 / 4 + b y: at x = 0 H = diag(1 + y, 1/2) and g = (0, y / 2 + b). The
// eigenvalue 1 + y has the gradient (0, 1), which its eigenvector has no part of; that of 1/2 is 0.
TEST(SharpeningAnalyzer, OfAValleyThatNarrowsIsTheClosedForm) {
  constexpr double kB = -2;
  const GraphObjective objective = objective_of(2, [](const auto& entry) {
    const Var x = entry(0);
    const Var y = entry(1);
    return 0.5 * (square(x) + hadamard(square(x), y)) + 0.25 * square(y) + kB * y;
  });
  const Analysis analysis = sharpening(objective, {{"here", Eigen::Vector2d(0, 1)}}, 2);
  const auto expect = [&](const char* name, const Eigen::VectorXd& expected) {
    const Eigen::VectorXd found = analysis[0].values("sharpening", name);
    ASSERT_EQ(found.size(), expected.size()) << name;
    EXPECT_TRUE(test::largest_difference(found, expected) <= 1e-14) << name << "\n" << found;
  };
  expect("eigenvalues_largest", Eigen::Vector2d(2, 0.5));
  expect("eigenvalues_smallest", Eigen::Vector2d(0.5, 2));
  expect("cluster_largest", Eigen::Vector2d(0, 1));
  expect("gradients_largest", Eigen::Vector4d(0, 1, 0, 0));
  expect("gradients_smallest", Eigen::Vector4d(0, 0, 0, 1));
  expect("gradient_norm_largest", Eigen::Vector2d(1, 0));
  expect("rate_largest", Eigen::Vector2d(1.5, 0));  // -(1/2 - 2)
  EXPECT_FALSE(std::signbit(analysis[0].values("sharpening", "rate_largest")[1]));
  expect("self_stabilization_largest", Eigen::Vector2d(1, 0));
  EXPECT_NEAR(analysis[0].number("sharpening", "displacement"), std::sqrt(3.0), 1e-14);
  EXPECT_EQ(analysis[0].status("sharpening", "gap_to_edge"), Status::kNotStored);
  EXPECT_EQ(analysis[0].status("sharpening", "change_largest"), Status::kNotComputed);
}

// A loss 2^-600 times as large has its balance at the same amplitude.
TEST(SharpeningAnalyzer, TheDisplacementDoesNotPassThroughSquares) {
  const auto displacement = [](double scale) {
    const GraphObjective objective = objective_of(2, [&](const auto& entry) {
      const Var x = entry(0);
      const Var y = entry(1);
      return scale * (0.5 * (square(x) + hadamard(square(x), y)) + 0.25 * square(y) + -2.0 * y);
    });
    return sharpening(objective, {{"here", Eigen::Vector2d(0, 1)}}, 1)[0].number("sharpening",
                                                                                 "displacement");
  };
  EXPECT_NEAR(displacement(1), std::sqrt(3.0), 1e-14);
  EXPECT_EQ(displacement(std::ldexp(1.0, -600)), displacement(1));
}

// Eigenvalues 1 + y + a z and 1 + y - a z cross at z = 0, where neither has a gradient; their mean
// has, that of y.
TEST(SharpeningAnalyzer, WhereEigenvaluesCrossTakesTheirMean) {
  constexpr double kA = 3;
  const GraphObjective objective = objective_of(4, [](const auto& entry) {
    const Var squares = square(entry(0)) + square(entry(1));
    const Var product = hadamard(entry(0), entry(1));
    return 0.5 * (squares + hadamard(squares, entry(2))) + kA * hadamard(product, entry(3)) +
           0.125 * (square(entry(2)) + square(entry(3))) - entry(2);
  });
  const Eigen::Vector4d crossing(0, 0, 1, 0);
  const Analysis both = sharpening(objective, {{"here", crossing}}, 2);
  EXPECT_EQ(both[0].values("sharpening", "cluster_largest"), Eigen::Vector2d::Zero());
  const Eigen::VectorXd gradients = both[0].values("sharpening", "gradients_largest");
  for (Eigen::Index i = 0; i < 2; ++i) {
    EXPECT_TRUE((gradients.segment(4 * i, 4) - Eigen::Vector4d(0, 0, 1, 0)).norm() <= 1e-14);
  }
  EXPECT_NEAR(both[0].number("sharpening", "rate_largest"), 0.75, 1e-14);  // -(y / 4 - 1)
  EXPECT_NEAR(both[0].number("sharpening", "self_stabilization_largest"), 1, 1e-14);

  // Half a cluster has no mean.
  const Analysis half = sharpening(objective, {{"here", crossing}}, 1);
  EXPECT_EQ(half[0].status("sharpening", "eigenvalues_largest"), Status::kOk);
  for (const char* name : {"gradients_largest",
                           "gradient_norm_largest",
                           "rate_largest",
                           "self_stabilization_largest",
                           "displacement"}) {
    EXPECT_EQ(half[0].status("sharpening", name), Status::kNotComputed) << name;
    EXPECT_TRUE(std::isnan(half[0].number("sharpening", name))) << name;
  }

  // Beside the crossing each has its own.
  const Analysis apart = sharpening(objective, {{"here", Eigen::Vector4d(0, 0, 1, 0.1)}}, 2);
  EXPECT_EQ(apart[0].values("sharpening", "cluster_largest"), Eigen::Vector2d(0, 1));
  const Eigen::VectorXd own = apart[0].values("sharpening", "gradients_largest");
  EXPECT_TRUE((own.head(4) - Eigen::Vector4d(0, 0, 1, kA)).norm() <= 1e-13) << own;
  EXPECT_TRUE((own.tail(4) - Eigen::Vector4d(0, 0, 1, -kA)).norm() <= 1e-13) << own;
}

// Along d theta / dt = -g, by the classical Runge-Kutta method: its error here is some 1e-13.
Eigen::VectorXd flow(const Objective& objective, Eigen::VectorXd theta, double time) {
  constexpr int kSteps = 40;
  const double h = time / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const Eigen::VectorXd a = -objective.gradient(theta);
    const Eigen::VectorXd b = -objective.gradient(theta + h / 2 * a);
    const Eigen::VectorXd c = -objective.gradient(theta + h / 2 * b);
    const Eigen::VectorXd d = -objective.gradient(theta + h * c);
    theta += h / 6 * (a + 2 * b + 2 * c + d);
  }
  return theta;
}

Eigen::VectorXd eigenvalues(const Objective& objective, const Eigen::VectorXd& theta) {
  return test::eigenvalues(objective.hessian(theta));
}

TEST(SharpeningAnalyzer, TheRateIsThatOfEigenvaluesAlongTheGradientFlow) {
  const std::vector<Model> models = {linear_attention({.layers = 2, .dimension = 2, .context = 4}),
                                     mlp({.widths = {3, 4, 2},
                                          .activation = Activation::kTanh,
                                          .loss = MlpLoss::kMeanSquaredError})};
  for (const Model& model : models) {
    SCOPED_TRACE(model.kind);
    const GraphObjective objective(model, test::Numbers(1).table(30, model.record_size()));
    const Eigen::VectorXd theta = test::Numbers(2).vector(model.num_parameters());
    const Analysis analysis = sharpening(objective, {{"here", theta}}, 2);
    const double rate_scale = analysis[0].number("sharpening", "gradient_norm_largest") *
                              objective.gradient(theta).norm();
    // Central differences in time, twice extrapolated.
    const double t = 0.02 / objective.gradient(theta).norm();
    const auto difference = [&](double time) -> Eigen::VectorXd {
      return (eigenvalues(objective, flow(objective, theta, time)) -
              eigenvalues(objective, flow(objective, theta, -time))) /
             (2 * time);
    };
    const Eigen::VectorXd coarse = (4 * difference(t / 2) - difference(t)) / 3;
    const Eigen::VectorXd fine = (4 * difference(t / 4) - difference(t / 2)) / 3;
    const Eigen::VectorXd expected = (16 * fine - coarse) / 15;
    const Eigen::VectorXd largest = analysis[0].values("sharpening", "rate_largest");
    const Eigen::VectorXd smallest = analysis[0].values("sharpening", "rate_smallest");
    const Eigen::Index n = expected.size();
    EXPECT_GT(rate_scale, 1e-3);
    for (Eigen::Index i = 0; i < 2; ++i) {
      EXPECT_NEAR(largest[i], expected[n - 1 - i], 1e-9 * rate_scale) << i;
      EXPECT_NEAR(smallest[i], expected[i], 1e-9 * rate_scale) << i;
    }
  }
}

// The trapezoidal rule errs by the cube of the step.
TEST(SharpeningAnalyzer, PredictsTheChangeBetweenCheckpoints) {
  const Model model = linear_attention({.layers = 2, .dimension = 2, .context = 4});
  const GraphObjective objective(model, test::Numbers(1).table(30, model.record_size()));
  const Eigen::VectorXd theta = test::Numbers(2).vector(model.num_parameters());
  const Eigen::VectorXd direction = test::Numbers(3).vector(theta.size()).normalized();
  const auto error = [&](double step) {
    const Analysis analysis =
        sharpening(objective, {{"a", theta, 0}, {"b", theta + step * direction, 1}}, 2);
    const double change = analysis["b"].number("sharpening", "change_largest");
    EXPECT_NEAR(change,
                analysis["b"].number("sharpening", "eigenvalues_largest") -
                    analysis["a"].number("sharpening", "eigenvalues_largest"),
                1e-14 * std::abs(analysis["b"].number("sharpening", "eigenvalues_largest")));
    return analysis["b"].number("sharpening", "predicted_change_largest") - change;
  };
  const double coarse = error(0.02);
  const double fine = error(0.01);
  EXPECT_TRUE(std::abs(coarse / fine - 8) < 0.5) << coarse << " and " << fine;
}

TEST(SharpeningAnalyzer, WithoutTheMatrixSaysThatNothingIsProved) {
  const Model model = mlp({.widths = {4, 20, 12, 2},
                           .activation = Activation::kTanh,
                           .loss = MlpLoss::kMeanSquaredError});
  ASSERT_GT(model.num_parameters(), 300);
  const GraphObjective objective(model, test::Numbers(4).table(20, model.record_size()));
  const Eigen::VectorXd theta = test::Numbers(5).vector(model.num_parameters());
  const auto by = [&](SpectrumMethod method) {
    return sharpening(objective, {{"here", theta}}, 1, 1e-6, method);
  };
  const Analysis dense = by(SpectrumMethod::kDense);
  const Analysis free = by(SpectrumMethod::kMatrixFree);
  for (const char* name : {"rate_largest", "gradient_norm_largest", "self_stabilization_largest"}) {
    const double expected = dense[0].number("sharpening", name);
    EXPECT_NEAR(free[0].number("sharpening", name), expected, 1e-5 * std::abs(expected)) << name;
  }
  const auto is_proved = [](const Analysis& analysis, const std::string& name) {
    return analysis[0].group("sharpening").find(name)->is_proved;
  };
  for (const char* name : {"rate_largest", "gradients_largest", "displacement"}) {
    EXPECT_TRUE(is_proved(dense, name)) << name;
    EXPECT_FALSE(is_proved(free, name)) << name;
  }
}

TEST(SharpeningAnalyzer, OfWeightsThatAreNaNIsMissing) {
  const GraphObjective objective = test::product_of_two({2});
  const Analysis analysis = sharpening(objective, {{"here", Eigen::Vector2d(1, kNaN)}}, 1);
  for (const char* name : {"eigenvalues_largest",
                           "gradients_smallest",
                           "rate_largest",
                           "change_largest",
                           "gap_to_edge",
                           "displacement"}) {
    EXPECT_EQ(analysis[0].status("sharpening", name), Status::kNonFinite) << name;
  }
}

TEST(SharpeningAnalyzer, KnowsTheEdgeFromTheCheckpointsLearningRate) {
  const GraphObjective objective = test::product_of_two({2});
  OptimizerState optimizer{.kind = OptimizerKind::kSgd};
  optimizer.groups = {OptimizerSettings{.learning_rate = 0.25}};
  // H = [4, 2; 2, 1]
  const Analysis analysis =
      sharpening(objective, {{"here", Eigen::Vector2d(1, 2), {}, optimizer}}, 1);
  EXPECT_NEAR(analysis[0].number("sharpening", "gap_to_edge"), 3, 1e-14);
}

TEST(SharpeningAnalyzer, RefusesAnObjectiveThatGivesHessiansAlone) {
  const test::QuadraticObjective objective({Eigen::MatrixXd::Identity(2, 2)});
  test::expect_refusal<ConfigError>(
      [&] {
        sharpening(objective, {{"here", Eigen::Vector2d(1, 1)}}, 1);
      },
      "analyzer 'sharpening' needs third derivatives of the loss");
}

}  // namespace
}  // namespace hesscope
