// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/noise/gradient_covariance.h>

#include "noise/naive.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::FixturePoint;

TEST(GradientCovariance, IsThatOfExplicitLoops) {
  for (const auto& [folder, step] : {std::pair{"mlp-spirals-tanh", "000400"},
                                     std::pair{"linear-attention-full-s3", "000100"},
                                     std::pair{"signal-noise", "000000"}}) {
    SCOPED_TRACE(folder);
    const FixturePoint point(folder, step);
    const MatrixXd gradients = test::naive_gradients(point.objective(), point.theta);
    const MatrixXd expected = test::naive_covariance(gradients);
    const GradientCovariance found = gradient_covariance(point.objective(), point.theta);
    ASSERT_EQ(found.status, Status::kOk);
    EXPECT_EQ(found.num_samples, gradients.cols());
    EXPECT_LE((found.matrix - expected).norm(), 1e-13 * expected.norm());
    EXPECT_NEAR(found.trace, expected.trace(), 1e-13 * expected.trace());
    EXPECT_LE((found.mean - gradients.rowwise().mean()).norm(),
              1e-14 * gradients.colwise().norm().maxCoeff<Eigen::PropagateNaN>());
    EXPECT_TRUE(found.matrix == found.matrix.transpose());
    const GradientCovariance trace_only =
        gradient_covariance(point.objective(), point.theta, {.with_matrix = false});
    EXPECT_EQ(trace_only.trace, found.trace);
    EXPECT_EQ(trace_only.matrix.size(), 0);
  }
}

// More samples than a block holds, more parameters than a task; nearly equal gradients far from
// zero, of which the mean of squares would have kept nothing.
TEST(GradientCovariance, KeepsTheDigitsOfSmallDifferences) {
  std::vector<MatrixXd> matrices;
  for (int i = 0; i < 5000; ++i) {
    matrices.push_back(MatrixXd::Identity(3, 3) * (1e8 + static_cast<double>(i % 2)));
  }
  const test::QuadraticObjective objective(std::move(matrices));
  const VectorXd theta = Eigen::Vector3d(1.0, 2.0, -1.0);
  const GradientCovariance found = gradient_covariance(objective, theta);
  const MatrixXd expected = 5000.0 / 4999.0 / 4.0 * theta * theta.transpose();
  // s_i and g are rounded to 1e-8.
  EXPECT_LE((found.matrix - expected).norm(), 1e-7 * expected.norm());
}

TEST(GradientCovariance, IsTheSameToTheLastBitForAnyNumberOfThreads) {
  const FixturePoint alone("mlp-spirals-tanh", "000200", 1);
  const GradientCovariance reference =
      gradient_covariance(alone.objective(), alone.theta, {.num_threads = 1});
  for (const int num_threads : {2, 5}) {
    const FixturePoint point("mlp-spirals-tanh", "000200", num_threads);
    const GradientCovariance found =
        gradient_covariance(point.objective(), point.theta, {.num_threads = num_threads});
    EXPECT_TRUE(found.matrix == reference.matrix);
    EXPECT_EQ(found.trace, reference.trace);
  }
}

TEST(GradientCovariance, KeepsAnExponentWhereSquaresAreNoDoubles) {
  const auto of_scale = [](int k) {
    std::vector<MatrixXd> matrices;
    for (std::uint64_t i = 0; i < 20; ++i) {
      matrices.push_back(std::ldexp(1.0, k) * test::random_symmetric(4, i));
    }
    return gradient_covariance(test::QuadraticObjective(std::move(matrices)), VectorXd::Ones(4));
  };
  const GradientCovariance wanted = of_scale(0);
  EXPECT_EQ(wanted.exponent, 0);
  for (const int k : {-990, -540, -300, -60, 60, 300, 540, 990}) {
    const GradientCovariance found = of_scale(k);
    ASSERT_EQ(found.status, Status::kOk);
    const int shift = 2 * (found.exponent - k);
    EXPECT_NEAR(std::ldexp(found.trace, shift), wanted.trace, 1e-13 * wanted.trace);
    EXPECT_LE((std::ldexp(1.0, shift) * found.matrix - wanted.matrix).norm(), 1e-13 * wanted.trace);
    EXPECT_EQ(found.exponent == 0, std::abs(k) == 60);
  }
}

TEST(GradientCovariance, SaysWhyThereIsNone) {
  const auto one = test::random_quadratic(2, 1, 1);
  EXPECT_EQ(gradient_covariance(one, VectorXd::Ones(2)).status, Status::kUndefinedTooFewPoints);
  const auto objective = test::random_quadratic(2, 5, 1);
  const GradientCovariance found =
      gradient_covariance(objective, VectorXd::Constant(2, std::log(-1.0)));
  EXPECT_EQ(found.status, Status::kNonFinite);
  EXPECT_TRUE(std::isnan(found.trace));
  EXPECT_EQ(found.matrix.size(), 0);
  EXPECT_FALSE(is_gradient_zero(found));
  test::expect_refusal([&] { gradient_covariance(objective, VectorXd::Ones(3)); },
                       "gradient_covariance: theta");
}

}  // namespace
}  // namespace hesscope
