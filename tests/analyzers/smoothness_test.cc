// SPDX-License-Identifier: BSD-3-Clause
//
// On a quadratic, whose curvature is the same everywhere and known.
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/analyzers/pseudo_updates.h>
#include <hesscope/analyzers/trajectory.h>

#include "support/closed_form_objectives.h"
#include "support/quadratic_objective.h"

namespace hesscope {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

class SmoothnessOfAQuadratic : public testing::Test {
 protected:
  // The record at the first of these points.
  Group analyze(const std::vector<VectorXd>& points, const VectorXd& curvatures) const {
    const test::QuadraticObjective objective({Eigen::MatrixXd(curvatures.asDiagonal())});
    const AnalyzerKind& entry = find_analyzer_kind("smoothness");
    const auto analyzer = entry.create(Settings::checked({}, entry.options, "a test"));
    PointAnalysis point(objective, points.front());
    point.set_trajectory(std::make_shared<Trajectory>(points), 0);
    return analyzer->analyze(point);
  }

  static const Variable& real(const Group& record, const std::string& name) { return record[name]; }

  static double number(const Group& record, const std::string& name) {
    EXPECT_EQ(real(record, name).status(), Status::kOk) << name;
    return real(record, name).reals().at(0);
  }
};

TEST_F(SmoothnessOfAQuadratic, CountsNegativeCurvature) {
  // g = (-5, 2, 6); along it -5 * 25 + 4 + 2 * 36 < 0.
  const Group record = analyze({Vector3d(1, 2, 3)}, Vector3d(-5, 1, 2));
  EXPECT_NEAR(number(record, "spectral_norm"), 5, 1e-14);
  EXPECT_NEAR(number(record, "directional_sharpness"), -49.0 / 65, 1e-14);
  const std::vector<double>& relative = real(record, "directional_sharpness_relative").reals();
  EXPECT_NEAR(relative[0], -1, 1e-15);                        // gradient descent itself
  EXPECT_NEAR(relative[4], (-2.0 / 3) / (49.0 / 65), 1e-14);  // signs: (-5 + 1 + 2) / 3
}

TEST_F(SmoothnessOfAQuadratic, HasTheWholeStepInTwoParts) {
  const Vector3d a(-5, 1, 2);
  const Vector3d x(1, 2, 3);
  const Vector3d s(0.5, -1, 0.25);
  const Group record = analyze({x, x + s}, a);
  const double curvature = s.dot(a.cwiseProduct(s));
  EXPECT_NEAR(number(record, "step_first_order"), a.cwiseProduct(x).dot(s), 1e-14);
  EXPECT_NEAR(number(record, "step_curvature"), curvature / 2, 1e-14);
  EXPECT_NEAR(number(record, "step_loss_change"),
              number(record, "step_first_order") + number(record, "step_curvature"),
              1e-14);
  EXPECT_NEAR(number(record, "directional_smoothness"), curvature / s.squaredNorm(), 1e-14);
  EXPECT_NEAR(number(record, "secant_smoothness"), a.cwiseProduct(s).norm() / s.norm(), 1e-14);
}

TEST_F(SmoothnessOfAQuadratic, HasNoUpdatesWhereThereIsNoGradient) {
  const Group record = analyze({Vector3d::Zero(), Vector3d(1, 0, 0)}, Vector3d(1, 2, 3));
  for (const std::string name :
       {"directional_sharpness", "directional_sharpness_relative", "directional_slope"}) {
    EXPECT_EQ(real(record, name).status(), Status::kUndefinedZeroDenominator) << name;
  }
  EXPECT_EQ(number(record, "gradient_norm"), 0);
  EXPECT_NEAR(number(record, "directional_smoothness"), 1, 1e-15);
}

// At (0, 2) the gradients of two samples are (0, 2e15) and (0, -2e15) up to rounding; rules with a
// memory continue with the gradient of (1, 0).
TEST_F(SmoothnessOfAQuadratic, HasOnlyRememberedUpdatesWhereTheGradientIsRounding) {
  using Eigen::Vector2d;
  const test::QuadraticObjective objective({Eigen::MatrixXd(Vector2d(4, 1e15).asDiagonal()),
                                            Eigen::MatrixXd(Vector2d(4, -1e15 + 1).asDiagonal())});
  const AnalyzerKind& entry = find_analyzer_kind("smoothness");
  const auto analyzer = entry.create(Settings::checked({}, entry.options, "a test"));
  const std::vector<VectorXd> points = {Vector2d(1, 0), Vector2d(0, 2)};
  const auto at = [&](std::size_t first, std::size_t index) {
    PointAnalysis point(objective, points[first + index], {.method = SpectrumMethod::kDense});
    const auto path = std::span(points).subspan(first);
    point.set_trajectory(std::make_shared<Trajectory>(path), index);
    return analyzer->analyze(point);
  };
  for (const std::string name : {"directional_sharpness", "directional_slope"}) {
    const std::vector<double> alone = real(at(1, 0), name).reals();
    const std::vector<double> after = real(at(0, 1), name).reals();
    for (std::size_t r = 0; r < alone.size(); ++r) {
      EXPECT_TRUE(std::isnan(alone[r])) << name << " " << r;
      EXPECT_EQ(std::isnan(after[r]), r == 0 || r == 4) << name << " " << r;
    }
  }
  EXPECT_EQ(real(at(0, 1), "directional_sharpness_relative").status(),
            Status::kUndefinedZeroDenominator);
}

// The second derivatives of three samples cancel: at (1, 1) the gradient is (1, 9e-18), whose
// second sign says nothing.
TEST_F(SmoothnessOfAQuadratic, SignsOfRoundingDoNotCount) {
  using Eigen::Vector2d;
  const test::QuadraticObjective objective({Eigen::MatrixXd(Vector2d(1, 0.1).asDiagonal()),
                                            Eigen::MatrixXd(Vector2d(1, 0.2).asDiagonal()),
                                            Eigen::MatrixXd(Vector2d(1, -0.3).asDiagonal())});
  ASSERT_NE(objective.gradient(Vector2d(1, 1))[1], 0);
  const AnalyzerKind& entry = find_analyzer_kind("smoothness");
  const auto analyzer = entry.create(Settings::checked({}, entry.options, "a test"));
  const std::vector<VectorXd> points(2, Vector2d(1, 1));
  const auto path = std::make_shared<Trajectory>(points);
  for (std::size_t k = 0; k < points.size(); ++k) {
    PointAnalysis point(objective, points[k]);
    point.set_trajectory(path, k);
    const std::vector<double> sharpness =
        real(analyzer->analyze(point), "directional_sharpness").reals();
    EXPECT_EQ(sharpness[3], 1) << k;  // Lion
    EXPECT_EQ(sharpness[4], 1) << k;  // sign descent
  }
}

// (a b - 2)^2 / 2 at points with a b = 2, where what is left of the gradient is rounding.
TEST_F(SmoothnessOfAQuadratic, OfGradientsThatAreRoundingHasNoLine) {
  const GraphObjective objective = test::product_of_two({2});
  const AnalyzerKind& entry = find_analyzer_kind("smoothness");
  const auto analyzer = entry.create(Settings::checked({}, entry.options, "a test"));
  std::vector<VectorXd> points;
  for (int k = 1; k <= 49; ++k) points.push_back(Eigen::Vector2d(0.37 * k, 2 / (0.37 * k)));
  const auto path = std::make_shared<Trajectory>(points);
  std::vector<Group> answers;
  double largest = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    PointAnalysis point(objective, points[k]);
    point.set_trajectory(path, k);
    largest = std::max(largest, point.gradient().norm());
    answers.push_back(analyzer->analyze(point));
  }
  EXPECT_GT(largest, 0);
  const Group run = analyzer->summarize(answers, 0);
  for (const std::string name : {"L0", "L1", "L1_lower", "L1_coordinate"}) {
    EXPECT_EQ(run[name].status(), Status::kUndefinedZeroDenominator) << name;
  }
  EXPECT_EQ(number(run, "L1_envelope"), 0);
}

