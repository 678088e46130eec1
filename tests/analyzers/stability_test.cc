// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/noise/batch_sharpness.h>

#include "noise/naive.h"
#include "support/closed_form_objectives.h"
#include "support/fitted_line.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

// H = diag(4, 1), and at (1, 4) the gradient is (4, 4).
class StabilityAnalyzerTest : public ::testing::Test {
 protected:
  Analysis stability(const std::map<std::string, SettingValue>& options,
                     const Eigen::Vector2d& theta = {1, 4}) const {
    return analyze(objective_, {{"here", theta}}, {"stability"}, {.options = options});
  }

  const test::QuadraticObjective objective_{{Eigen::MatrixXd(Eigen::Vector2d(4, 1).asDiagonal())}};
};

TEST_F(StabilityAnalyzerTest, ComparesTheSharpnessWithWhatALearningRateAllows) {
  const Analysis analysis = stability({{"learning-rate", 0.25}, {"beta1", 0.5}});
  const auto number = [&](const char* name) { return analysis[0].number("stability", name); };
  EXPECT_EQ(number("sharpness"), 4);
  EXPECT_EQ(number("learning_rate"), 0.25);
  EXPECT_EQ(number("gd_threshold"), 8);  // 2 / 0.25
  EXPECT_EQ(number("gd_ratio"), 0.5);
  EXPECT_EQ(number("momentum_threshold"), 12);  // (2 + 2 0.5) / 0.25
  EXPECT_NEAR(number("momentum_ratio"), 4.0 / 12, 1e-15);
}

// The checkpoint's optimiser is of no known kind: its momentum is the heavy ball's, whatever else
// it does with it.
TEST_F(StabilityAnalyzerTest, TakesTheMomentumThatAnUnknownOptimizerStores) {
  const auto with = [&](const std::vector<OptimizerSettings>& groups) {
    OptimizerState state;
    state.kind = OptimizerKind::kUnknown;
    state.groups = groups;
    const NamedPoint point{.name = "here", .theta = Eigen::Vector2d(1, 4), .optimizer = state};
    const Analysis analysis = analyze(objective_, {point}, {"stability"}, {});
    return std::pair(analysis[0].number("stability", "momentum"),
                     analysis[0].number("stability", "momentum_threshold"));
  };
  EXPECT_EQ(with({{.learning_rate = 0.25, .momentum = 0}}), std::pair(0.0, 8.0));
  EXPECT_EQ(with({{.learning_rate = 0.25, .momentum = 0.5, .is_nesterov = true}}),
            std::pair(0.5, 12.0));
  EXPECT_EQ(with({{.learning_rate = 0.25, .beta1 = 0.5}}), std::pair(0.5, 12.0));  // as of Lion
  EXPECT_EQ(with({{.learning_rate = 0.25}}).first, 0.9);
  const auto [momentum, threshold] =
      with({{.learning_rate = 0.25, .momentum = 0.5}, {.learning_rate = 0.25, .beta1 = 0.9}});
  EXPECT_TRUE(std::isnan(momentum) && std::isnan(threshold));  // Muon together with Adam
}

// With an optimiser that leaves out the second of two parameters, edge/ratio is of the first alone.
TEST_F(StabilityAnalyzerTest, OfAllParametersIsNotComparedWithTheRateOfSome) {
  const test::QuadraticObjective objective({Eigen::MatrixXd(Eigen::Vector2d(1, 3).asDiagonal()),
                                            Eigen::MatrixXd(Eigen::Vector2d(1, 5).asDiagonal())},
                                           {},
                                           0,
                                           {{"trained", {1}, 0, 1}, {"frozen", {1}, 1, 1}});
  OptimizerState sgd{.kind = OptimizerKind::kSgd};
  sgd.groups = {{.learning_rate = 0.25, .momentum = 0}};
  sgd.blocks = {{.group = 0}, {}};
  const NamedPoint point{.name = "here", .theta = Eigen::Vector2d(1, 4), .optimizer = sgd};
  std::map<std::string, SettingValue> options = {{"batch-sharpness", std::string("1")}};
  for (const bool is_given : {false, true}) {
    if (is_given) options["learning-rate"] = 0.25;
    const Analysis analysis =
        analyze(objective, {point}, {"stability", "edge"}, {.options = options});
    EXPECT_NEAR(analysis[0].number("stability", "sharpness"), 4, 1e-14);
    EXPECT_EQ(analysis[0].number("stability", "learning_rate"), 0.25);
    EXPECT_EQ(analysis[0].status("stability", "batch_sharpness"), Status::kOk);
    for (const char* name : {"gd_ratio", "momentum_ratio", "batch_sharpness_ratio"}) {
      EXPECT_EQ(analysis[0].status("stability", name), Status::kNotComputed) << name;
    }
    EXPECT_NEAR(analysis[0].number("edge", "ratio"), 0.125, 1e-15);
    ASSERT_EQ(analysis.warnings().size(), 1U);
    EXPECT_THAT(std::string(analysis.warnings()[0]),
                testing::HasSubstr("does not train all parameters"));
  }
}

