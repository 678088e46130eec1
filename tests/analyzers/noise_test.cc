// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <Eigen/QR>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/constants.h>

#include "support/closed_form_objectives.h"
#include "support/decompositions.h"
#include "support/fitted_line.h"
#include "support/matrices.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

// Two samples with the Hessians diag(1, 1) and diag(3, 2): at (1, 1) their gradients are (1, 1) and
// (3, 2), of mean g = (2, 3/2), from which both are v = (1, 1/2) away. Hence S = 2 v v^T =
// [2, 1; 1, 1/2], of trace and of norm 5/2; H = diag(2, 3/2), of norm 5/2; |g|^2 = 25/4.
class NoiseAnalyzerTest : public ::testing::Test {
 protected:
  static Eigen::MatrixXd diagonal(double first, double second) {
    return Eigen::Vector2d(first, second).asDiagonal();
  }

  Analysis noise(const Eigen::Vector2d& theta) const {
    return analyze(objective_,
                   {{"here", theta}},
                   {"noise"},
                   {.options = {{"noise-batch-size", 1}, {"noise-draws", 10}}});
  }

  const test::QuadraticObjective objective_{{diagonal(1, 1), diagonal(3, 2)}};
};

TEST_F(NoiseAnalyzerTest, OfOneDrawHasNoShape) {
  const Analysis analysis = analyze(
      objective_,
      {{"here", Eigen::Vector2d(1, 1)}},
      {"noise"},
      {.options = {
           {"noise-batch-size", 1}, {"noise-draws", 1}, {"noise-ladder", std::string("2")}}});
  for (const char* name : {"standard_deviation",
                           "skewness",
                           "excess_kurtosis",
                           "hill_index",
                           "hill_index_standard_error",
                           "hill_plot"}) {
    EXPECT_EQ(analysis[0].status("noise", name), Status::kUndefinedTooFewPoints) << name;
  }
  EXPECT_EQ(analysis[0].status("noise", "mean"), Status::kOk);
}

TEST_F(NoiseAnalyzerTest, HasTheScalesOfTwoSamples) {
  const Analysis analysis = noise({1, 1});
  const auto number = [&](const char* name) { return analysis[0].number("noise", name); };
  EXPECT_NEAR(number("covariance_trace"), 2.5, 1e-14);
  EXPECT_NEAR(number("noise_scale_simple"), 0.4, 1e-14);  // tr S / |g|^2
  // tr(H S) / g^T H g = (4 + 3/4) / (8 + 27/8)
  EXPECT_NEAR(number("noise_scale_hessian"), 4.75 / 11.375, 1e-14);
  EXPECT_NEAR(number("alignment_cosine"), 4.75 / 6.25, 1e-14);
  // H S - S H = (2 - 3/2) [0, 1; -1, 0], of norm sqrt(1/2)
  EXPECT_NEAR(number("commutator"), std::sqrt(0.5) / 12.5, 1e-14);
  // Eigenvalues 3/2 and 2 have the noise S_11 and S_00; the line through the two points has the
  // slope log(2 / (1/2)) / log(2 / (3/2)).
  EXPECT_TRUE((analysis[0].values("noise", "eigenvalues") - Eigen::Vector2d(1.5, 2)).norm() <=
              1e-14);
  EXPECT_TRUE(
      (analysis[0].values("noise", "eigendirection_noise") - Eigen::Vector2d(0.5, 2)).norm() <=
      1e-14);
  EXPECT_EQ(number("noise_exponent_count"), 2);
  EXPECT_NEAR(number("noise_exponent"), std::log(4.0) / std::log(4.0 / 3), 1e-12);
  EXPECT_EQ(analysis[0].status("noise", "noise_exponent_standard_error"),
            Status::kUndefinedZeroDenominator);
}

