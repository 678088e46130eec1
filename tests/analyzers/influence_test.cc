// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/core/error.h>
#include <hesscope/models/mlp.h>

#include "support/closed_form_objectives.h"
#include "support/decompositions.h"
#include "support/manifold_of_minima.h"
#include "support/maxima.h"
#include "support/numbers.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Analysis influence(const Objective& objective,
                   const VectorXd& theta,
                   std::int64_t count = 1000,
                   double gradient = 1e-3) {
  return analyze(objective,
                 {{"here", theta}},
                 {"influence"},
                 {.options = {{"influence", count}, {"influence-gradient", gradient}}});
}

// The values of a quantity of two dimensions as rows.
MatrixXd rows(const Analysis& analysis, const char* name, Index count) {
  const VectorXd values = analysis[0].values("influence", name);
  return values.reshaped(values.size() / count, count).transpose();
}

// Newton's method, with a damping that ends.
VectorXd minimum(const Objective& objective, VectorXd theta) {
  for (int i = 0; i < 200; ++i) {
    const VectorXd gradient = objective.gradient(theta);
    if (gradient.norm() < 1e-13) break;
    MatrixXd h = objective.hessian(theta);
    double damping = 0;
    if (gradient.norm() > 1e-4) {
      const double lowest = test::eigenvalues(h)[0];
      damping = std::max(0.0, 1e-3 - lowest) + gradient.norm();
    }
    h.diagonal().array() += damping;
    theta -= test::solve_symmetric(h, gradient);
  }
  EXPECT_TRUE(objective.gradient(theta).norm() < 1e-12);
  return theta;
}

SampleTable without(const SampleTable& table, Index row) {
  SampleTable rest(table.rows() - 1, table.cols());
  rest << table.topRows(row), table.bottomRows(table.rows() - 1 - row);
  return rest;
}

// For the losses |x - y_i|^2 / 2 the minimum is the mean: without y_i it moves by (mean - y_i) / (N
// - 1), to first order in 1/N by (mean - y_i) / N, and a Newton step gives the whole change.
TEST(InfluenceAnalyzer, OfAMeanIsTheClosedForm) {
  ModelBuilder builder("mean");
  const Var x = builder.parameter("x", {2});
  const Var y = builder.array("target", {2});
  const Model model = builder.finish(0.5 * sum(square(x - y)));
  SampleTable samples(4, 2);
  samples << 0, 0, 4, 0, 0, 8, 4, 0;
  const GraphObjective objective(model, samples);
  const Eigen::Vector2d mean(2, 2);
  const Analysis analysis = influence(objective, mean, 4);
  const VectorXd self = analysis[0].values("influence", "self_influence");
  ASSERT_EQ(self.size(), 4);
  const VectorXd order = analysis[0].values("influence", "influential_sample");
  EXPECT_EQ(order, Eigen::Vector4d(2, 0, 1, 3));
  const MatrixXd change = rows(analysis, "parameter_change", 4);
  const MatrixXd newton = rows(analysis, "newton_parameter_change", 4);
  const MatrixXd losses = rows(analysis, "loss_change", 4);
  const VectorXd own = analysis[0].values("influence", "newton_self_influence");
  for (Index k = 0; k < 4; ++k) {
    const auto i = static_cast<Index>(order[k]);
    const Eigen::Vector2d from = mean - samples.row(i).transpose();
    EXPECT_NEAR(self[i], from.squaredNorm() / 4, 1e-14);
    EXPECT_TRUE((change.row(k).transpose() - from / 4).norm() <= 1e-14);
    EXPECT_TRUE((newton.row(k).transpose() - from / 3).norm() <= 1e-14);
    EXPECT_NEAR(own[k], 0.5 * from.squaredNorm() * (16.0 / 9 - 1), 1e-13);
    for (Index j = 0; j < 4; ++j) {
      EXPECT_NEAR(losses(k, j), from.dot(mean - samples.row(j).transpose()) / 4, 1e-14);
    }
  }
  EXPECT_NEAR(analysis[0].number("influence", "mean_self_influence"), self.mean(), 1e-14);
  EXPECT_EQ(analysis[0].number("influence", "gradient_in_samples"), 0);
  EXPECT_EQ(analysis[0].number("influence", "num_negative"), 0);
  // Both eigenvalues are 1 for any weights, but for their sum.
  EXPECT_TRUE((analysis[0].values("influence", "lambda_max_slope") - VectorXd::Ones(4)).norm() <=
              1e-14);
}