TEST_F(StabilityAnalyzerTest, WithoutALearningRateHasNoThreshold) {
  const Analysis analysis = stability({});
  EXPECT_EQ(analysis[0].number("stability", "sharpness"), 4);
  EXPECT_EQ(analysis[0].status("stability", "learning_rate"), Status::kNotStored);
  for (const char* name : {"gd_threshold", "gd_ratio", "momentum_threshold", "momentum_ratio"}) {
    EXPECT_EQ(analysis[0].status("stability", name), Status::kNotComputed) << name;
    EXPECT_TRUE(std::isnan(analysis[0].number("stability", name))) << name;
  }
}

// Second moments of whole batches settle at g^2 = (16, 16): P = sqrt(v) + epsilon = 5 in both
// entries, so that P^-1/2 H P^-1/2 = diag(4, 1) / 5. Adam's threshold is (2 + 2 b) / ((1 - b)
// rate) = 24 for b = 1/2 and the rate 1/4.
TEST_F(StabilityAnalyzerTest, SeesThroughAdamsPreconditioner) {
  const Analysis analysis = stability({{"preconditioner", "adam"},
                                       {"second-moments", "recomputed"},
                                       {"learning-rate", 0.25},
                                       {"beta1", 0.5},
                                       {"epsilon", 1.0}});
  const auto number = [&](const char* name) { return analysis[0].number("stability", name); };
  EXPECT_EQ(analysis[0].values("stability", "preconditioner"), Eigen::Vector2d(5, 5));
  EXPECT_NEAR(number("lambda_max_preconditioned"), 0.8, 1e-15);
  EXPECT_NEAR(number("lambda_min_preconditioned"), 0.2, 1e-15);
  EXPECT_NEAR(number("adam_threshold"), 24, 1e-13);
  EXPECT_NEAR(number("adam_ratio"), 0.8 / 24, 1e-15);
  EXPECT_NEAR(number("robust_diagonal_preconditioned"), 4, 1e-13);
}

// No gradient, no second moments: P is epsilon alone.
TEST_F(StabilityAnalyzerTest, AtAMinimumAdamDividesByEpsilon) {
  const Analysis analysis = stability(
      {{"preconditioner", "adam"}, {"second-moments", "recomputed"}, {"epsilon", 0.5}}, {0, 0});
  EXPECT_EQ(analysis[0].values("stability", "preconditioner"), Eigen::Vector2d(0.5, 0.5));
  EXPECT_NEAR(analysis[0].number("stability", "lambda_max_preconditioned"), 8, 1e-13);
  EXPECT_EQ(analysis[0].status("stability", "adam_ratio"), Status::kNotComputed);  // no rate
}

TEST_F(StabilityAnalyzerTest, WithoutSecondMomentsSaysThatNoneAreStored) {
  const Analysis analysis = stability({{"preconditioner", "adam"}});
  EXPECT_EQ(analysis[0].status("stability", "preconditioner"), Status::kNotStored);
  EXPECT_EQ(analysis[0].status("stability", "lambda_max_preconditioned"), Status::kNotStored);
}

class BatchSharpnessTest : public ::testing::Test {
 protected:
  Analysis stability(std::map<std::string, SettingValue> options,
                     const Eigen::VectorXd& theta,
                     SpectrumMethod method = SpectrumMethod::kDense) const {
    options["batch-sharpness"] = std::string("1,3,5");
    return analyze(
        objective_, {{"here", theta}}, {"stability"}, {.options = options, .method = method});
  }

