// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/analyzers/sampling.h>
#include <hesscope/core/constants.h>
#include <hesscope/spectra/sampling_error.h>

#include "support/closed_form_objectives.h"
#include "support/gaussian_samples.h"

namespace hesscope {
namespace {

// Four samples of one parameter with the curvatures 1, 2, 3 and 6, each a block: the jackknife of
// their mean 3 has no bias and the standard error of a mean, sqrt((4 + 1 + 0 + 9) / (4 3)).
class SamplingAnalyzerTest : public ::testing::Test {
 protected:
  static test::QuadraticObjective curvatures(const std::vector<double>& values) {
    std::vector<Eigen::MatrixXd> matrices;
    for (const double value : values) matrices.push_back(Eigen::MatrixXd::Constant(1, 1, value));
    return test::QuadraticObjective(matrices);
  }

  static Analysis sampling(const Objective& objective, double theta = 1) {
    return analyze(objective, {{"here", Eigen::VectorXd::Constant(1, theta)}}, {"sampling"});
  }
};

TEST_F(SamplingAnalyzerTest, IsTheStandardErrorOfAMean) {
  const Analysis analysis = sampling(curvatures({1, 2, 3, 6}));
  const auto number = [&](const char* name) { return analysis[0].number("sampling", name); };
  const double error = std::sqrt(14.0 / 12);
  constexpr double kT = 3.18244630528371;  // 97.5 % quantile of Student's t of 3
  for (const std::string figure : {"lambda_max", "lambda_min", "lambda_median"}) {
    EXPECT_EQ(number(figure.c_str()), 3);
    EXPECT_NEAR(number((figure + "_bias").c_str()), 0, 1e-14);
    EXPECT_NEAR(number((figure + "_standard_error").c_str()), error, 1e-14);
    EXPECT_NEAR(number((figure + "_standard_error_first_order").c_str()), error, 1e-14);
  }
  // The smallest eigenvalue may have either sign, so its interval is symmetric.
  EXPECT_NEAR(number("lambda_min_lower"), 3 - kT * error, 1e-12);
  EXPECT_NEAR(number("lambda_min_upper"), 3 + kT * error, 1e-12);
  // The interval of a scale is symmetric in the logarithm.
  EXPECT_NEAR(number("lambda_max_lower") * number("lambda_max_upper"), 9, 1e-12);
  EXPECT_TRUE(number("lambda_max_lower") < 3);
  // The ratio of a number to itself does not depend on samples.
  EXPECT_EQ(number("robust_diagonal"), 1);
  EXPECT_EQ(number("robust_diagonal_standard_error"), 0);
}

constexpr int kIsUnknown = 0;
constexpr int kIsUsable = 1;
constexpr int kIsCrowded = 2;
constexpr int kIsCrowdedMedian = 3;

// The mean of 2 x 2 Hessians diag(c, 1 - c) with alternating c = 0 and 1 is crowded, 1/2 twice:
// without any one sample the largest eigenvalue grows, so its bias is above its standard error. A
// single parameter has no crowd.
TEST_F(SamplingAnalyzerTest, ACrowdedEndIsFlagged) {
  const Analysis alone = sampling(curvatures({1, 2, 3, 6}));
  for (const std::string_view figure : kSpectralFigureNames) {
    const std::string flag = std::string(figure) + "_interval";
    EXPECT_EQ(alone[0].number("sampling", flag), kIsUsable) << flag;
  }
  std::vector<Eigen::MatrixXd> matrices;
  for (int i = 0; i < 8; ++i) matrices.emplace_back(Eigen::Vector2d(i % 2, 1 - i % 2).asDiagonal());
  const Analysis crowd =
      analyze(test::QuadraticObjective(matrices), {{"here", Eigen::Vector2d(1, 1)}}, {"sampling"});
  const auto number = [&](const char* name) { return crowd[0].number("sampling", name); };
  // Without a sample the mean is diag(3, 4) / 7 or the reverse.
  EXPECT_NEAR(number("lambda_max_bias"), 7 * (4.0 / 7 - 0.5), 1e-14);
  EXPECT_NEAR(number("lambda_max_standard_error"), 0, 1e-14);
  for (const char* flag : {"lambda_max_interval",
                           "lambda_min_interval",
                           "robust_eigenvalue_interval",
                           "robust_absolute_interval",
                           "robust_diagonal_interval"}) {
    EXPECT_EQ(number(flag), kIsCrowded) << flag;
  }
}

// Gaussian samples of variances 30, 1, 1, 1, 1: the largest stands apart, the median is of four.
TEST_F(SamplingAnalyzerTest, ACrowdedMedianIsFlaggedInWhatIsDividedByIt) {
  const Eigen::VectorXd variances = (Eigen::VectorXd(5) << 1, 1, 1, 1, 30).finished();
  const test::QuadraticObjective objective(test::blocks_of_covariance(variances, 20, 1));
  const Analysis analysis = analyze(objective, {{"here", Eigen::VectorXd::Ones(5)}}, {"sampling"});
  const auto number = [&](const char* name) { return analysis[0].number("sampling", name); };
  EXPECT_EQ(number("lambda_max_interval"), kIsUsable);
  EXPECT_EQ(number("lambda_min_interval"), kIsCrowded);
  for (const char* flag : {"lambda_median_interval",
                           "median_magnitude_interval",
                           "robust_eigenvalue_interval",
                           "robust_absolute_interval",
                           "robust_diagonal_interval"}) {
    EXPECT_EQ(number(flag), kIsCrowdedMedian) << flag;
  }
  const Group& group = analysis[0].group("sampling");
  EXPECT_THAT(group["robust_absolute_interval"].flag_meanings,
              testing::ElementsAre("unknown", "usable", "crowded", "crowded_median"));
  EXPECT_THAT(group["robust_absolute_upper"].definition,
              testing::HasSubstr("where robust_absolute_interval is not usable it may miss"));
}

TEST_F(SamplingAnalyzerTest, OfARatioByZeroIsUndefined) {
  const Analysis analysis = sampling(curvatures({1, -1, 1, -1}));
  EXPECT_EQ(analysis[0].number("sampling", "lambda_max"), 0);
  for (const char* name : {"robust_eigenvalue",
                           "robust_eigenvalue_standard_error",
                           "robust_diagonal_lower",
                           "robust_absolute_upper"}) {
    EXPECT_EQ(analysis[0].status("sampling", name), Status::kUndefinedZeroMedian) << name;
    EXPECT_TRUE(std::isnan(analysis[0].number("sampling", name))) << name;
  }
}

TEST_F(SamplingAnalyzerTest, OfMoreBlocksThanSamplesTakesEachSample) {
  const AnalyzerKind kind = sampling_analyzer();
  const auto analyzer = kind.create(Settings::checked(
      {{"jackknife-blocks", std::int64_t{1000}}, {"confidence", 0.95}}, kind.options, "options"));
  EXPECT_THAT(analyzer->declared()["lambda_max_bias"].definition,
              testing::HasSubstr("over m = jackknife-blocks blocks of consecutive samples, fewer "
                                 "if there are fewer, of"));
  EXPECT_EQ(analyzer->cost(curvatures({1, 2, 3, 6})).decompositions, 4 + 2);
}

TEST_F(SamplingAnalyzerTest, OfOneSampleIsUndefined) {
  const Analysis analysis = sampling(curvatures({1}));
  EXPECT_TRUE(analysis.is_conclusive());
  for (const char* name : {"lambda_max", "lambda_max_lower", "lambda_min_standard_error"}) {
    EXPECT_EQ(analysis[0].status("sampling", name), Status::kUndefinedTooFewPoints) << name;
  }
}

TEST_F(SamplingAnalyzerTest, OfWeightsThatAreNaNIsMissing) {
  const Analysis analysis = sampling(curvatures({1, 2}), kNaN);
  EXPECT_EQ(analysis[0].status("sampling", "lambda_max"), Status::kNonFinite);
  EXPECT_EQ(analysis[0].status("sampling", "lambda_max_lower"), Status::kNonFinite);
  for (const std::string_view figure : kSpectralFigureNames) {
    EXPECT_EQ(analysis[0].number("sampling", std::string(figure) + "_interval"), kIsUnknown);
  }
}

}  // namespace
}  // namespace hesscope
