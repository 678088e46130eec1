// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/core/constants.h>

#include "support/closed_form_objectives.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

// Two tensors of two and one parameters. The block [2, 1; 1, 2] of the first has the eigenvalues 1
// and 3; the other block is 10; between them stand 3 and 4, of norm 5. At 0 the gradient is b.
class BlocksAnalyzerTest : public ::testing::Test {
 protected:
  static Eigen::Matrix3d matrix() {
    Eigen::Matrix3d h;
    h << 2, 1, 3, 1, 2, 4, 3, 4, 10;
    return h;
  }

  Analysis blocks(const AnalyzeOptions& options = {}) const {
    return analyze(objective_, {{"here", Eigen::Vector3d::Zero()}}, {"blocks"}, options);
  }

  const test::QuadraticObjective objective_{
      {matrix()}, Eigen::Vector3d(3, 4, -12), 0, {{"p", {2}, 0, 2}, {"q", {1}, 2, 1}}};
};

TEST_F(BlocksAnalyzerTest, DescribesEachBlock) {
  const Analysis analysis = blocks();
  const auto expect = [&](const char* name, const Eigen::VectorXd& expected) {
    const Eigen::VectorXd found = analysis[0].values("blocks", name);
    ASSERT_EQ(found.size(), expected.size()) << name;
    EXPECT_TRUE(test::largest_difference(found, expected) <= 1e-14) << name << "\n" << found;
  };
  expect("lambda_min", Eigen::Vector2d(1, 10));
  expect("lambda_median", Eigen::Vector2d(1, 10));  // of rank 0 in both
  expect("lambda_max", Eigen::Vector2d(3, 10));
  expect("trace", Eigen::Vector2d(4, 10));
  expect("gradient_norm", Eigen::Vector2d(5, 12));
  expect("frobenius_norm", Eigen::Vector4d(std::sqrt(10.0), 5, 5, 10));
  const Eigen::VectorXd eigenvalues = analysis[0].values("blocks", "eigenvalues");
  ASSERT_EQ(eigenvalues.size(), 4);
  EXPECT_TRUE((eigenvalues.head(3) - Eigen::Vector3d(1, 3, 10)).norm() <= 1e-14);
  EXPECT_TRUE(std::isnan(eigenvalues[3]));  // the second block has one
}

TEST_F(BlocksAnalyzerTest, ATensorWithoutEntriesHasNoNumbers) {
  const test::QuadraticObjective objective(
      {matrix()},
      Eigen::Vector3d(3, 4, -12),
      0,
      {{"p", {2}, 0, 2}, {"none", {0, 3}, 2, 0}, {"q", {1}, 2, 1}});
  const std::vector<NamedPoint> here = {{"here", Eigen::Vector3d::Zero()}};
  const Analysis without = blocks();
  const Analysis analysis = analyze(objective, here, {"blocks"});
  const auto expect_alike = [&](const Analysis& found, const char* name) {
    const Eigen::VectorXd numbers = found[0].values("blocks", name);
    ASSERT_EQ(numbers.size(), 3) << name;
    EXPECT_TRUE(std::isnan(numbers[1])) << name;
    EXPECT_EQ(numbers[0], without[0].values("blocks", name)[0]) << name;
    EXPECT_EQ(numbers[2], without[0].values("blocks", name)[1]) << name;
  };
  for (const char* name : {"lambda_min", "lambda_median", "lambda_max"}) {
    expect_alike(analysis, name);
  }
  EXPECT_EQ(analysis[0].number("blocks", "mean_js_distance"),
            without[0].number("blocks", "mean_js_distance"));
  const Analysis of_ends =
      analyze(objective, here, {"blocks"}, {.method = SpectrumMethod::kMatrixFree});
  EXPECT_TRUE(std::isnan(of_ends[0].values("blocks", "lambda_min")[1]));
  EXPECT_NEAR(of_ends[0].values("blocks", "lambda_min")[0], 1, 1e-12);
}

// Two blocks that are rounding compared with the third are both zero, whatever their rounding is.
TEST_F(BlocksAnalyzerTest, BlocksThatAreRoundingOfTheWholeAreAlike) {
  const test::QuadraticObjective objective(
      {Eigen::MatrixXd(Eigen::Vector3d(1e-17, -3e-16, 10).asDiagonal())},
      Eigen::Vector3d(1, 2, 3),
      0,
      {{"a", {1}, 0, 1}, {"b", {1}, 1, 1}, {"c", {1}, 2, 1}});
  const Analysis analysis = analyze(objective, {{"here", Eigen::Vector3d::Zero()}}, {"blocks"});
  for (const char* name : {"js_distance", "js_distance_decades"}) {
    const Eigen::VectorXd distances = analysis[0].values("blocks", name);
    EXPECT_EQ(distances[1], 0) << name;
    EXPECT_NEAR(distances[2], std::sqrt(std::numbers::ln2), 1e-14) << name;
    EXPECT_NEAR(distances[5], std::sqrt(std::numbers::ln2), 1e-14) << name;
  }
}

