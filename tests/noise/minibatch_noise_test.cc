// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/noise/gradient_covariance.h>
#include <hesscope/noise/minibatch_noise.h>
#include <hesscope/objective/functor_objective.h>

#include "noise/naive.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using enum MinibatchSampling;
using test::FixturePoint;

// Norms of differences of means of at most some hundred gradients, of the largest gradient's norm.
constexpr double kTolerance = 1e-13;

void expect_naive(const std::vector<MinibatchNoise>& found,
                  const MinibatchNoiseOptions& options,
                  const MatrixXd& gradients) {
  const VectorXd mean = gradients.rowwise().mean();
  const double unit = gradients.colwise().norm().maxCoeff<Eigen::PropagateNaN>();
  ASSERT_GT(unit, 0.0);
  ASSERT_EQ(found.size(), options.batch_sizes.size());
  for (std::size_t b = 0; b < found.size(); ++b) {
    const Index size = options.batch_sizes[b];
    SCOPED_TRACE(size);
    EXPECT_EQ(found[b].status, Status::kOk);
    EXPECT_EQ(found[b].batch_size, size);
    ASSERT_EQ(found[b].norms.size(),
              num_minibatches(options.sampling, gradients.cols(), size, options.num_draws));
    for (Index draw = 0; draw < found[b].norms.size(); ++draw) {
      VectorXd sum = VectorXd::Zero(mean.size());
      if (options.sampling == kResampled) {
        for (const auto i : resampled_minibatch(options.seed, draw, size, gradients.cols())) {
          sum += gradients.col(i);
        }
      } else {
        for (Index i = draw * size; i < (draw + 1) * size; ++i) sum += gradients.col(i);
      }
      const double expected = (sum / static_cast<double>(size) - mean).norm();
      ASSERT_NEAR(found[b].norms[draw], expected, kTolerance * unit) << "draw " << draw;
    }
  }
}

TEST(MinibatchNoise, IsThatOfExplicitLoops) {
  for (const auto& [folder, step] : {std::pair{"mlp-spirals-tanh", "000200"},
                                     std::pair{"linear-attention-s1-adam", "000500"},
                                     std::pair{"attention-softmax", "000000"}}) {
    SCOPED_TRACE(folder);
    const FixturePoint point(folder, step);
    const MatrixXd gradients = test::naive_gradients(point.objective(), point.theta);
    for (const MinibatchSampling sampling : {kResampled, kDisjoint}) {
      const MinibatchNoiseOptions options = {
          .sampling = sampling, .batch_sizes = {1, 7, 32}, .num_draws = 40, .seed = 9};
      expect_naive(minibatch_noise(point.objective(), point.theta, options), options, gradients);
    }
  }
}

// More samples than a block of gradients holds, and minibatches across its end.
TEST(MinibatchNoise, StreamsOverBlocksOfSamples) {
  const auto objective = test::random_quadratic(2, 9000, 1);
  const VectorXd theta = Eigen::Vector2d(1.0, -2.0);
  const MatrixXd gradients = objective.per_sample_gradients(theta, objective.all_samples());
  for (const MinibatchSampling sampling : {kResampled, kDisjoint}) {
    const MinibatchNoiseOptions options = {
        .sampling = sampling, .batch_sizes = {1000, 17}, .num_draws = 300, .seed = 2};
    expect_naive(minibatch_noise(objective, theta, options), options, gradients);
  }
}

TEST(MinibatchNoise, IsTheSameToTheLastBitForAnyNumberOfThreads) {
  for (const MinibatchSampling sampling : {kResampled, kDisjoint}) {
    MinibatchNoiseOptions options = {
        .sampling = sampling, .batch_sizes = {5, 64}, .num_draws = 60, .num_threads = 1};
    const FixturePoint alone("mlp-spirals-gelu", "000200", 1);
    const auto reference = minibatch_noise(alone.objective(), alone.theta, options);
    for (const int num_threads : {2, 3, 8}) {
      const FixturePoint point("mlp-spirals-gelu", "000200", num_threads);
      options.num_threads = num_threads;
      const auto found = minibatch_noise(point.objective(), point.theta, options);
      for (std::size_t b = 0; b < 2; ++b) EXPECT_TRUE(found[b].norms == reference[b].norms);
    }
  }
}