// A batch of one sample is |v| = sqrt(5) / 2 away, whichever it is.
TEST_F(NoiseAnalyzerTest, OfBatchesThatAreEquallyFarHasNoShape) {
  const Analysis analysis = noise({1, 1});
  const Eigen::VectorXd norms = analysis[0].values("noise", "norm");
  ASSERT_EQ(norms.size(), 10);
  EXPECT_TRUE(test::largest_magnitude(norms.array() - std::sqrt(1.25)) <= 1e-15);
  EXPECT_EQ(analysis[0].number("noise", "batch_size"), 1);
  EXPECT_NEAR(analysis[0].number("noise", "mean"), std::sqrt(1.25), 1e-15);
  EXPECT_EQ(analysis[0].number("noise", "standard_deviation"), 0);
  EXPECT_NEAR(analysis[0].number("noise", "max_over_median"), 1, 1e-15);
  for (const char* name : {"skewness", "excess_kurtosis"}) {
    EXPECT_EQ(analysis[0].status("noise", name), Status::kUndefinedZeroDenominator) << name;
    EXPECT_TRUE(std::isnan(analysis[0].number("noise", name))) << name;
  }
}

// At 0 all gradients vanish: there is neither noise nor a gradient to compare it with.
TEST_F(NoiseAnalyzerTest, WithoutAGradientHasNoScale) {
  const Analysis analysis = noise({0, 0});
  EXPECT_EQ(analysis[0].number("noise", "covariance_trace"), 0);
  for (const char* name : {"noise_scale_simple", "noise_scale_hessian", "alignment_cosine"}) {
    EXPECT_EQ(analysis[0].status("noise", name), Status::kUndefinedZeroDenominator) << name;
  }
  EXPECT_EQ(analysis[0].status("noise", "max_over_median"), Status::kUndefinedZeroMedian);
}

// Seven times one sample: what its gradients differ by is the rounding of their mean.
TEST_F(NoiseAnalyzerTest, OfCopiesOfASampleIsZeroWithinRounding) {
  const test::QuadraticObjective copies(std::vector(7, diagonal(0.3, 0.7)));
  const Analysis analysis = analyze(copies,
                                    {{"here", Eigen::Vector2d(0.1, 1.7)}},
                                    {"noise"},
                                    {.options = {{"noise-batch-size", 3}, {"noise-draws", 20}}});
  EXPECT_EQ(analysis[0].values("noise", "norm"), Eigen::VectorXd(Eigen::VectorXd::Zero(20)));
  EXPECT_EQ(analysis[0].status("noise", "max_over_median"), Status::kUndefinedZeroMedian);
  for (const char* name : {"skewness",
                           "excess_kurtosis",
                           "hill_index",
                           "hill_plot",
                           "qq_correlation",
                           "alignment_cosine",
                           "commutator",
                           "noise_exponent"}) {
    EXPECT_EQ(analysis[0].status("noise", name), Status::kUndefinedZeroDenominator) << name;
  }
  for (const char* name : {"noise_exponent_count",
                           "covariance_trace",
                           "noise_scale_simple",
                           "noise_scale_simple_standard_error",
                           "noise_scale_hessian",
                           "noise_scale_hessian_bias"}) {
    EXPECT_EQ(analysis[0].number("noise", name), 0) << name;
  }
}

// Without a Hessian, or of samples that leave none when a block of them is left out, nothing is 0
// that is not defined.
TEST(NoiseAnalyzer, OfCopiesHasNoScaleThatIsNotDefined) {
  const auto copies = [](Eigen::Index count) {
    return test::QuadraticObjective(
        std::vector(static_cast<std::size_t>(count), Eigen::MatrixXd(Eigen::MatrixXd::Zero(2, 2))),
        Eigen::Vector2d(0.1, 1.7));
  };
  const Analysis flat = analyze(copies(7), {{"here", Eigen::Vector2d(1, 2)}}, {"noise"});
  EXPECT_EQ(flat[0].number("noise", "noise_scale_simple"), 0);
  for (const char* name : {"noise_scale_hessian", "noise_scale_hessian_bias"}) {
    EXPECT_EQ(flat[0].status("noise", name), Status::kUndefinedZeroDenominator) << name;
  }
  const Analysis two = analyze(copies(2), {{"here", Eigen::Vector2d(1, 2)}}, {"noise"});
  EXPECT_EQ(two[0].number("noise", "noise_scale_simple"), 0);
  EXPECT_EQ(two[0].status("noise", "noise_scale_simple_standard_error"),
            Status::kUndefinedTooFewPoints);
}