  const test::QuadraticObjective objective_ = test::random_quadratic(4, 5, 3);
  const Eigen::VectorXd theta_ = Eigen::Vector4d(1, -2, 0.5, 3);
};

TEST_F(BatchSharpnessTest, IsStoredForEverySizeBesideItsRatioToTheThreshold) {
  for (const SpectrumMethod method : {SpectrumMethod::kDense, SpectrumMethod::kMatrixFree}) {
    const Analysis analysis = stability({{"learning-rate", 0.25}}, theta_, method);
    const Eigen::VectorXd found = analysis[0].values("stability", "batch_sharpness");
    const Eigen::VectorXd ratio = analysis[0].values("stability", "batch_sharpness_ratio");
    const BatchMoments moments =
        batch_moments(objective_, theta_, HessianOperator(objective_, theta_));
    ASSERT_EQ(found.size(), 3);
    ASSERT_EQ(ratio.size(), 3);
    for (int k = 0; k < 3; ++k) {
      const double wanted = batch_sharpness(moments, 2 * k + 1).value;
      EXPECT_NEAR(found[k] / wanted, 1, 1e-13);
      EXPECT_NEAR(ratio[k] / (wanted * 0.25 / 2), 1, 1e-13);
    }
  }
}

TEST_F(BatchSharpnessTest, NeedsALearningRateForTheRatioAlone) {
  const Analysis analysis = stability({}, theta_);
  EXPECT_EQ(analysis[0].status("stability", "batch_sharpness"), Status::kOk);
  EXPECT_EQ(analysis[0].status("stability", "batch_sharpness_ratio"), Status::kNotComputed);
  const Analysis broken = stability({{"learning-rate", 0.25}}, Eigen::Vector4d(1, kNaN, 0, 0));
  for (const char* name : {"batch_sharpness", "batch_sharpness_ratio"}) {
    EXPECT_EQ(broken[0].status("stability", name), Status::kNonFinite) << name;
  }
}

// If the samples are fitted, gradients are rounding, also those of minibatches.
TEST(BatchSharpness, OfSamplesThatAreFittedIsUndefinedForEverySize) {
  const Eigen::Vector4d theta(1.1, -2.3, 0.7, 3.1);
  const GraphObjective objective = test::fitted_line(theta, 5);
  for (const SpectrumMethod method : {SpectrumMethod::kDense, SpectrumMethod::kMatrixFree}) {
    const Analysis analysis =
        analyze(objective,
                {{"here", theta}},
                {"stability", "edge"},
                {.options = {{"batch-sharpness", std::string("1,3,5")}, {"learning-rate", 0.25}},
                 .method = method});
    EXPECT_EQ(analysis[0].status("edge", "gradient_curvature"), Status::kUndefinedZeroDenominator);
    for (const char* name : {"batch_sharpness", "batch_sharpness_ratio"}) {
      EXPECT_TRUE(analysis[0].values("stability", name).array().isNaN().all()) << name;
      EXPECT_EQ(analysis[0].status("stability", name), Status::kUndefinedZeroDenominator) << name;
    }
  }
}

TEST_F(BatchSharpnessTest, RefusesMoreSamplesThanThereAre) {
  test::expect_refusal<ConfigError>(
      [&] {
        analyze(objective_,
                {{"here", theta_}},
                {"stability"},
                {.options = {{"batch-sharpness", std::string("2,6")}}});
      },
      "minibatches of 6 samples cannot be had from 5 samples");
}

TEST_F(StabilityAnalyzerTest, OfWeightsThatAreNaNIsMissing) {
  const Analysis analysis = stability(
      {{"learning-rate", 0.1}, {"preconditioner", "adam"}, {"second-moments", "recomputed"}},
      {kNaN, 0});
  for (const char* name : {"sharpness", "gd_ratio", "preconditioner", "adam_ratio"}) {
    EXPECT_EQ(analysis[0].status("stability", name), Status::kNonFinite) << name;
  }
  EXPECT_EQ(analysis[0].number("stability", "gd_threshold"), 20);  // of the learning rate alone
}

}  // namespace
}  // namespace hesscope