// (a b - 2)^2 / 2 again: what is left of these gradients gives no rule a direction, with or without
// a memory.
TEST_F(SmoothnessOfAQuadratic, GradientsThatAreRoundingAreNotRemembered) {
  const GraphObjective objective = test::product_of_two({2});
  const AnalyzerKind& entry = find_analyzer_kind("smoothness");
  const auto analyzer = entry.create(Settings::checked({}, entry.options, "a test"));
  std::vector<VectorXd> points;
  for (int k = 1; k <= 49; ++k) points.push_back(Eigen::Vector2d(0.37 * k, 2 / (0.37 * k)));
  for (const SpectrumMethod method : {SpectrumMethod::kDense, SpectrumMethod::kMatrixFree}) {
    const auto path = std::make_shared<Trajectory>(points);
    for (std::size_t k = 0; k < points.size(); ++k) {
      PointAnalysis point(objective, points[k], {.method = method});
      point.set_trajectory(path, k);
      const std::vector<double> slope = real(analyzer->analyze(point), "directional_slope").reals();
      for (std::size_t r = 0; r < slope.size(); ++r) {
        EXPECT_TRUE(std::isnan(slope[r])) << k << " " << kPseudoRuleNames[r] << " " << slope[r];
      }
    }
  }
}

// At its first point, such a trajectory does not show the gradients that rules remember.
TEST_F(SmoothnessOfAQuadratic, HasNoRememberedUpdatesWhereThePastIsNotKnown) {
  const test::QuadraticObjective objective({Eigen::MatrixXd(Vector3d(1, 2, 3).asDiagonal())});
  const AnalyzerKind& entry = find_analyzer_kind("smoothness");
  const auto analyzer = entry.create(Settings::checked({}, entry.options, "a test"));
  const std::vector<VectorXd> points = {Vector3d(1, 2, 3), Vector3d(1, 1, 1)};
  const auto record = [&](KnownOfRun known) {
    PointAnalysis point(objective, points[0]);
    point.set_trajectory(std::make_shared<Trajectory>(points, known), 0);
    return analyzer->analyze(point);
  };
  const Group whole = record(KnownOfRun::kAll);
  const Group rest = record(KnownOfRun::kFromHere);
  for (const std::string name :
       {"directional_sharpness", "directional_sharpness_relative", "directional_slope"}) {
    EXPECT_EQ(whole[name].status(), Status::kOk) << name;
    EXPECT_EQ(rest[name].status(), Status::kNotComputed) << name;
    for (const std::size_t r : {0, 4}) {
      EXPECT_EQ(rest[name].reals()[r], whole[name].reals()[r]) << name << " " << r;
    }
    for (const std::size_t r : {1, 2, 3}) {
      EXPECT_TRUE(std::isnan(rest[name].reals()[r])) << name << " " << r;
    }
  }
  EXPECT_EQ(rest["step_norm"].reals(), whole["step_norm"].reals());  // what follows is known
}

