// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/core/constants.h>

#include "support/closed_form_objectives.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

// Q = I - 1 1^T / 2 is a reflection of four coordinates, all of whose entries are +-1/2: Q D Q has
// the eigenvalues of D, and no rounding.
Eigen::Matrix4d reflected(const Eigen::Vector4d& eigenvalues) {
  const Eigen::Matrix4d q = Eigen::Matrix4d::Identity() - 0.5 * Eigen::Matrix4d::Ones();
  return q * eigenvalues.asDiagonal() * q;
}

constexpr double kBand = 14 * 0x1p-52 * 8;  // (n + 10) eps max |lambda|

class SpectrumAnalyzerByMethod : public ::testing::TestWithParam<SpectrumMethod> {
 protected:
  const test::QuadraticObjective objective_{{reflected({8, -3, 0, 1})}};
  const Analysis analysis_ = analyze(
      objective_, {{"here", Eigen::Vector4d::Ones()}}, {"spectrum"}, {.method = GetParam()});
};

TEST_P(SpectrumAnalyzerByMethod, FindsEigenvaluesOfKnownRank) {
  EXPECT_NEAR(analysis_[0].number("spectrum", "lambda_min"), -3, kBand);
  EXPECT_NEAR(analysis_[0].number("spectrum", "lambda_max"), 8, kBand);
  EXPECT_TRUE(analysis_[0].number("spectrum", "residual_min") <= kBand);
  EXPECT_TRUE(analysis_[0].number("spectrum", "residual_max") <= kBand);
  EXPECT_NEAR(analysis_[0].number("spectrum", "rounding_band"), kBand, 1e-6 * kBand);
  if (GetParam() == SpectrumMethod::kMatrixFree) {
    for (const char* name : {"lambda_median", "num_negative", "num_zero", "num_dead"}) {
      EXPECT_EQ(analysis_[0].status("spectrum", name), Status::kNotComputed) << name;
    }
    return;
  }
  EXPECT_NEAR(analysis_[0].number("spectrum", "lambda_median"), 0, kBand);  // of rank 1 of 0..3
  EXPECT_EQ(analysis_[0].number("spectrum", "num_negative"), 1);
  EXPECT_EQ(analysis_[0].number("spectrum", "num_zero"), 1);
  EXPECT_EQ(analysis_[0].number("spectrum", "num_positive"), 2);
  EXPECT_EQ(analysis_[0].number("spectrum", "num_dead"), 0);
}

TEST_P(SpectrumAnalyzerByMethod, HasAllEigenvaluesOfADecompositionOnly) {
  if (GetParam() != SpectrumMethod::kDense) {
    EXPECT_EQ(analysis_[0].values("spectrum", "eigenvalues").size(), 0);
    EXPECT_EQ(analysis_[0].status("spectrum", "eigenvalues"), Status::kNotComputed);
    return;
  }
  const Eigen::VectorXd found = analysis_[0].values("spectrum", "eigenvalues");
  ASSERT_EQ(found.size(), 4);
  EXPECT_TRUE(test::largest_difference(found, Eigen::Vector4d(-3, 0, 1, 8)) <= kBand);
}

INSTANTIATE_TEST_SUITE_P(Methods,
                         SpectrumAnalyzerByMethod,
                         ::testing::Values(SpectrumMethod::kDense,
                                           SpectrumMethod::kIterative,
                                           SpectrumMethod::kMatrixFree));

TEST(SpectrumAnalyzer, CountsDeadParameters) {
  const test::QuadraticObjective objective(
      {Eigen::MatrixXd(Eigen::Vector3d(0, 2, 0).asDiagonal())});
  const Analysis analysis = analyze(objective, {{"here", Eigen::Vector3d::Ones()}}, {"spectrum"});
  EXPECT_EQ(analysis[0].number("spectrum", "num_dead"), 2);
  EXPECT_EQ(analysis[0].number("spectrum", "num_zero"), 2);
  EXPECT_EQ(analysis[0].number("spectrum", "num_positive"), 1);
  EXPECT_EQ(analysis[0].number("spectrum", "lambda_max"), 2);
}

TEST(SpectrumAnalyzer, OfWeightsThatAreNaNIsMissing) {
  const Analysis analysis =
      analyze(test::rosenbrock(), {{"here", Eigen::Vector2d(1, kNaN)}}, {"spectrum"});
  EXPECT_EQ(analysis[0].status("spectrum", "lambda_max"), Status::kNonFinite);
  EXPECT_EQ(analysis[0].status("spectrum", "num_zero"), Status::kNonFinite);
}

}  // namespace
}  // namespace hesscope