TEST(MinibatchNoise, OfASizeDoesNotDependOnTheOtherSizes) {
  const FixturePoint point("mlp-spirals-gelu", "000200");
  const auto both =
      minibatch_noise(point.objective(), point.theta, {.batch_sizes = {4, 16}, .num_draws = 20});
  const auto alone =
      minibatch_noise(point.objective(), point.theta, {.batch_sizes = {16}, .num_draws = 20});
  EXPECT_TRUE(both[1].norms == alone[0].norms);
  const auto fewer =
      minibatch_noise(point.objective(), point.theta, {.batch_sizes = {16}, .num_draws = 7});
  EXPECT_TRUE(fewer[0].norms == alone[0].norms.head(7));
}

// E |g_i - g|^2 = (N - 1) / N tr S / B with replacement; the mean of 4,000 squares within four of
// its standard errors.
TEST(MinibatchNoise, ShrinksAsTheCovarianceOverTheBatchSize) {
  const FixturePoint point("mlp-spirals-tanh", "000200");
  const GradientCovariance covariance =
      gradient_covariance(point.objective(), point.theta, {.with_matrix = false});
  const auto count = static_cast<double>(covariance.num_samples);
  for (const MinibatchNoise& noise : minibatch_noise(
           point.objective(), point.theta, {.batch_sizes = {1, 16, 256}, .num_draws = 4000})) {
    SCOPED_TRACE(noise.batch_size);
    const VectorXd squares = noise.norms.array().square();
    const double deviation = std::sqrt((squares.array() - squares.mean()).square().mean() / 4000.0);
    const double expected =
        (count - 1.0) / count * covariance.trace / static_cast<double>(noise.batch_size);
    EXPECT_NEAR(squares.mean(), expected, 4.0 * deviation);
  }
}

TEST(MinibatchNoise, OfTheWholeDataSetIsZero) {
  const FixturePoint point("mlp-spirals-gelu", "000200");
  const Index num_samples = point.objective().num_samples();
  const auto found = minibatch_noise(
      point.objective(), point.theta, {.sampling = kDisjoint, .batch_sizes = {num_samples}});
  ASSERT_EQ(found[0].norms.size(), 1);
  EXPECT_LE(found[0].norms[0], 1e-15);
}

// Loss of sample i: x_0 over i.
struct Reciprocal {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Index sample) const {
    return x[0] / static_cast<double>(sample);
  }
};

TEST(MinibatchNoise, SaysThatAGradientIsNotFinite) {
  const auto objective = make_objective(Reciprocal{}, 1, 50);
  for (const MinibatchSampling sampling : {kResampled, kDisjoint}) {
    const auto found = minibatch_noise(
        objective, VectorXd::Ones(1), {.sampling = sampling, .batch_sizes = {3}, .num_draws = 4});
    EXPECT_EQ(found[0].status, Status::kNonFinite);
    EXPECT_EQ(found[0].norms.size(), 0);
  }
}

TEST(MinibatchNoise, StopsWhenAsked) {
  const auto objective = test::random_quadratic(2, 10, 1);
  for (const MinibatchSampling sampling : {kResampled, kDisjoint}) {
    EXPECT_THROW(
        minibatch_noise(
            objective, VectorXd::Ones(2), {.sampling = sampling}, [](double) { return false; }),
        Interrupted);
  }
}

TEST(MinibatchNoise, RefusesWhatItCannotDo) {
  const auto objective = test::random_quadratic(2, 10, 1);
  const auto call = [&](const MinibatchNoiseOptions& options, Index n = 2) {
    return [&objective, options, n] { minibatch_noise(objective, VectorXd::Ones(n), options); };
  };
  test::expect_refusal(call({}, 3), "theta must have 2 entries");
  test::expect_refusal(call({.batch_sizes = {}}), "batch_sizes must not be empty");
  test::expect_refusal(call({.batch_sizes = {2, 0}}), "got 10, 0 and 1000");
  test::expect_refusal(call({.num_draws = 0}), "got 10, 1 and 0");
  test::expect_refusal(call({.num_threads = -1}), "num_threads");
  test::expect_refusal(call({.sampling = kDisjoint, .batch_sizes = {11}}), "at most 10 samples");
}

}  // namespace
}  // namespace hesscope
