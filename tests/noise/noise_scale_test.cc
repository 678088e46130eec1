// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/noise/noise_scale.h>

#include "noise/naive.h"
#include "support/refusal.h"
#include "support/weighted_mean.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::FixturePoint;
using test::QuadraticObjective;

// The two ratios from per-sample gradients and Hessians by the formulas themselves.
struct Naive {
  double simple;
  double hessian;

  Naive(const MatrixXd& gradients, const MatrixXd& h) {
    const VectorXd g = gradients.rowwise().mean();
    const MatrixXd s = test::naive_covariance(gradients);
    simple = s.trace() / g.dot(g);
    hessian = (h * s).trace() / (g.dot(h * g));
  }
};

TEST(NoiseScales, AreThoseOfTheFormulas) {
  for (const auto& [folder, step] :
       {std::pair{"mlp-spirals-tanh", "000200"}, std::pair{"linear-attention-s1-adam", "000500"}}) {
    SCOPED_TRACE(folder);
    const FixturePoint point(folder, step);
    const Objective& objective = point.objective();
    const MatrixXd h = objective.hessian(point.theta);
    const Naive expected(test::naive_gradients(objective, point.theta), h);
    const GradientCovariance covariance = gradient_covariance(objective, point.theta);
    const NoiseScales found = noise_scales(objective, point.theta, covariance, h);
    ASSERT_EQ(found.simple.value.status, Status::kOk);
    ASSERT_EQ(found.hessian.value.status, Status::kOk);
    EXPECT_NEAR(found.simple.value.value / expected.simple, 1.0, 1e-12);
    EXPECT_NEAR(found.hessian.value.value / expected.hessian, 1.0, 1e-9);
    const NoiseScales simple_only = noise_scales(objective, point.theta, covariance);
    EXPECT_EQ(simple_only.simple.value.value, found.simple.value.value);
    EXPECT_EQ(simple_only.simple.standard_error.value, found.simple.standard_error.value);
    EXPECT_EQ(simple_only.hessian.value.status, Status::kNotComputed);
  }
}

constexpr Index kNumSamples = 23;
constexpr Index kNumBlocks = 7;  // of 4, 4, 3, 3, 3, 3, 3

// A mean over samples alone, of what an objective has of them: what they weigh divides it, and
// weight decay, of which y is the gradient or the Hessian at w = 1, is as it is.
MatrixXd over_others(const MatrixXd& x, double num_samples, double weight, const MatrixXd& decay) {
  return num_samples / weight * (x - decay) + decay;
}

