// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <memory>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analyzers/edge.h>
#include <hesscope/core/constants.h>

#include "support/quadratic_objective.h"

namespace hesscope {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

// H = diag(4, 1), and at (1, 4) the gradient is (4, 4).
class EdgeAnalyzerTest : public ::testing::Test {
 protected:
  // At theta, from where the next update leads to `next`.
  Group edge(const VectorXd& theta,
             const OptimizerState& optimizer,
             const VectorXd& next,
             SpectrumMethod method = SpectrumMethod::kDense) const {
    const std::vector<VectorXd> path = {theta, next};
    PointAnalysis point(objective_, theta, {.method = method});
    point.set_optimizer(optimizer);
    point.set_trajectory(std::make_shared<Trajectory>(path), 0);
    return edge_analyzer().create(Settings())->analyze(point);
  }

  const test::QuadraticObjective objective_{{Eigen::MatrixXd(Vector2d(4, 1).asDiagonal())}};
  const VectorXd theta_ = Vector2d(1, 4);
};

OptimizerState sgd_state(double momentum) {
  OptimizerState state{.kind = OptimizerKind::kSgd};
  state.groups = {{.learning_rate = 0.25, .momentum = momentum}};
  state.blocks = {{.group = 0}};
  return state;
}

TEST_F(EdgeAnalyzerTest, OfGradientDescentIsTheSharpnessOverTwoByTheLearningRate) {
  for (const SpectrumMethod method : {SpectrumMethod::kDense, SpectrumMethod::kMatrixFree}) {
    const Group found = edge(theta_, sgd_state(0), theta_ + Vector2d(0, 0.5), method);
    EXPECT_NEAR(found["sharpness"].number(), 4, 1e-14);
    EXPECT_NEAR(found["preconditioned_sharpness"].number(), 4, 1e-14);
    EXPECT_EQ(found["threshold"].number(), 8);
    EXPECT_NEAR(found["ratio"].number(), 0.5, 1e-15);
    EXPECT_NEAR(found["gradient_curvature"].number(), 2.5, 1e-14);  // (4 + 1) / 2
    EXPECT_NEAR(found["update_curvature"].number(), 1, 1e-14);
    EXPECT_LE(found["sharpness_error"].number(), 1e-13);
  }
}

TEST_F(EdgeAnalyzerTest, OfHeavyBallAllowsMore) {
  const Group found = edge(theta_, sgd_state(0.5), theta_ - Vector2d(1, 0));
  EXPECT_EQ(found["threshold"].number(), 12);  // (2 + 2 / 2) / 0.25
  EXPECT_NEAR(found["ratio"].number(), 4.0 / 12, 1e-15);
  EXPECT_NEAR(found["update_curvature"].number(), 4, 1e-14);
}

// P = (1 - beta1^t) (sqrt(v / (1 - beta2^t)) + epsilon) = (1/2) ((1, 8) + 1) after one step with
// beta1 = 1/2, beta2 = 3/4 and v = (1, 64) / 4: H / P = diag(4, 2/9).
TEST_F(EdgeAnalyzerTest, OfAdamIsThatOfThePreconditionedHessian) {
  const OptimizerState adam = adam_state(
      Vector2d(0.25, 16), 1, {.learning_rate = 0.25, .beta1 = 0.5, .beta2 = 0.75, .epsilon = 1});
  for (const SpectrumMethod method : {SpectrumMethod::kDense, SpectrumMethod::kMatrixFree}) {
    const Group found = edge(Vector2d(1, 4), adam, Vector2d(0, 0), method);
    EXPECT_NEAR(found["preconditioned_sharpness"].number(), 4, 1e-13);
    EXPECT_NEAR(found["threshold"].number(), 24, 1e-13);  // (2 + 1) / ((1 - 1/2) 0.25)
    EXPECT_NEAR(found["ratio"].number(), 1.0 / 6, 1e-14);
  }
}

// Only the first of two blocks is trained: P is infinite in the second.
TEST_F(EdgeAnalyzerTest, OfSomeParametersIsThatOfTheirBlock) {
  Eigen::Matrix2d h;
  h << 1, 3, 3, 8;
  const test::QuadraticObjective objective(
      {h}, {}, 0, {{"trained", {1}, 0, 1}, {"frozen", {1}, 1, 1}});
  OptimizerState sgd = sgd_state(0);
  sgd.blocks = {{.group = 0}, {}};
  for (const SpectrumMethod method : {SpectrumMethod::kDense, SpectrumMethod::kMatrixFree}) {
    PointAnalysis point(objective, theta_, {.method = method});
    point.set_optimizer(sgd);
    const Group found = edge_analyzer().create(Settings())->analyze(point);
    EXPECT_NEAR(found["preconditioned_sharpness"].number(), 1, 1e-14);
    EXPECT_NEAR(found["ratio"].number(), 1.0 / 8, 1e-15);
    EXPECT_GT(found["sharpness"].number(), 9);
  }
}

TEST_F(EdgeAnalyzerTest, WithoutAnOptimiserHasNoThreshold) {
  const Group found = edge(theta_, {}, theta_);
  EXPECT_NEAR(found["sharpness"].number(), 4, 1e-14);
  EXPECT_EQ(found["preconditioned_sharpness"].status(), Status::kNotStored);
  EXPECT_EQ(found["threshold"].status(), Status::kNotStored);
  EXPECT_EQ(found["ratio"].status(), Status::kNotStored);
  EXPECT_EQ(found["update_curvature"].status(), Status::kUndefinedZeroDenominator);  // it stays
}

TEST_F(EdgeAnalyzerTest, OfAdamBeforeItsFirstStepIsNotStored) {
  OptimizerState adam = adam_state(VectorXd(), std::nullopt, {.learning_rate = 0.25});
  const Group found = edge(theta_, adam, theta_ + Vector2d(1, 1));
  EXPECT_EQ(found["preconditioned_sharpness"].status(), Status::kNotStored);
  EXPECT_NEAR(found["update_curvature"].number(), 2.5, 1e-14);
}

TEST_F(EdgeAnalyzerTest, AtAMinimumHasNoGradientToLookAlong) {
  const Group found = edge(Vector2d(0, 0), sgd_state(0), Vector2d(0, 0));
  EXPECT_EQ(found["gradient_curvature"].status(), Status::kUndefinedZeroDenominator);
  EXPECT_NEAR(found["ratio"].number(), 0.5, 1e-15);
}

// At (0, 2) the gradients of two samples are (0, 2e15) and (0, -2e15) but for what rounding leaves.
TEST_F(EdgeAnalyzerTest, WhereSamplesCancelHasNoGradientToLookAlong) {
  const test::QuadraticObjective objective({Eigen::MatrixXd(Vector2d(4, 1e15).asDiagonal()),
                                            Eigen::MatrixXd(Vector2d(4, -1e15 + 1).asDiagonal())});
  PointAnalysis point(objective, Vector2d(0, 2), {.method = SpectrumMethod::kDense});
  const Group found = edge_analyzer().create(Settings())->analyze(point);
  EXPECT_EQ(found["gradient_curvature"].status(), Status::kUndefinedZeroDenominator);
}

TEST_F(EdgeAnalyzerTest, OfAnUpdateOfLastBitsHasNoUpdateToLookAlong) {
  for (const double size : {4.5e-16, 9e-16}) {
    const Group found = edge(theta_, sgd_state(0), theta_ + Vector2d(size, 0));
    EXPECT_EQ(found["update_curvature"].status(), Status::kUndefinedZeroDenominator) << size;
  }
  const Group found = edge(theta_, sgd_state(0), theta_ + Vector2d(1e-8, 0));
  EXPECT_NEAR(found["update_curvature"].number(), 4, 1e-13);
}

// As above the gradient is rounding, and with it every multiple; what a momentum adds is not.
TEST_F(EdgeAnalyzerTest, DescentAlongAGradientThatIsRoundingHasNoUpdateToLookAlong) {
  const test::QuadraticObjective objective({Eigen::MatrixXd(Vector2d(4, 1e15).asDiagonal()),
                                            Eigen::MatrixXd(Vector2d(4, -1e15 + 1).asDiagonal())});
  const Vector2d theta(0, 2);
  const auto after = [&](const OptimizerState& optimizer, const Vector2d& update) {
    const std::vector<VectorXd> path = {theta, theta + update};
    PointAnalysis point(objective, theta, {.method = SpectrumMethod::kDense});
    point.set_optimizer(optimizer);
    point.set_trajectory(std::make_shared<Trajectory>(path), 0);
    return edge_analyzer().create(Settings())->analyze(point)["update_curvature"];
  };
  const Vector2d update = -0.25 * objective.gradient(theta);
  ASSERT_GT(update.norm(), 0.01);
  EXPECT_EQ(after(sgd_state(0), update).status(), Status::kUndefinedZeroDenominator);
  EXPECT_EQ(after(sgd_state(0), {1000, 0}).status(), Status::kOk);
  EXPECT_EQ(after(sgd_state(0.5), update).status(), Status::kOk);
  EXPECT_EQ(after({}, update).status(), Status::kOk);
}

TEST_F(EdgeAnalyzerTest, OfWeightsThatAreNaNIsMissing) {
  const Group found = edge(Vector2d(kNaN, 0), sgd_state(0), Vector2d(0, 0));
  for (const Variable& variable : found.variables) {
    EXPECT_EQ(variable.status(), Status::kNonFinite) << variable.name;
    EXPECT_TRUE(std::isnan(variable.number())) << variable.name;
  }
}

}  // namespace
}  // namespace hesscope
