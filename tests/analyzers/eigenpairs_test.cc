// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/core/constants.h>

#include "support/closed_form_objectives.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

TEST(EigenpairsAnalyzer, SaysWhereTheyLive) {
  // H = diag(5, 1, -2), and the gradient b = (3, 0, 4) at 0: 9 / 25 of its square lies along the
  // first unit vector, 16 / 25 along the last.
  const test::QuadraticObjective objective(
      {Eigen::MatrixXd(Eigen::Vector3d(5, 1, -2).asDiagonal())},
      Eigen::Vector3d(3, 0, 4),
      0,
      {{"p", {2}, 0, 2}, {"q", {1}, 2, 1}});
  const Analysis analysis =
      analyze(objective, {{"here", Eigen::Vector3d::Zero()}}, {}, {.options = {{"eigenpairs", 1}}});
  const auto expect = [&](const char* name, const Eigen::VectorXd& expected) {
    const Eigen::VectorXd found = analysis[0].values("eigenpairs", name);
    ASSERT_EQ(found.size(), expected.size()) << name;
    EXPECT_TRUE(test::largest_difference(found, expected) <= 1e-10) << name << "\n" << found;
  };
  const auto one = [](double x) { return Eigen::VectorXd::Constant(1, x); };
  expect("eigenvalues_largest", one(5));
  expect("eigenvalues_smallest", one(-2));
  expect("eigenvectors_largest", Eigen::Vector3d(1, 0, 0));
  expect("eigenvectors_smallest", Eigen::Vector3d(0, 0, 1));
  expect("participation_largest", one(1));
  expect("participation_smallest", one(1));
  expect("block_weight_largest", Eigen::Vector2d(1, 0));
  expect("block_weight_smallest", Eigen::Vector2d(0, 1));
  expect("gradient_fraction_largest", one(9.0 / 25));
  expect("gradient_fraction_smallest", one(16.0 / 25));
  expect("residuals_largest", one(0));
}

// f = (a b - 2)^2 / 2 and its minima: at (sqrt 2, sqrt 2) H = 2 [1, 1; 1, 1], whose eigenvector of
// 4 is (1, 1) / sqrt 2; at (1, 2) H = [4, 2; 2, 1], whose eigenvector of 5 is (2, 1) / sqrt 5.
// Their product is 3 / sqrt 10.
TEST(EigenpairsAnalyzer, SaysHowFarTheyTurn) {
  const GraphObjective objective = test::product_of_two({2});
  const double root = std::sqrt(2.0);
  const Analysis analysis =
      analyze(objective,
              {{"even", Eigen::Vector2d(root, root), 0}, {"skew", Eigen::Vector2d(1, 2), 1}},
              {},
              {.options = {{"eigenpairs", 1}}});
  EXPECT_NEAR(analysis["even"].number("eigenpairs", "participation_largest"), 0.5, 1e-10);
  EXPECT_NEAR(analysis["skew"].number("eigenpairs", "participation_largest"), 17.0 / 25, 1e-10);
  EXPECT_NEAR(analysis["skew"].number("eigenpairs", "overlap_largest"), 0.9, 1e-10);
  EXPECT_NEAR(analysis["skew"].number("eigenpairs", "overlap_smallest"), 0.9, 1e-10);
  EXPECT_NE(analysis["even"].status("eigenpairs", "overlap_largest"), Status::kOk);
  EXPECT_TRUE(std::isnan(analysis["even"].number("eigenpairs", "overlap_largest")));
}