// Everything again without each block, and Busing, Meijer & van der Leeden's pseudo-values.
void expect_errors_from_scratch(const QuadraticObjective& objective) {
  const VectorXd theta = Eigen::Vector4d(1.0, -0.5, 2.0, 0.3);
  const MatrixXd gradients = test::naive_gradients(objective, theta);
  const Naive all(gradients, objective.hessian(theta));
  std::vector<double> h_j;
  std::vector<Naive> without;
  Index begin = 0;
  for (Index b = 0; b < kNumBlocks; ++b) {
    const Index size = b < kNumSamples % kNumBlocks ? 4 : 3;
    const Index rest = kNumSamples - size;
    MatrixXd kept(4, rest);
    MatrixXd h = MatrixXd::Zero(4, 4);
    double weight = 0.0;
    Index column = 0;
    for (Index i = 0; i < kNumSamples; ++i) {
      if (i >= begin && i < begin + size) continue;
      kept.col(column++) = gradients.col(i);
      h += objective.hessian(theta, {i, i + 1}, {}) / static_cast<double>(rest);
      weight += objective.sample_weight({i, i + 1});
    }
    const auto count = static_cast<double>(rest);
    const double decay = objective.weight_decay();
    without.emplace_back(over_others(kept, count, weight, (decay * theta).replicate(1, rest)),
                         over_others(h, count, weight, decay * MatrixXd::Identity(4, 4)));
    h_j.push_back(static_cast<double>(kNumSamples) / static_cast<double>(size));
    begin += size;
  }
  ASSERT_EQ(begin, kNumSamples);
  const NoiseScales found = noise_scales(objective,
                                         theta,
                                         gradient_covariance(objective, theta),
                                         objective.hessian(theta),
                                         {.num_blocks = kNumBlocks});
  const auto expect_jackknife = [&](const NoiseScale& scale, double Naive::*figure) {
    double theta_j = kNumBlocks * (all.*figure);
    for (std::size_t b = 0; b < kNumBlocks; ++b) {
      theta_j -= (1.0 - 1.0 / h_j[b]) * (without[b].*figure);
    }
    double variance = 0.0;
    for (std::size_t b = 0; b < kNumBlocks; ++b) {
      const double pseudo = h_j[b] * (all.*figure) - (h_j[b] - 1.0) * (without[b].*figure);
      variance += (pseudo - theta_j) * (pseudo - theta_j) / (h_j[b] - 1.0) / kNumBlocks;
    }
    EXPECT_EQ(scale.value.status, Status::kOk);
    EXPECT_NEAR(scale.value.value / (all.*figure), 1.0, 1e-12);
    EXPECT_NEAR(scale.bias.value, (all.*figure) - theta_j, 1e-10 * std::abs(all.*figure));
    EXPECT_NEAR(scale.standard_error.value / std::sqrt(variance), 1.0, 1e-10);
  };
  expect_jackknife(found.simple, &Naive::simple);
  expect_jackknife(found.hessian, &Naive::hessian);
}

TEST(NoiseScales, HaveTheErrorsOfTheJackknifeFromScratch) {
  expect_errors_from_scratch(test::random_quadratic(4, kNumSamples, 3));
}

// Leaving out a sample whose gradient is by far the largest must leave no trace of it.
TEST(NoiseScales, HaveTheSameErrorsWithAnOutlier) {
  for (const double size : {1e3, 1e6, 1e12}) {
    SCOPED_TRACE(size);
    std::vector<MatrixXd> matrices;
    for (std::uint64_t i = 0; i < kNumSamples; ++i) {
      matrices.push_back(test::random_symmetric(4, 3 + i) + 2.0 * MatrixXd::Identity(4, 4));
    }
    matrices[5] = size * Eigen::Vector4d(1.0, 2.0, 3.0, 4.0).asDiagonal();
    expect_errors_from_scratch(QuadraticObjective(std::move(matrices)));
  }
}

// Class weights, targets that are ignored, and weight decay.
TEST(NoiseScales, OfAMeanWithWeightsDivideByThoseOutsideTheBlock) {
  std::vector<MatrixXd> matrices;
  for (std::uint64_t i = 0; i < kNumSamples; ++i) {
    matrices.push_back(test::random_symmetric(4, 3 + i) + 2.0 * MatrixXd::Identity(4, 4));
  }
  VectorXd weights = VectorXd::LinSpaced(kNumSamples, 1.0, 3.0);
  weights[4] = 0.0;
  weights[20] = 9.0;
  for (const double decay : {0.0, 0.3}) {
    SCOPED_TRACE(decay);
    expect_errors_from_scratch(test::WeightedMean(matrices, weights, decay));
  }
  // An outlier, of which the others are computed alone.
  matrices[5] *= 1e6;
  expect_errors_from_scratch(test::WeightedMean(matrices, weights, 0.3));
}

// Where all that counts is in one block, nothing is left without it.
TEST(NoiseScales, OfSamplesThatWeighNothingAreNotFinite) {
  const std::vector<MatrixXd> matrices(6, MatrixXd::Identity(3, 3));
  VectorXd weights = VectorXd::Zero(6);
  weights[2] = 1.0;
  const test::WeightedMean objective(matrices, weights, 0.5);
  const VectorXd theta = VectorXd::Ones(3);
  const NoiseScales found = noise_scales(
      objective, theta, gradient_covariance(objective, theta), objective.hessian(theta));
  EXPECT_EQ(found.simple.value.status, Status::kOk);
  EXPECT_EQ(found.simple.bias.status, Status::kNonFinite);
  EXPECT_EQ(found.hessian.standard_error.status, Status::kNonFinite);
}

