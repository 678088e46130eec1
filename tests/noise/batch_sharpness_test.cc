// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/models/mlp.h>
#include <hesscope/noise/batch_sharpness.h>
#include <hesscope/objective/functor_objective.h>
#include <hesscope/objective/graph_objective.h>

#include "noise/naive.h"
#include "support/numbers.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// By the definition: every minibatch of so many samples, one after the other.
double over_all_batches(const Objective& objective, const VectorXd& theta, Index batch_size) {
  const Index num_samples = objective.num_samples();
  double curvature = 0.0;
  double square = 0.0;
  for (std::uint32_t batch = 0; batch < (1u << num_samples); ++batch) {
    VectorXd g = VectorXd::Zero(theta.size());
    MatrixXd h = MatrixXd::Zero(theta.size(), theta.size());
    Index size = 0;
    for (Index i = 0; i < num_samples; ++i) {
      if ((batch >> i & 1u) == 0) continue;
      g += objective.gradient(theta, {i, i + 1});
      h += objective.hessian(theta, {i, i + 1}, {});
      ++size;
    }
    if (size != batch_size) continue;
    const auto b = static_cast<double>(size);
    curvature += g.dot(h * g) / (b * b * b);
    square += g.squaredNorm() / (b * b);
  }
  return curvature / square;
}

void expect_all_batches(const Objective& objective, const VectorXd& theta) {
  const HessianOperator by_products(objective, theta);
  const MatrixXd h = objective.hessian(theta);
  const MatrixOperator by_matrix(h);
  for (const SymmetricOperator* hessian : {static_cast<const SymmetricOperator*>(&by_products),
                                           static_cast<const SymmetricOperator*>(&by_matrix)}) {
    const BatchMoments moments = batch_moments(objective, theta, *hessian);
    for (Index b = 1; b <= objective.num_samples(); ++b) {
      SCOPED_TRACE(b);
      const Statistic found = batch_sharpness(moments, b);
      ASSERT_EQ(found.status, Status::kOk);
      EXPECT_NEAR(found.value / over_all_batches(objective, theta, b), 1.0, 1e-11);
    }
  }
}

TEST(BatchSharpness, IsTheQuotientOfMeansOverAllMinibatches) {
  for (const int num_samples : {1, 2, 3, 4, 7}) {
    SCOPED_TRACE(num_samples);
    const auto quadratic = test::random_quadratic(4, num_samples, 5);
    expect_all_batches(quadratic, Eigen::Vector4d(1.0, -0.5, 2.0, 0.3));
  }
}

TEST(BatchSharpness, OfANetworkIsTheQuotientOfMeansOverAllMinibatches) {
  const Model model = mlp({.widths = {3, 4, 2}, .loss = MlpLoss::kMeanSquaredError});
  const GraphObjective objective{model, test::Numbers(3).table(7, model.record_size())};
  expect_all_batches(objective, test::Numbers(4).vector(objective.num_parameters()));
}

TEST(BatchSharpness, OfAllSamplesIsTheCurvatureAlongTheGradient) {
  const test::FixturePoint point("mlp-spirals-tanh", "000200");
  const Objective& objective = point.objective();
  const HessianOperator hessian(objective, point.theta);
  const BatchMoments moments = batch_moments(objective, point.theta, hessian);
  const VectorXd g = objective.gradient(point.theta);
  const double along_gradient =
      g.dot(objective.hessian_times(point.theta, g).col(0)) / g.squaredNorm();
  const Statistic found = batch_sharpness(moments, objective.num_samples());
  EXPECT_NEAR(found.value / along_gradient, 1.0, 1e-13);
  // And of single samples the mean of their own curvatures, weighted by the squares of gradients.
  const MatrixXd gradients = test::naive_gradients(objective, point.theta);
  double curvature = 0.0;
  for (Index i = 0; i < gradients.cols(); ++i) {
    curvature += gradients.col(i).dot(
        objective.hessian_times(point.theta, gradients.col(i), {i, i + 1}).col(0));
  }
  EXPECT_NEAR(
      batch_sharpness(moments, 1).value / (curvature / gradients.squaredNorm()), 1.0, 1e-11);
}

// x^T A x / 2 + e_i^T x with A = diag(4, 1) and e_i = (2, 0), (-2, 0), (0, 2), (0, -2).
struct NoisyBowl {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Index sample) const {
    const double e = sample % 2 == 0 ? 2.0 : -2.0;
    return 2.0 * x(0) * x(0) + 0.5 * x(1) * x(1) + e * x(sample / 2);
  }
};