class Trained : public testing::Test {
 protected:
  Trained() {
    model_ = mlp(
        {.widths = {2, 3, 1}, .activation = Activation::kTanh, .loss = MlpLoss::kMeanSquaredError});
    model_.weight_decay = 0.05;
    samples_ = test::Numbers(3).table(kSamples, model_.record_size());
    theta_ =
        minimum(GraphObjective(model_, samples_), test::Numbers(4).vector(model_.num_parameters()));
  }

  static constexpr Index kSamples = 40;
  Model model_;
  SampleTable samples_;
  VectorXd theta_;
};

// Against the minimum of f - loss_i / N, and with M copies of the data against that of
// f - loss_i / (M N): the change falls as 1 / M, and what both the first order and the Newton step
// leave of it as 1 / M^2.
TEST_F(Trained, ItIsWhatRetrainingWithoutASampleGives) {
  const auto changes = [&](Index copies) {
    SampleTable table = samples_.replicate(copies, 1);
    const GraphObjective objective(model_, table);
    const Analysis analysis = influence(objective, theta_);
    EXPECT_EQ(analysis[0].status("influence", "newton_parameter_change"), Status::kOk);
    const auto count = static_cast<double>(table.rows());
    const VectorXd order = analysis[0].values("influence", "influential_sample");
    const MatrixXd change = rows(analysis, "parameter_change", table.rows());
    const MatrixXd newton = rows(analysis, "newton_parameter_change", table.rows());
    const VectorXd norms = analysis[0].values("influence", "parameter_change_norm");
    const VectorXd self = analysis[0].values("influence", "self_influence");
    const MatrixXd h = objective.hessian(theta_);
    std::array<double, 4> found{};  // the change, and the errors of it and of self_influence
    for (Index k = 0; k < 3; ++k) {
      const auto i = static_cast<Index>(order[k]);
      const SampleRange range = {i, i + 1};
      EXPECT_NEAR(norms[i], change.row(k).norm(), 1e-12 * norms.maxCoeff<Eigen::PropagateNaN>());
      const VectorXd step = test::solve_symmetric(h - objective.hessian(theta_, range, {}) / count,
                                                  objective.gradient(theta_, range)) /
                            count;
      EXPECT_TRUE((newton.row(k).transpose() - step).norm() <= 1e-11 * step.norm());
      const VectorXd exact = minimum(GraphObjective(model_, without(table, i)), theta_) - theta_;
      const double own = objective.value(theta_ + exact, range) - objective.value(theta_, range);
      found[0] += exact.norm();
      found[1] += (change.row(k).transpose() - exact).norm();
      found[2] += (newton.row(k).transpose() - exact).norm();
      found[3] += std::abs(self[i] - own);
    }
    return found;
  };
  const auto some = changes(8);
  const auto twice = changes(16);
  EXPECT_TRUE(some[1] < 0.1 * some[0]) << some[1] << " of " << some[0];
  EXPECT_NEAR(some[0] / twice[0], 2, 0.1);
  for (std::size_t e = 1; e < 4; ++e) EXPECT_NEAR(some[e] / twice[e], 4, 0.3) << e;
}