// With H = I everywhere both are tr(S) / |g|^2. Here gradients are c_i theta, with c_i = 1, 3, 1,
// 3, ...: S = N / (N - 1) theta theta^T and g = 2 theta.
TEST(NoiseScales, OfScaledIdentitiesAreTheClosedForm) {
  std::vector<MatrixXd> matrices;
  for (int i = 0; i < 10; ++i) {
    matrices.push_back(MatrixXd::Identity(3, 3) * (i % 2 == 0 ? 1.0 : 3.0));
  }
  const QuadraticObjective objective(std::move(matrices));
  const VectorXd theta = Eigen::Vector3d(1.0, 2.0, 3.0);
  const NoiseScales found = noise_scales(
      objective, theta, gradient_covariance(objective, theta), objective.hessian(theta));
  EXPECT_NEAR(found.simple.value.value, 10.0 / 9.0 / 4.0, 1e-14);
  EXPECT_NEAR(found.hessian.value.value, 10.0 / 9.0 / 4.0, 1e-14);
}

TEST(NoiseScales, AreTheSameToTheLastBitForAnyNumberOfThreads) {
  const auto scales = [](int num_threads) {
    const FixturePoint point("mlp-spirals-gelu", "000200", num_threads);
    return noise_scales(
        point.objective(),
        point.theta,
        gradient_covariance(point.objective(), point.theta, {.num_threads = num_threads}),
        point.objective().hessian(point.theta),
        {.num_threads = num_threads});
  };
  const NoiseScales reference = scales(1);
  for (const int num_threads : {2, 5}) {
    const NoiseScales found = scales(num_threads);
    for (const auto scale : {&NoiseScales::simple, &NoiseScales::hessian}) {
      for (const auto number :
           {&NoiseScale::value, &NoiseScale::bias, &NoiseScale::standard_error}) {
        ASSERT_EQ((reference.*scale.*number).status, Status::kOk);
        EXPECT_EQ((found.*scale.*number).value, (reference.*scale.*number).value);
      }
    }
  }
}