TEST_F(SmoothnessOfAQuadratic, HasNoRatioToACurvatureOfZero) {
  const Group record = analyze({Vector3d(1, 0, 1)}, Vector3d(-1, 3, 1));  // g^T A g = -1 + 1
  EXPECT_NEAR(number(record, "directional_sharpness"), 0, 1e-15);
  EXPECT_EQ(real(record, "directional_sharpness_relative").status(),
            Status::kUndefinedZeroDenominator);
}

// A step of some last bits has no points between its ends, and no direction.
TEST_F(SmoothnessOfAQuadratic, OfAStepThatIsRoundingHasNoSlopeOfTheGradient) {
  const Vector3d x(1, 2, 3);
  for (const double size : {2e-16, 4e-16, 1e-15}) {
    const Group record = analyze({x, x + Vector3d(size, 0, 0)}, Vector3d(-5, 1, 2));
    for (const char* name : {"secant_smoothness", "directional_smoothness"}) {
      EXPECT_EQ(real(record, name).status(), Status::kUndefinedZeroDenominator) << name;
    }
    EXPECT_GT(number(record, "step_norm"), 0);
    EXPECT_LT(number(record, "step_curvature"), 0);
  }
  const Group record = analyze({x, x + Vector3d(1e-8, 0, 0)}, Vector3d(-5, 1, 2));
  EXPECT_NEAR(number(record, "directional_smoothness"), -5, 1e-14);
  EXPECT_NEAR(number(record, "secant_smoothness"), 5, 1e-6);
}

// The second parameter's gradient is rounding compared with the first's: no line is fitted over it.
TEST_F(SmoothnessOfAQuadratic, OfACoordinateThatIsRoundingHasNoLine) {
  const test::QuadraticObjective objective({Eigen::MatrixXd(Eigen::Vector2d(3, 1).asDiagonal())});
  const AnalyzerKind& entry = find_analyzer_kind("smoothness");
  const auto analyzer = entry.create(Settings::checked({}, entry.options, "a test"));
  std::vector<VectorXd> points;
  for (int k = 1; k <= 5; ++k) points.push_back(Eigen::Vector2d(k, 1e-17 * k));
  const auto path = std::make_shared<Trajectory>(points);
  std::vector<Group> answers;
  for (std::size_t k = 0; k < points.size(); ++k) {
    PointAnalysis point(objective, points[k]);
    point.set_trajectory(path, k);
    answers.push_back(analyzer->analyze(point));
  }
  const Group run = analyzer->summarize(answers, 0);
  for (const std::string name : {"L0_coordinate", "L1_coordinate"}) {
    EXPECT_TRUE(std::isfinite(run[name].reals()[0])) << name;
    EXPECT_TRUE(std::isnan(run[name].reals()[1])) << name;
  }
}

}  // namespace
}  // namespace hesscope
