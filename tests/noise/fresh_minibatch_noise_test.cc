// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/noise/fresh_minibatch_noise.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/sampling/linear_regression.h>

#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

class FreshMinibatchNoiseTest : public testing::Test {
 protected:
  static Model model() { return linear_attention({.layers = 2, .dimension = 2, .context = 4}); }

  VectorXd theta() const { return VectorXd::LinSpaced(objective_.num_parameters(), -0.4, 0.5); }

  // The gradient over samples first ... first + count - 1, all of them held.
  VectorXd gradient(std::uint64_t seed, Index first, Index count) const {
    SampleTable table(count, 16);
    for (Index i = 0; i < count; ++i) {
      sampler_.draw(
          seed, Stream::kNoise, static_cast<std::uint64_t>(first + i), {table.row(i).data(), 16});
    }
    const GraphObjective held(model(), table, {.num_threads = 1});
    return held.gradient(theta(), held.all_samples());
  }

  LinearRegression sampler_{{.dimension = 2, .context = 4}};
  GraphObjective objective_{model(), SampleTable::Zero(1, 16), {.num_threads = 2}};
  std::unique_ptr<FreshSamples> fresh_ = fresh_samples(objective_, sampler_, "sampler");
};

TEST_F(FreshMinibatchNoiseTest, IsThatOfExplicitLoops) {
  const FreshMinibatchNoiseOptions options = {
      .batch_sizes = {1, 70}, .num_draws = 80, .reference_batches = 3, .seed = 5};
  const auto found = fresh_minibatch_noise(*fresh_, theta(), options);
  ASSERT_EQ(found.size(), 2u);
  for (std::size_t b = 0; b < 2; ++b) {
    const Index size = options.batch_sizes[b];
    EXPECT_EQ(found[b].batch_size, size);
    EXPECT_EQ(found[b].status, Status::kOk);
    ASSERT_EQ(found[b].norms.size(), 80);
    const VectorXd reference = gradient(5, 0, 3 * size);
    for (Index i = 0; i < 80; ++i) {
      const VectorXd of_batch = gradient(5, (3 + i) * size, size);
      const double unit = of_batch.norm() + reference.norm();
      EXPECT_NEAR(found[b].norms[i], (of_batch - reference).norm(), 1e-13 * unit);
    }
  }
}

// Fresh minibatches are independent: E |g_i - g|^2 = tr S (1 / B + 1 / (R B)), S the covariance of
// one sample's gradient, whatever B.
TEST_F(FreshMinibatchNoiseTest, FallsAsOneOverTheRootOfTheBatchSize) {
  // Light tails, so that few draws will do.
  const LinearRegression sphere({.dimension = 2, .context = 4, .covariates = Covariates::kSphere});
  const auto samples = fresh_samples(objective_, sphere, "sphere");
  const auto found = fresh_minibatch_noise(
      *samples, theta(), {.batch_sizes = {4, 64}, .num_draws = 2000, .reference_batches = 500});
  const double ratio = found[0].norms.squaredNorm() / found[1].norms.squaredNorm();
  double deviation = 0;  // relative variance of the mean squares
  for (const auto& noise : found) {
    const Eigen::ArrayXd squares = noise.norms.array().square();
    const double variance = (squares - squares.mean()).square().mean();
    deviation += variance / (squares.mean() * squares.mean() * 2000);
  }
  EXPECT_LE(std::abs(std::log(ratio / 16)), 4.9 * std::sqrt(deviation));
  EXPECT_LE(4.9 * std::sqrt(deviation), 0.7) << "the bound says something";
}

TEST_F(FreshMinibatchNoiseTest, DependsOnNothingButItsSeed) {
  const FreshMinibatchNoiseOptions options = {
      .batch_sizes = {65}, .num_draws = 70, .reference_batches = 2, .seed = 1, .num_threads = 1};
  const auto once = fresh_minibatch_noise(*fresh_, theta(), options);
  FreshMinibatchNoiseOptions other = options;
  other.num_threads = 4;
  EXPECT_EQ(fresh_minibatch_noise(*fresh_, theta(), other)[0].norms, once[0].norms);
  other.batch_sizes = {1, 65};
  EXPECT_EQ(fresh_minibatch_noise(*fresh_, theta(), other)[1].norms, once[0].norms);
  other = options;
  other.seed = 2;
  EXPECT_NE(fresh_minibatch_noise(*fresh_, theta(), other)[0].norms, once[0].norms);
}

TEST_F(FreshMinibatchNoiseTest, SaysWhereItIsNotFinite) {
  VectorXd point = theta();
  point[0] = kInfinity;
  const auto found = fresh_minibatch_noise(*fresh_, point, {.num_draws = 3});
  EXPECT_EQ(found[0].status, Status::kNonFinite);
  EXPECT_EQ(found[0].norms.size(), 0);
}

TEST_F(FreshMinibatchNoiseTest, ReportsProgressAndStops) {
  double last = 0;
  fresh_minibatch_noise(*fresh_, theta(), {.batch_sizes = {1, 2}, .num_draws = 100}, [&](double f) {
    EXPECT_GT(f, last);
    last = f;
    return true;
  });
  EXPECT_DOUBLE_EQ(last, 1);
  EXPECT_THROW(fresh_minibatch_noise(*fresh_, theta(), {}, [](double) { return false; }),
               Interrupted);
}

TEST_F(FreshMinibatchNoiseTest, RefusesWhatCannotBe) {
  const auto refuse = [&](const FreshMinibatchNoiseOptions& options) {
    test::expect_refusal([&] { fresh_minibatch_noise(*fresh_, theta(), options); },
                         "of at least 1");
  };
  refuse({.batch_sizes = {}});
  refuse({.batch_sizes = {2, 0}});
  refuse({.num_draws = 0});
  refuse({.reference_batches = 0});
  test::expect_refusal([&] { fresh_minibatch_noise(*fresh_, VectorXd::Zero(3)); },
                       "theta must have");
}

}  // namespace
}  // namespace hesscope