TEST(NoiseScales, SayWhatIsUndefined) {
  // Gradients of both signs that cancel.
  const MatrixXd identity = MatrixXd::Identity(2, 2);
  const QuadraticObjective stationary({identity, -identity, identity, -identity});
  const VectorXd theta = Eigen::Vector2d(0.1, 0.7);
  const GradientCovariance covariance = gradient_covariance(stationary, theta);
  const NoiseScales found = noise_scales(stationary, theta, covariance, stationary.hessian(theta));
  EXPECT_EQ(found.simple.value.status, Status::kUndefinedZeroDenominator);
  EXPECT_EQ(found.hessian.value.status, Status::kUndefinedZeroDenominator);
  EXPECT_TRUE(std::isnan(found.simple.standard_error.value));

  // Gradients that cancel but for rounding, where the curvature along what is left is clear.
  const QuadraticObjective almost({3.0 * identity, -identity});
  const VectorXd tiny = Eigen::Vector2d(1.0, 0.0);
  GradientCovariance cancelled = gradient_covariance(almost, tiny);
  cancelled.mean *= 1e-16;
  const NoiseScales of_rounding = noise_scales(almost, tiny, cancelled, almost.hessian(tiny));
  EXPECT_EQ(of_rounding.simple.value.status, Status::kUndefinedZeroDenominator);
  EXPECT_EQ(of_rounding.hessian.value.status, Status::kUndefinedZeroDenominator);
  EXPECT_TRUE(is_gradient_zero(cancelled));
  EXPECT_FALSE(is_gradient_zero(gradient_covariance(almost, tiny)));

  // Curvature along the gradient whose sign hangs on one sample.
  const QuadraticObjective unsure({identity, identity, -0.9 * identity, -0.9 * identity});
  const NoiseScales changing = noise_scales(
      unsure, theta, gradient_covariance(unsure, theta), unsure.hessian(theta), {.num_blocks = 4});
  EXPECT_EQ(changing.hessian.value.status, Status::kOk);
  EXPECT_EQ(changing.hessian.standard_error.status, Status::kUndefinedZeroDenominator);

  // Only one sample has a gradient that is not zero: without it, only rounding is left.
  const MatrixXd zero = MatrixXd::Zero(2, 2);
  const QuadraticObjective single({zero, zero, identity, zero, zero});
  for (const double first : {0.1, 0.3, 0.7}) {
    const VectorXd at = Eigen::Vector2d(first, 0.9);
    const NoiseScales of_one =
        noise_scales(single, at, gradient_covariance(single, at), single.hessian(at));
    for (const NoiseScale* scale : {&of_one.simple, &of_one.hessian}) {
      EXPECT_EQ(scale->value.status, Status::kOk);
      EXPECT_EQ(scale->bias.status, Status::kUndefinedZeroDenominator) << first;
      EXPECT_EQ(scale->standard_error.status, Status::kUndefinedZeroDenominator) << first;
    }
  }

  // Two samples have a covariance, one has none.
  const QuadraticObjective two({identity, 3.0 * identity});
  const NoiseScales of_two = noise_scales(two, theta, gradient_covariance(two, theta));
  EXPECT_NEAR(of_two.simple.value.value, 0.5, 1e-15);
  EXPECT_EQ(of_two.simple.standard_error.status, Status::kUndefinedTooFewPoints);
  EXPECT_EQ(of_two.simple.bias.status, Status::kUndefinedTooFewPoints);

  const VectorXd bad = VectorXd::Constant(2, kInfinity);
  const NoiseScales none =
      noise_scales(two, bad, gradient_covariance(two, bad), MatrixXd::Identity(2, 2));
  EXPECT_EQ(none.simple.value.status, Status::kNonFinite);
  EXPECT_EQ(none.hessian.value.status, Status::kNonFinite);
  const NoiseScales bad_hessian = noise_scales(
      two, theta, gradient_covariance(two, theta), MatrixXd::Constant(2, 2, std::log(-1.0)));
  EXPECT_EQ(bad_hessian.simple.value.status, Status::kOk);
  EXPECT_EQ(bad_hessian.hessian.value.status, Status::kNonFinite);
}

TEST(NoiseScales, RefuseWhatDoesNotFit) {
  const auto objective = test::random_quadratic(2, 10, 1);
  const VectorXd theta = VectorXd::Ones(2);
  const GradientCovariance covariance = gradient_covariance(objective, theta);
  const GradientCovariance trace_only =
      gradient_covariance(objective, theta, {.with_matrix = false});
  const MatrixXd h = MatrixXd::Identity(2, 2);
  test::expect_refusal([&] { noise_scales(objective, VectorXd::Ones(3), covariance); },
                       "theta must have 2 entries");
  test::expect_refusal([&] { noise_scales(objective, theta, GradientCovariance()); },
                       "covariance must be of 10 samples");
  test::expect_refusal([&] { noise_scales(objective, theta, covariance, {.num_blocks = 1}); },
                       "num_blocks must be at least 2, got 1");
  test::expect_refusal([&] { noise_scales(objective, theta, trace_only, h); },
                       "covariance's matrix must be 2 x 2");
  test::expect_refusal([&] { noise_scales(objective, theta, covariance, MatrixXd::Ones(3, 2)); },
                       "got 3 x 2");
  EXPECT_THROW(noise_scales(objective, theta, covariance, h, {}, [](double) { return false; }),
               Interrupted);
}

}  // namespace
}  // namespace hesscope
