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

Analysis conditions_of(const Eigen::VectorXd& diagonal) {
  const test::QuadraticObjective objective({Eigen::MatrixXd(diagonal.asDiagonal())});
  return analyze(objective, {{"here", Eigen::VectorXd::Ones(diagonal.size())}}, {"condition"});
}

// At its minimum (1, 1) the Hessian of Rosenbrock's function is [802, -400; -400, 200]: trace 1002,
// determinant 400, so that lambda_max = 501 + sqrt(501^2 - 400) and lambda_max / lambda_min =
// lambda_max^2 / 400. The lower median of two numbers is the smaller one.
TEST(ConditionAnalyzer, OfRosenbrocksMinimum) {
  const Analysis analysis =
      analyze(test::rosenbrock(), {{"here", Eigen::Vector2d(1, 1)}}, {"condition"});
  const double largest = 501 + std::sqrt(250601.0);
  const double ratio = largest * largest / 400;  // 2508
  // lambda_min = 0.4 is known to the rounding band, 12 eps lambda_max
  const double tolerance = ratio * 12 * 0x1p-52 * ratio;
  EXPECT_NEAR(analysis[0].number("condition", "classical"), ratio, tolerance);
  EXPECT_NEAR(analysis[0].number("condition", "robust_eigenvalue"), ratio, tolerance);
  EXPECT_NEAR(analysis[0].number("condition", "robust_absolute"), ratio, tolerance);
  EXPECT_NEAR(analysis[0].number("condition", "robust_diagonal"), 4.01, 1e-14);
}

// Eigenvalues -2, 1, 4, 8, whose lower median is 1; magnitudes 1, 2, 4, 8, whose lower median is 2.
TEST(ConditionAnalyzer, MedianOfValuesAndOfMagnitudesDiffer) {
  const Analysis analysis = conditions_of(Eigen::Vector4d(1, 4, -2, 8));
  EXPECT_NEAR(analysis[0].number("condition", "robust_diagonal"), 4, 1e-13);
  EXPECT_NEAR(analysis[0].number("condition", "robust_eigenvalue"), 8, 1e-13);
  EXPECT_NEAR(analysis[0].number("condition", "robust_absolute"), 4, 1e-13);
  EXPECT_EQ(analysis[0].status("condition", "classical"), Status::kUndefinedNotPositiveDefinite);
  EXPECT_TRUE(std::isnan(analysis[0].number("condition", "classical")));
}

TEST(ConditionAnalyzer, IsUndefinedWhereTheMedianIsZero) {
  const Analysis analysis = conditions_of(Eigen::Vector3d(0, 5, 0));
  for (const char* name : {"robust_diagonal", "robust_eigenvalue", "robust_absolute"}) {
    EXPECT_EQ(analysis[0].status("condition", name), Status::kUndefinedZeroMedian) << name;
    EXPECT_TRUE(std::isnan(analysis[0].number("condition", name))) << name;
  }
  EXPECT_EQ(analysis[0].status("condition", "classical"), Status::kUndefinedNotPositiveDefinite);
  EXPECT_TRUE(analysis.is_conclusive());  // mathematics leaves them undefined
}

TEST(ConditionAnalyzer, OfWeightsThatAreNaNIsMissing) {
  const Analysis analysis =
      analyze(test::rosenbrock(), {{"here", Eigen::Vector2d(kNaN, kNaN)}}, {"condition"});
  for (const char* name :
       {"robust_diagonal", "robust_eigenvalue", "robust_absolute", "classical"}) {
    EXPECT_EQ(analysis[0].status("condition", name), Status::kNonFinite) << name;
  }
}

}  // namespace
}  // namespace hesscope