// Sums of the draws of each size, and the samples that each draw takes.
TEST(NoiseAnalyzer, ForeseesTheMemoryOfItsDraws) {
  const test::QuadraticObjective objective({Eigen::MatrixXd::Identity(3, 3)});
  const auto numbers = [&](std::int64_t batch_size, const std::string& ladder) {
    const AnalyzerKind& entry = find_analyzer_kind("noise");
    std::map<std::string, SettingValue> values = {{"noise-batch-size", batch_size},
                                                  {"noise-draws", std::int64_t{500}}};
    if (!ladder.empty()) values.emplace("noise-ladder", ladder);
    const Settings settings = Settings::checked(values, entry.options, "a test");
    return entry.create(settings)->cost(objective).numbers;
  };
  EXPECT_EQ(numbers(2000, "") - numbers(1000, ""), 500 * 1000 / 2);
  EXPECT_EQ(numbers(2000, "1000,3000") - numbers(2000, ""), 500 * (2 * 3 + 4000 / 2));
}

// If the samples are fitted, their gradients are rounding of the parameters.
TEST(NoiseAnalyzer, OfSamplesThatAreFittedIsZeroWithinRounding) {
  const Eigen::Vector4d theta(1.1, -2.3, 0.7, 3.1);
  const Analysis analysis = analyze(test::fitted_line(theta, 12), {{"here", theta}}, {"noise"});
  EXPECT_EQ(analysis[0].status("noise", "max_over_median"), Status::kUndefinedZeroMedian);
  for (const char* name : {"noise_scale_simple",
                           "excess_kurtosis",
                           "hill_index",
                           "alignment_cosine",
                           "commutator",
                           "noise_exponent"}) {
    EXPECT_EQ(analysis[0].status("noise", name), Status::kUndefinedZeroDenominator) << name;
  }
}

// The computed H = Q I Q^T has eigenvalues that are one up to rounding: no line can be fitted over
// them.
TEST(NoiseAnalyzer, OfEqualEigenvaluesHasNoExponent) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const Eigen::MatrixXd q =
        Eigen::HouseholderQR<Eigen::MatrixXd>(test::random_matrix(4, 4, seed)).householderQ();
    const Eigen::MatrixXd h = q.transpose() * q;
    const Eigen::MatrixXd part = test::random_symmetric(4, seed);
    const test::QuadraticObjective objective({h + part, h - part});
    const Analysis analysis =
        analyze(objective, {{"here", Eigen::Vector4d(1, -2, 3, 0.5)}}, {"noise", "density"});
    EXPECT_EQ(analysis[0].status("noise", "alignment_cosine"), Status::kOk);
    EXPECT_EQ(analysis[0].status("noise", "noise_exponent"), Status::kUndefinedZeroDenominator);
    EXPECT_EQ(analysis[0].status("density", "relative_wasserstein_distance"),
              Status::kUndefinedZeroDenominator);
  }
}