// d lambda_max / d w_i by central differences over the weight, with Newton's method at each.
TEST_F(Trained, SlopesAreThoseOfRetrainingWithOtherWeights) {
  const GraphObjective objective(model_, samples_);
  const Analysis analysis = influence(objective, theta_);
  const VectorXd slope = analysis[0].values("influence", "lambda_max_slope");
  const VectorXd fixed = analysis[0].values("influence", "lambda_max_slope_fixed");
  const VectorXd moved = analysis[0].values("influence", "lambda_max_slope_moved");
  const MatrixXd h = objective.hessian(theta_);
  const test::Eigenpairs pairs = test::eigenpairs(h);
  const VectorXd u = pairs.vectors.rightCols(1);
  const double lambda_max = pairs.values.maxCoeff<Eigen::PropagateNaN>();
  EXPECT_NEAR(fixed.mean(), lambda_max, 1e-13 * lambda_max);
  EXPECT_TRUE(std::abs(moved.sum()) <= 1e-9 * moved.cwiseAbs().sum()) << moved.sum();
  EXPECT_TRUE(test::largest_magnitude(moved) > 1e-3 * test::largest_magnitude(fixed));
  EXPECT_TRUE((slope - fixed - moved).norm() <= 1e-15 * slope.norm());
  const auto weighted = [&](Index i, double step) {
    // Minimum and lambda_max of f + step * loss_i.
    VectorXd theta = theta_;
    MatrixXd hessian;
    for (int k = 0; k < 30; ++k) {
      hessian = objective.hessian(theta) + step * objective.hessian(theta, {i, i + 1}, {});
      const VectorXd gradient =
          objective.gradient(theta) + step * objective.gradient(theta, {i, i + 1});
      if (gradient.norm() < 1e-15) break;
      theta -= test::solve_symmetric(hessian, gradient);
    }
    return test::eigenvalues(hessian).maxCoeff<Eigen::PropagateNaN>();
  };
  for (const Index i : {0, 7, 23}) {
    EXPECT_NEAR(fixed[i], u.dot(objective.hessian(theta_, {i, i + 1}, {}) * u), 1e-13 * lambda_max);
    constexpr double kStep = 1e-4;
    const auto difference = [&](double step) {
      return (weighted(i, step) - weighted(i, -step)) / (2 * step);
    };
    const double expected = (4 * difference(kStep / 2) - difference(kStep)) / 3;
    EXPECT_NEAR(slope[i], expected, 1e-8 * test::largest_magnitude(slope)) << i;
  }
}

// (a b - y_i)^2 / 2 has its minimum on a hyperbola; along it nothing is determined, across it a b
// moves as a mean does.
TEST(InfluenceAnalyzer, OnAnOrbitOfMinimaGoesAcrossIt) {
  const GraphObjective objective = test::product_of_two({1, 2, 3});
  const Analysis analysis = influence(objective, Eigen::Vector2d(2, 1), 3);
  EXPECT_EQ(analysis[0].number("influence", "num_explained"), 1);
  EXPECT_EQ(analysis[0].number("influence", "num_zero"), 0);
  const VectorXd order = analysis[0].values("influence", "influential_sample");
  const MatrixXd change = rows(analysis, "parameter_change", 3);
  for (Index k = 0; k < 3; ++k) {
    // d(a b) = b da + a db = (mean - y_i) / N, along (b, a) / (a^2 + b^2).
    const double moved = (1 - order[k]) / 3;
    EXPECT_TRUE((change.row(k) - moved * Eigen::RowVector2d(1, 2) / 5).norm() <= 1e-14);
  }
  EXPECT_TRUE(
      (analysis[0].values("influence", "self_influence") - Eigen::Vector3d(1, 0, 1) / 3).norm() <=
      1e-14);
}

// Samples on a line have no gradients at it but those of rounding, and none moves anything.
TEST(InfluenceAnalyzer, OfSamplesThatAreFittedIsZero) {
  const Model model = mlp({.widths = {2, 1}, .loss = MlpLoss::kMeanSquaredError});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    test::Numbers numbers(seed);
    SampleTable samples = numbers.table(8, 3);
    const VectorXd theta = numbers.vector(3);
    samples.col(2) = (samples.leftCols(2) * theta.head(2)).array() + theta[2];
    for (const SpectrumMethod method : {SpectrumMethod::kDense, SpectrumMethod::kMatrixFree}) {
      const Analysis analysis = analyze(GraphObjective(model, samples),
                                        {{"here", theta}},
                                        {"influence", "edge", "noise"},
                                        {.method = method});
      EXPECT_EQ(analysis[0].status("edge", "gradient_curvature"),
                Status::kUndefinedZeroDenominator);
      EXPECT_EQ(analysis[0].status("noise", "noise_scale_simple"),
                Status::kUndefinedZeroDenominator);
      if (method == SpectrumMethod::kMatrixFree) continue;
      EXPECT_EQ(analysis[0].number("influence", "gradient_in_samples"), 0);
      EXPECT_EQ(analysis[0].status("influence", "self_influence"), Status::kOk);
      EXPECT_LE(test::largest_magnitude(analysis[0].values("influence", "parameter_change_norm")),
                1e-13);
    }
  }
}