// E|g_B|^2 = |A x|^2 + c2 4 and E[g_B^T A g_B] = x^T A^3 x + c2 (16 + 4) / 2, c2 = (4 - b) / (3 b).
TEST(BatchSharpness, OfAQuadraticWithNoiseIsTheClosedForm) {
  const FunctorObjective objective(NoisyBowl(), 2, 4);
  const VectorXd x = Eigen::Vector2d(0.25, 3.0);
  const BatchMoments moments = batch_moments(objective, x, HessianOperator(objective, x));
  for (Index b = 1; b <= 4; ++b) {
    const double c2 = static_cast<double>(4 - b) / static_cast<double>(3 * b);
    EXPECT_NEAR(batch_sharpness(moments, b).value, (13.0 + 10.0 * c2) / (10.0 + 4.0 * c2), 1e-14);
  }
  // At the minimum there is noise alone, tr(A S) / tr S for any size, and of all samples nothing.
  const VectorXd minimum = VectorXd::Zero(2);
  const BatchMoments there = batch_moments(objective, minimum, HessianOperator(objective, minimum));
  for (Index b = 1; b <= 3; ++b) EXPECT_NEAR(batch_sharpness(there, b).value, 2.5, 1e-15);
  const Statistic none = batch_sharpness(there, 4);
  EXPECT_EQ(none.status, Status::kUndefinedZeroDenominator);
  EXPECT_TRUE(std::isnan(none.value));
}

// For a loss times 2^k all digits are the same, even where squares of gradients leave the range of
// double.
TEST(BatchSharpness, ScalesWithTheLoss) {
  const auto sharpness = [](int exponent) {
    std::vector<MatrixXd> matrices;
    for (std::uint64_t i = 0; i < 5; ++i) {
      matrices.push_back(std::ldexp(1.0, exponent) * test::random_symmetric(3, 40 + i));
    }
    const test::QuadraticObjective objective(std::move(matrices));
    const VectorXd theta = Eigen::Vector3d(1.0, -2.0, 0.5);
    const BatchMoments moments = batch_moments(objective, theta, HessianOperator(objective, theta));
    return batch_sharpness(moments, 2).value;
  };
  const double plain = sharpness(0);
  ASSERT_TRUE(std::isfinite(plain));
  for (const int exponent : {-990, -600, 600, 990}) {
    EXPECT_EQ(sharpness(exponent), std::ldexp(plain, exponent)) << exponent;
  }
}

TEST(BatchSharpness, IsTheSameToTheLastBitForAnyNumberOfThreads) {
  const auto moments = [](int num_threads) {
    const test::FixturePoint point("mlp-spirals-gelu", "000200", num_threads);
    const HessianOperator hessian(point.objective(), point.theta);
    return batch_moments(point.objective(), point.theta, hessian);
  };
  const BatchMoments one = moments(1);
  for (const int num_threads : {2, 5}) {
    const BatchMoments many = moments(num_threads);
    for (const Index b : {1, 2, 16}) {
      EXPECT_EQ(batch_sharpness(many, b).value, batch_sharpness(one, b).value);
    }
  }
}

TEST(BatchSharpness, OfNumbersThatAreNotFiniteIsMissing) {
  const auto quadratic = test::random_quadratic(3, 4, 5);
  for (const double bad : {kNaN, kInfinity}) {
    const VectorXd theta = Eigen::Vector3d(1.0, bad, 2.0);
    const BatchMoments moments = batch_moments(quadratic, theta, HessianOperator(quadratic, theta));
    EXPECT_EQ(moments.status, Status::kNonFinite);
    EXPECT_EQ(batch_sharpness(moments, 2).status, Status::kNonFinite);
    EXPECT_TRUE(std::isnan(batch_sharpness(moments, 2).value));
  }
}

TEST(BatchSharpness, RefusesWhatDoesNotFit) {
  const auto quadratic = test::random_quadratic(3, 4, 5);
  const VectorXd theta = VectorXd::Ones(3);
  const HessianOperator hessian(quadratic, theta);
  const BatchMoments moments = batch_moments(quadratic, theta, hessian);
  for (const Index size : {0, 5}) {
    test::expect_refusal([&] { batch_sharpness(moments, size); },
                         "batch_sharpness: batch_size must be from 1 to 4, got ");
  }
  const auto larger = test::random_quadratic(4, 4, 5);
  test::expect_refusal(
      [&] { batch_moments(quadratic, theta, HessianOperator(larger, VectorXd::Ones(4))); },
      "batch_moments: hessian must be of 3 parameters, got 4");
}

}  // namespace
}  // namespace hesscope
