// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/core/constants.h>

#include "support/closed_form_objectives.h"

namespace hesscope {
namespace {

// f = (a b - 2)^2 / 2 at its minimum (2, 1): H = [1, 2; 2, 4] has the eigenvalues 0 and 5, and the
// zero is that of the rescaling (c a, b / c), whose generator u = (2, -1) is a null vector.
TEST(StructureAnalyzer, ExplainsTheZeroOfARescaling) {
  const Analysis analysis =
      analyze(test::product_of_two({2}), {{"here", Eigen::Vector2d(2, 1)}}, {"structure"});
  const auto number = [&](const char* name) { return analysis[0].number("structure", name); };
  EXPECT_EQ(number("num_generators"), 1);
  EXPECT_EQ(number("explained"), 1);
  EXPECT_EQ(number("num_explained"), 1);
  EXPECT_EQ(number("num_unexplained"), 0);
  EXPECT_EQ(number("num_unconfirmed"), 0);
  EXPECT_EQ(number("num_dead"), 0);
  EXPECT_EQ(number("flatness_bound"), 0);  // the gradient is zero
  EXPECT_NEAR(number("median_without_explained"), 5, 1e-14);
  EXPECT_NEAR(number("robust_eigenvalue_without_explained"), 1, 1e-14);
  EXPECT_NEAR(number("robust_absolute_without_explained"), 1, 1e-14);
}

// (a b)^2 / 2 at (1, 1): the gradient is (1, 1), H = [1, 2; 2, 1] has no zero, and the generator's
// B^T g = (1, -1) is as long as u = (1, -1).
TEST(StructureAnalyzer, ExplainsNothingWhereTheGradientIsLarge) {
  const Analysis analysis =
      analyze(test::product_of_two({0}), {{"here", Eigen::Vector2d(1, 1)}}, {"structure"});
  EXPECT_EQ(analysis[0].number("structure", "num_explained"), 0);
  EXPECT_EQ(analysis[0].number("structure", "explained"), 0);
  EXPECT_NEAR(analysis[0].number("structure", "flatness_bound"), 1, 1e-15);
  EXPECT_NEAR(analysis[0].number("structure", "median_without_explained"), -1, 1e-14);
  EXPECT_NEAR(analysis[0].number("structure", "robust_eigenvalue_without_explained"), -3, 1e-13);
  EXPECT_NEAR(analysis[0].number("structure", "robust_absolute_without_explained"), 3, 1e-13);
}

TEST(StructureAnalyzer, CountsDeadParameters) {
  const test::QuadraticObjective objective(
      {Eigen::MatrixXd(Eigen::Vector3d(0, 2, 0).asDiagonal())});
  const Analysis analysis = analyze(objective, {{"here", Eigen::Vector3d::Ones()}}, {"structure"});
  EXPECT_EQ(analysis[0].values("structure", "dead"), Eigen::Vector3d(1, 0, 1));
  EXPECT_EQ(analysis[0].number("structure", "num_dead"), 2);
  EXPECT_EQ(analysis[0].number("structure", "num_explained"), 2);
  EXPECT_EQ(analysis[0].number("structure", "num_unexplained"), 0);
  EXPECT_EQ(analysis[0].number("structure", "num_generators"), 0);  // of no family
  EXPECT_EQ(analysis[0].number("structure", "median_without_explained"), 2);
}

// Where the loss is linear each zero is explained, and no eigenvalue is left to take a median of.
TEST(StructureAnalyzer, HasNoMediansWhereEveryEigenvalueIsExplained) {
  const test::QuadraticObjective objective({Eigen::MatrixXd::Zero(2, 2)}, Eigen::Vector2d(1, 2));
  for (const SpectrumMethod method : {SpectrumMethod::kDense, SpectrumMethod::kIterative}) {
    const Analysis analysis =
        analyze(objective, {{"here", Eigen::Vector2d::Ones()}}, {"structure"}, {.method = method});
    EXPECT_EQ(analysis[0].number("structure", "num_explained"), 2);
    for (const char* name : {"median_without_explained",
                             "median_magnitude_without_explained",
                             "robust_eigenvalue_without_explained",
                             "robust_absolute_without_explained"}) {
      EXPECT_EQ(analysis[0].status("structure", name), Status::kUndefinedTooFewPoints) << name;
    }
  }
}

// [1, -1; -1, 1] has a zero that no known invariance explains.
TEST(StructureAnalyzer, LeavesAZeroThatNothingExplains) {
  Eigen::Matrix2d h;
  h << 1, -1, -1, 1;
  const test::QuadraticObjective objective({h});
  const Analysis analysis = analyze(objective, {{"here", Eigen::Vector2d(1, 2)}}, {"structure"});
  EXPECT_EQ(analysis[0].number("structure", "num_explained"), 0);
  EXPECT_EQ(analysis[0].number("structure", "num_unexplained"), 1);
  EXPECT_EQ(analysis[0].status("structure", "robust_eigenvalue_without_explained"),
            Status::kUndefinedZeroMedian);
}

TEST(StructureAnalyzer, OfAPlaneHasNoMedianLeft) {
  const test::QuadraticObjective plane({Eigen::MatrixXd::Zero(2, 2)}, Eigen::Vector2d(1, 2));
  const Analysis analysis = analyze(plane, {{"here", Eigen::Vector2d::Ones()}}, {"structure"});
  EXPECT_EQ(analysis[0].number("structure", "num_explained"), 2);
  EXPECT_NE(analysis[0].status("structure", "median_without_explained"), Status::kOk);
  EXPECT_TRUE(std::isnan(analysis[0].number("structure", "median_without_explained")));
}

TEST(StructureAnalyzer, OfWeightsThatAreNaNIsMissing) {
  const Analysis analysis =
      analyze(test::product_of_two({2}), {{"here", Eigen::Vector2d(kNaN, 1)}}, {"structure"});
  for (const char* name : {"num_dead", "num_explained", "dead", "median_without_explained"}) {
    EXPECT_EQ(analysis[0].status("structure", name), Status::kNonFinite) << name;
  }
}

}  // namespace
}  // namespace hesscope