// Near the manifold eigenvalues that are zero on it are as small as the distance makes them.
TEST(InfluenceAnalyzer, NearAManifoldOfMinimaThereIsNoInverse) {
  test::ManifoldOfMinima minima;
  for (const double size : {1e-6, 1e-9}) {
    minima.descend(size);
    const Analysis analysis = influence(minima.objective, minima.theta);
    EXPECT_LE(analysis[0].number("influence", "gradient_in_samples"), 1e-3);
    EXPECT_EQ(analysis[0].number("influence", "num_zero"), 10);
    EXPECT_EQ(analysis[0].number("influence", "num_negative"), 0);
    EXPECT_EQ(analysis[0].status("influence", "self_influence"), Status::kUndefinedSingular);
  }
}

// Samples (x - a_i)^2 / 2 + y^4 / 4: the curvature 3 y^2 along y is that of the distance from
// y = 0, where it is zero, though at y = 1e-6 the gradient 1e-18 is far below rounding. With c
// y^2 / 2, c = 1e-11, instead it is small and not zero.
TEST(InfluenceAnalyzer, WhatIsCurvedOnlyAsFarFromTheCriticalPointIsSingular) {
  SampleTable samples(4, 1);
  samples << 1, 2, 3, 6;
  const auto expect = [&](bool is_quartic, double at, bool is_singular) {
    ModelBuilder builder("degenerate");
    const Var x = builder.parameter("x", {});
    const Var y = builder.parameter("y", {});
    const Var a = builder.array("a", {});
    const Var along = is_quartic ? 0.25 * square(square(y)) : 0.5e-11 * square(y);
    const GraphObjective objective(builder.finish(0.5 * square(x - a) + along), samples);
    const Analysis analysis = influence(objective, Eigen::Vector2d(3, at), 4);
    EXPECT_EQ(analysis[0].number("influence", "num_zero"), is_singular ? 1 : 0) << at;
    EXPECT_EQ(analysis[0].number("influence", "num_negative"), 0);
    EXPECT_EQ(analysis[0].status("influence", "self_influence"),
              is_singular ? Status::kUndefinedSingular : Status::kOk);
  };
  for (const double y : {1e-6, 3e-5, 1e-3}) expect(true, y, true);
  expect(false, 0, false);
}

TEST(InfluenceAnalyzer, WhatIsNotStationaryOrSingularIsSaid) {
  const GraphObjective objective = test::product_of_two({1, 2, 3});
  const Analysis away = influence(objective, Eigen::Vector2d(2, 1.5), 2);
  EXPECT_EQ(away[0].status("influence", "self_influence"), Status::kUndefinedNotStationary);
  EXPECT_EQ(away[0].status("influence", "newton_parameter_change"),
            Status::kUndefinedNotStationary);
  EXPECT_TRUE(std::isnan(away[0].number("influence", "self_influence")));
  // |r| over the mean of |a b - y_i| / 3, a b = 3.
  EXPECT_NEAR(away[0].number("influence", "gradient_in_samples"), 3, 1e-13);
  // The slope at fixed parameters needs no critical point.
  EXPECT_EQ(away[0].status("influence", "lambda_max_slope_fixed"), Status::kOk);

  Eigen::Matrix2d h;
  h << 1, -1, -1, 1;
  const test::QuadraticObjective flat({h, h});
  const Analysis singular = influence(flat, Eigen::Vector2d::Zero(), 2);
  EXPECT_EQ(singular[0].number("influence", "num_zero"), 1);
  EXPECT_EQ(singular[0].status("influence", "self_influence"), Status::kUndefinedSingular);
}