// H = diag(5, 3, 3, 3, -2): of one eigenvector of 3 among three nothing is said, of all three what
// they have together is.
TEST(EigenpairsAnalyzer, OfPartOfACoincidingSetAreMissing) {
  Eigen::VectorXd diagonal(5);
  diagonal << 5, 3, 3, 3, -2;
  const test::QuadraticObjective objective({Eigen::MatrixXd(diagonal.asDiagonal())},
                                           Eigen::VectorXd::Ones(5));
  const auto analysis_of = [&](std::int64_t count) {
    return analyze(
        objective,
        {{"first", Eigen::VectorXd::Zero(5), 0}, {"second", Eigen::VectorXd::Zero(5), 1}},
        {},
        {.options = {{"eigenpairs", count}}});
  };
  const auto at = [](const Analysis& analysis, const char* name, Eigen::Index k) {
    return analysis["second"].values("eigenpairs", name)[k];
  };
  const Analysis cut = analysis_of(2);
  EXPECT_NEAR(at(cut, "eigenvalues_largest", 1), 3, 1e-12);
  for (const char* name : {"participation_largest", "gradient_fraction_largest"}) {
    EXPECT_NEAR(at(cut, name, 0), name[0] == 'p' ? 1 : 0.2, 1e-12) << name;
    EXPECT_TRUE(std::isnan(at(cut, name, 1))) << name;
  }
  EXPECT_TRUE(std::isnan(at(cut, "overlap_largest", 0)));
  EXPECT_EQ(cut["second"].status("eigenpairs", "overlap_largest"), Status::kNotComputed);
  const Analysis whole = analysis_of(4);
  EXPECT_NEAR(at(whole, "gradient_fraction_largest", 3), 0.8, 1e-12);
  EXPECT_NEAR(at(whole, "overlap_largest", 3), 1, 1e-12);
}

TEST(EigenpairsAnalyzer, OfAMinimumHaveNoFractionOfTheGradient) {
  const Analysis analysis = analyze(
      test::rosenbrock(), {{"here", Eigen::Vector2d(1, 1)}}, {}, {.options = {{"eigenpairs", 2}}});
  for (const char* name : {"gradient_fraction_largest", "gradient_fraction_smallest"}) {
    EXPECT_EQ(analysis[0].status("eigenpairs", name), Status::kUndefinedZeroDenominator) << name;
  }
  EXPECT_EQ(analysis[0].status("eigenpairs", "eigenvalues_largest"), Status::kOk);
}

// The gradients of two samples at (0, 2), (0, 2e15) and (0, -2e15 + 2), cancel but for a unit that
// rounding may as well leave.
TEST(EigenpairsAnalyzer, OfAGradientThatIsRoundingHaveNoFraction) {
  const test::QuadraticObjective objective(
      {Eigen::MatrixXd(Eigen::Vector2d(4, 1e15).asDiagonal()),
       Eigen::MatrixXd(Eigen::Vector2d(4, -1e15 + 1).asDiagonal())});
  const Analysis analysis =
      analyze(objective, {{"here", Eigen::Vector2d(0, 2)}}, {}, {.options = {{"eigenpairs", 1}}});
  EXPECT_GT(analysis[0].gradient_norm(), 0);
  EXPECT_EQ(analysis[0].status("eigenpairs", "gradient_fraction_largest"),
            Status::kUndefinedZeroDenominator);
}

// What the checkpoint before lacks is missing for its reason.
TEST(EigenpairsAnalyzer, AfterWeightsThatAreNaNHaveNoOverlap) {
  const Analysis analysis =
      analyze(test::rosenbrock(),
              {{"before", Eigen::Vector2d(1, kNaN), 0}, {"here", Eigen::Vector2d(1, 2), 1}},
              {},
              {.options = {{"eigenpairs", 1}, {"tracking", 1}}});
  EXPECT_EQ(analysis[1].status("eigenpairs", "overlap_largest"), Status::kNonFinite);
  EXPECT_EQ(analysis[1].status("tracking", "overlap_largest"), Status::kNonFinite);
}

TEST(EigenpairsAnalyzer, OfWeightsThatAreNaNAreMissing) {
  const Analysis analysis = analyze(test::rosenbrock(),
                                    {{"here", Eigen::Vector2d(1, kNaN)}},
                                    {},
                                    {.options = {{"eigenpairs", 1}}});
  for (const char* name : {"eigenvalues_largest", "eigenvectors_smallest", "overlap_largest"}) {
    EXPECT_EQ(analysis[0].status("eigenpairs", name), Status::kNonFinite) << name;
  }
}

}  // namespace
}  // namespace hesscope
