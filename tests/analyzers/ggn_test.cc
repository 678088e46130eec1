// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/analysis/analyze.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/models/mlp.h>

#include "support/closed_form_objectives.h"
#include "support/maxima.h"
#include "support/numbers.h"

namespace hesscope {
namespace {

// The mean of y is 2, so that r = 3 1 - 2 = 1 at (3, 1), and
//   H = G + R = [1, 3; 3, 9] + [0, 1; 1, 0]:
// G has the eigenvalues 0 and 10, R has -1 and 1.
class GgnAnalyzerTest : public ::testing::Test {
 protected:
  Analysis ggn(const Eigen::Vector2d& theta, const AnalyzeOptions& options = {}) const {
    return analyze(objective_, {{"here", theta}}, {"ggn"}, options);
  }

  const GraphObjective objective_ = test::product_of_two({1, 3});
};

TEST_F(GgnAnalyzerTest, SplitsTheHessianOfAProduct) {
  const Analysis analysis = ggn({3, 1});
  const auto expect = [&](const char* name, const Eigen::VectorXd& expected) {
    const Eigen::VectorXd found = analysis[0].values("ggn", name);
    ASSERT_EQ(found.size(), expected.size()) << name;
    EXPECT_TRUE(test::largest_difference(found, expected) <= 1e-13) << name << "\n" << found;
  };
  const auto one = [](double x) { return Eigen::VectorXd::Constant(1, x); };
  expect("eigenvalues", Eigen::Vector2d(0, 10));
  expect("eigenvalues_functional", Eigen::Vector2d(-1, 1));
  expect("trace", one(10));
  expect("trace_functional", one(0));
  expect("frobenius_norm", one(10));
  expect("frobenius_norm_functional", one(std::sqrt(2.0)));
  expect("block_frobenius_norm", Eigen::Vector4d(1, 3, 3, 9));
  expect("block_frobenius_norm_functional", Eigen::Vector4d(0, 1, 1, 0));
  expect("num_zero", one(1));
  expect("num_negative_functional", one(1));
}

TEST_F(GgnAnalyzerTest, LeavesNothingWhereTheResidualIsZero) {
  const Analysis analysis = ggn({2, 1});
  EXPECT_EQ(analysis[0].number("ggn", "frobenius_norm_functional"), 0);
  EXPECT_EQ(analysis[0].number("ggn", "num_zero_functional"), 2);
  EXPECT_EQ(analysis[0].number("ggn", "num_dead_functional"), 2);
  EXPECT_NEAR(analysis[0].number("ggn", "lambda_max"), 5, 1e-13);
}

TEST_F(GgnAnalyzerTest, WithoutAMatrixHasTheEnds) {
  const Analysis analysis = ggn({3, 1}, {.method = SpectrumMethod::kMatrixFree});
  EXPECT_NEAR(analysis[0].number("ggn", "lambda_max"), 10, 1e-11);
  EXPECT_NEAR(analysis[0].number("ggn", "lambda_min_functional"), -1, 1e-12);
  EXPECT_EQ(analysis[0].status("ggn", "trace"), Status::kNotComputed);
  EXPECT_EQ(analysis[0].status("ggn", "block_frobenius_norm"), Status::kNotComputed);
}

TEST_F(GgnAnalyzerTest, OfWeightsThatAreNaNIsMissing) {
  const Analysis analysis = ggn({kNaN, 1});
  for (const char* name : {"lambda_max", "trace", "frobenius_norm_functional"}) {
    EXPECT_EQ(analysis[0].status("ggn", name), Status::kNonFinite) << name;
  }
  EXPECT_EQ(analysis[0].number("ggn", "proof"), 0);  // none
}

// The predictions of one layer are linear in its parameters: H is G, whatever rounding says.
TEST(GgnAnalyzer, OfOneLayerThereIsNoRestButZeros) {
  const Model model = mlp({.widths = {3, 3}, .loss = MlpLoss::kCrossEntropy});
  SampleTable samples = test::Numbers(3).table(9, model.record_size());
  for (Eigen::Index i = 0; i < samples.rows(); ++i) samples(i, 3) = static_cast<double>(i % 3);
  const GraphObjective objective(model, samples);
  const Eigen::VectorXd theta = test::Numbers(4).vector(model.num_parameters());
  for (const SpectrumMethod method : {SpectrumMethod::kDense, SpectrumMethod::kIterative}) {
    const Analysis analysis = analyze(objective, {{"here", theta}}, {"ggn"}, {.method = method});
    EXPECT_EQ(analysis[0].number("ggn", "num_negative_functional"), 0);
    EXPECT_EQ(analysis[0].number("ggn", "num_zero_functional"), 12);
    EXPECT_EQ(analysis[0].number("ggn", "num_positive_functional"), 0);
    EXPECT_EQ(analysis[0].number("ggn", "rounding_band_functional"),
              analysis[0].number("ggn", "rounding_band"));
  }
}

TEST(GgnAnalyzer, NeedsPredictions) {
  EXPECT_THAT(
      [] {
        analyze(test::rosenbrock(), {{"here", Eigen::Vector2d(1, 1)}}, {"ggn"});
      },
      ::testing::ThrowsMessage<ConfigError>(
          ::testing::HasSubstr("'ggn': this objective has no Gauss-Newton matrix")));
}

}  // namespace
}  // namespace hesscope