// Samples (x - a_i)^2 / 2 + s_i y: y has no curvature, and without sample i the loss falls along it
// without end unless s_i is 0. Where all s_i are, y is dead and x moves by (x - a_i) / N.
TEST(InfluenceAnalyzer, AlongALinearParameterThereIsNoInverse) {
  ModelBuilder builder("linear");
  const Var x = builder.parameter("x", {});
  const Var y = builder.parameter("y", {});
  const Var a = builder.array("a", {});
  const Var s = builder.array("s", {});
  const Model model = builder.finish(0.5 * square(x - a) + hadamard(s, y));
  SampleTable samples(4, 2);
  samples << 1, 1, 2, -1, 3, 2, 6, -2;
  const Eigen::Vector2d theta(3, 0.5);
  const Analysis linear = influence(GraphObjective(model, samples), theta, 4);
  EXPECT_EQ(linear[0].number("influence", "gradient_in_samples"), 0);
  EXPECT_EQ(linear[0].number("influence", "num_explained"), 0);
  EXPECT_EQ(linear[0].number("influence", "num_zero"), 1);
  EXPECT_EQ(linear[0].status("influence", "self_influence"), Status::kUndefinedSingular);

  samples.col(1).setZero();
  const Analysis dead = influence(GraphObjective(model, samples), theta, 4);
  EXPECT_EQ(dead[0].number("influence", "num_explained"), 1);
  EXPECT_EQ(dead[0].number("influence", "num_zero"), 0);
  const VectorXd expected = (3 - samples.col(0).array()).square() / 4;
  EXPECT_TRUE((dead[0].values("influence", "self_influence") - expected).norm() <= 1e-14);
}

// x y z at 0: what is zero there alone is no part of the explained null space.
TEST(InfluenceAnalyzer, AtASaddleOfThirdOrderThereIsNoInverse) {
  const auto objective = make_objective(
      [](const auto& x, Index /*sample*/) {
        using T = std::decay_t<decltype(x(0))>;
        return T(x(0) * x(1) * x(2));
      },
      3,
      2);
  const Analysis analysis = influence(objective, VectorXd::Zero(3));
  EXPECT_EQ(analysis[0].number("influence", "num_explained"), 0);
  EXPECT_EQ(analysis[0].number("influence", "num_zero"), 3);
  EXPECT_EQ(analysis[0].status("influence", "mean_self_influence"), Status::kUndefinedSingular);
}

// Without its only convex sample a saddle has another index, and no Newton step leads to one like
// it.
TEST(InfluenceAnalyzer, AStepToAPointOfAnotherIndexIsNone) {
  const auto diagonal = [](double a, double b) {
    return MatrixXd(Eigen::Vector2d(a, b).asDiagonal());
  };
  const test::QuadraticObjective objective({diagonal(5, -1), diagonal(-1, -1), diagonal(-1, -1)});
  const Analysis analysis = influence(objective, Eigen::Vector2d::Zero(), 3);
  EXPECT_EQ(analysis[0].number("influence", "num_negative"), 1);
  const VectorXd order = analysis[0].values("influence", "influential_sample");
  const Variable& newton = analysis[0].group("influence")["newton_self_influence"];
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(newton.statuses[k],
              order[static_cast<Index>(k)] == 0 ? Status::kUndefinedOtherInertia : Status::kOk);
  }
}

TEST(InfluenceAnalyzer, AStepByASingularHessianIsNone) {
  const auto diagonal = [](double a, double b) {
    return MatrixXd(Eigen::Vector2d(a, b).asDiagonal());
  };
  const test::QuadraticObjective objective(
      {diagonal(4, 1), diagonal(0, 1), diagonal(0, 1), diagonal(0, 1)});
  const Analysis analysis = influence(objective, Eigen::Vector2d::Zero(), 4);
  const VectorXd order = analysis[0].values("influence", "influential_sample");
  const Variable& newton = analysis[0].group("influence")["newton_self_influence"];
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(newton.statuses[k],
              order[static_cast<Index>(k)] == 0 ? Status::kUndefinedSingular : Status::kOk);
  }
}

TEST(InfluenceAnalyzer, OfOneSampleIsRefused) {
  const GraphObjective objective = test::product_of_two({1});
  test::expect_refusal<ConfigError>([&] { influence(objective, Eigen::Vector2d(1, 1)); },
                                    "there is only one");
}

}  // namespace
}  // namespace hesscope