// Two halves are equally far from their mean, but for its rounding.
TEST_F(NoiseAnalyzerTest, OfTwoHalvesIsOneNumber) {
  const test::QuadraticObjective objective(
      {diagonal(0.3, 0.7), diagonal(1.1, 0.1), diagonal(2.3, 0.9), diagonal(0.7, 3.1)});
  for (int i = 1; i <= 10; ++i) {
    const Analysis analysis = analyze(
        objective,
        {{"here", Eigen::Vector2d(0.1 * i, 1.7 - 0.3 * i)}},
        {"noise"},
        {.options = {{"noise-batch-size", 2}, {"noise-sampling", std::string("disjoint")}}});
    const Eigen::VectorXd norms = analysis[0].values("noise", "norm");
    ASSERT_EQ(norms.size(), 2);
    EXPECT_EQ(norms[0], norms[1]) << i;
    for (const char* name : {"skewness", "hill_index", "hill_plot", "qq_correlation"}) {
      EXPECT_EQ(analysis[0].status("noise", name), Status::kUndefinedZeroDenominator) << name;
    }
    EXPECT_EQ(analysis[0].values("noise", "histogram_counts").sum(), 2);
  }
}

TEST_F(NoiseAnalyzerTest, OfWeightsThatAreNaNIsMissing) {
  const Analysis analysis = noise({kNaN, 1});
  for (const char* name : {"norm", "mean", "covariance_trace", "noise_scale_simple"}) {
    EXPECT_EQ(analysis[0].status("noise", name), Status::kNonFinite) << name;
  }
}

TEST(NoiseAnalyzer, OfGradientsWithoutSquaresHasNoVariances) {
  const test::QuadraticObjective objective(
      {1e170 * Eigen::MatrixXd(Eigen::Vector2d(3, 2).asDiagonal()),
       1e170 * Eigen::MatrixXd(Eigen::Vector2d(1, 1).asDiagonal())});
  const Analysis analysis = analyze(objective, {{"here", Eigen::Vector2d(1, 1)}}, {"noise"});
  for (const char* name : {"covariance_trace", "eigendirection_noise"}) {
    EXPECT_EQ(analysis[0].status("noise", name), Status::kNonFinite) << name;
    EXPECT_TRUE(analysis[0].values("noise", name).array().isNaN().all()) << name;
  }
}

// Both samples have the same gradient along y: its variance there is 0, without a sign.
TEST(NoiseAnalyzer, AVarianceOfZeroHasNoSign) {
  for (const double x : {1.0, -1.0}) {
    const test::QuadraticObjective objective(
        {Eigen::MatrixXd(Eigen::Vector2d(3, -1).asDiagonal()),
         Eigen::MatrixXd(Eigen::Vector2d(1, -1).asDiagonal())});
    const Analysis analysis = analyze(objective, {{"here", Eigen::Vector2d(x, 2)}}, {"noise"});
    const Eigen::VectorXd noise = analysis[0].values("noise", "eigendirection_noise");
    ASSERT_EQ(noise.size(), 2);
    EXPECT_EQ(noise[0], 0);
    EXPECT_FALSE(std::signbit(noise[0]));
    EXPECT_NEAR(noise[1], 2, 1e-14);
  }
}

TEST(NoiseAnalyzer, OfOneSampleHasNoCovariance) {
  const Analysis analysis =
      analyze(test::rosenbrock(), {{"here", Eigen::Vector2d(2, 1)}}, {"noise"});
  EXPECT_EQ(analysis[0].number("noise", "mean"), 0);
  for (const char* name : {"covariance_trace",
                           "noise_scale_simple",
                           "noise_scale_simple_bias",
                           "noise_scale_hessian",
                           "alignment_cosine",
                           "commutator",
                           "eigendirection_noise",
                           "noise_exponent",
                           "noise_exponent_count"}) {
    EXPECT_EQ(analysis[0].status("noise", name), Status::kUndefinedTooFewPoints) << name;
  }
  const Eigen::MatrixXd h = test::rosenbrock().hessian(Eigen::Vector2d(2, 1));
  const Eigen::VectorXd expected = test::eigenvalues(h);
  EXPECT_TRUE((analysis[0].values("noise", "eigenvalues") - expected).norm() <=
              1e-13 * expected.norm());
}

}  // namespace
}  // namespace hesscope