// Smoothed by 1 % of 9, {1, 3} and {10} do not overlap: the divergence is log 2, the largest.
TEST_F(BlocksAnalyzerTest, DistanceOfSpectraThatDoNotOverlapIsTheLargest) {
  const double largest = std::sqrt(std::numbers::ln2);
  const Analysis analysis = blocks();
  const Eigen::VectorXd distances = analysis[0].values("blocks", "js_distance");
  ASSERT_EQ(distances.size(), 4);
  EXPECT_EQ(distances[0], 0);
  EXPECT_NEAR(distances[1], largest, 1e-12);
  EXPECT_EQ(distances[2], distances[1]);
  EXPECT_EQ(distances[3], 0);
  EXPECT_NEAR(analysis[0].number("blocks", "mean_js_distance"), largest, 1e-12);
}

// The classes of the first are (+, 0) and (+, 1), 10 being the largest; of the second (+, 0) alone.
TEST(BlocksAnalyzer, ByDecadesIsTheClosedForm) {
  const test::QuadraticObjective objective({Eigen::Vector3d(8, 0.5, 10).asDiagonal()},
                                           Eigen::Vector3d::Zero(),
                                           0,
                                           {{"p", {2}, 0, 2}, {"q", {1}, 2, 1}});
  const Analysis analysis = analyze(objective, {{"here", Eigen::Vector3d::Zero()}}, {"blocks"});
  const double expected = std::sqrt(0.75 * std::log(4.0 / 3));
  const Eigen::VectorXd distances = analysis[0].values("blocks", "js_distance_decades");
  ASSERT_EQ(distances.size(), 4);
  EXPECT_EQ(distances[0], 0);
  EXPECT_NEAR(distances[1], expected, 1e-14);
  EXPECT_EQ(distances[2], distances[1]);
  EXPECT_EQ(distances[3], 0);
  EXPECT_NEAR(analysis[0].number("blocks", "mean_js_distance_decades"), expected, 1e-14);
}

// Kernels that are much wider than the spectra see one spectrum.
TEST_F(BlocksAnalyzerTest, WideKernelsBlurTheDistance) {
  const Analysis analysis = blocks({.options = {{"js-sigma", 1e4}}});
  EXPECT_TRUE(analysis[0].number("blocks", "mean_js_distance") <= 1e-3);
}

TEST_F(BlocksAnalyzerTest, WithoutAMatrixHasTheEndsOfEachBlock) {
  const Analysis analysis = blocks({.method = SpectrumMethod::kMatrixFree});
  EXPECT_TRUE((analysis[0].values("blocks", "lambda_min") - Eigen::Vector2d(1, 10)).norm() <=
              1e-12);
  EXPECT_TRUE((analysis[0].values("blocks", "lambda_max") - Eigen::Vector2d(3, 10)).norm() <=
              1e-12);
  EXPECT_EQ(analysis[0].status("blocks", "frobenius_norm"), Status::kNotComputed);
}

TEST(BlocksAnalyzer, OfOneTensorHasNoDistance) {
  const test::QuadraticObjective objective({Eigen::MatrixXd(Eigen::Matrix2d::Identity())});
  const Analysis analysis = analyze(objective, {{"here", Eigen::Vector2d::Zero()}}, {"blocks"});
  EXPECT_EQ(analysis[0].status("blocks", "mean_js_distance"), Status::kUndefinedZeroDenominator);
  EXPECT_TRUE(std::isnan(analysis[0].number("blocks", "mean_js_distance")));
  EXPECT_EQ(analysis[0].status("blocks", "mean_js_distance_decades"),
            Status::kUndefinedZeroDenominator);
}

TEST(BlocksAnalyzer, OfWeightsThatAreNaNIsMissing) {
  const Analysis analysis =
      analyze(test::rosenbrock(), {{"here", Eigen::Vector2d(kNaN, 0)}}, {"blocks"});
  for (const char* name : {"eigenvalues",
                           "frobenius_norm",
                           "gradient_norm",
                           "mean_js_distance",
                           "mean_js_distance_decades"}) {
    EXPECT_EQ(analysis[0].status("blocks", name), Status::kNonFinite) << name;
  }
}

}  // namespace
}  // namespace hesscope
