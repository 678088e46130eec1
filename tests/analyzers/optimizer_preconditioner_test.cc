// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/analyzers/optimizer_preconditioner.h>
#include <hesscope/core/constants.h>
#include <hesscope/objective/functor_objective.h>

namespace hesscope {
namespace {

// Adam as published, run for t steps on one fixed sequence of gradients.
struct PlainAdam {
  double beta2;
  double v = 0;
  int t = 0;

  void see(double gradient) {
    ++t;
    v = beta2 * v + (1 - beta2) * gradient * gradient;
  }
};

const std::vector<ParameterBlock> kTwoBlocks = {
    {.name = "a", .shape = {1}, .offset = 0, .size = 1},
    {.name = "b", .shape = {1}, .offset = 1, .size = 1}};

// Two parameters of one group, with one v and t.
OptimizerState state_of(OptimizerKind kind,
                        const OptimizerSettings& settings,
                        double v,
                        std::optional<std::int64_t> t) {
  return {.kind = kind,
          .groups = {settings},
          .blocks = {{.group = 0, .step = t}, {.group = 0, .step = t}},
          .second_moments = Eigen::VectorXd::Constant(2, v)};
}

TEST(OptimizerPreconditioner, IsWhatAdamsUpdateDividesBy) {
  const OptimizerSettings settings = {.beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-3};
  PlainAdam adam{*settings.beta2};
  for (int i = 0; i < 7; ++i) {
    adam.see(std::sin(i) + 2);
    const OptimizerState state = state_of(OptimizerKind::kAdam, settings, adam.v, adam.t);
    const double v_hat = adam.v / (1 - std::pow(0.99, adam.t));
    const double expected = (1 - std::pow(0.9, adam.t)) * (std::sqrt(v_hat) + 1e-3);
    const Preconditioner found = optimizer_preconditioner(state, {}, kTwoBlocks);
    EXPECT_NEAR(found.diagonal[0], expected, 1e-14);
    EXPECT_EQ(found.step, averaged_step(0.9));
    EXPECT_FALSE(found.learning_rate.has_value());
  }
}

TEST(OptimizerPreconditioner, WithoutAStepNothingIsCorrected) {
  OptimizerState state = state_of(OptimizerKind::kAdam, {.epsilon = 0.5}, 4, std::nullopt);
  state.second_moments[1] = 0;
  EXPECT_EQ(optimizer_preconditioner(state, {}, kTwoBlocks).diagonal, Eigen::Vector2d(2.5, 0.5));
}

TEST(OptimizerPreconditioner, ToleratesBetaZeroAndBetaNearOne) {
  const OptimizerState state = state_of(OptimizerKind::kAdam, {}, 1, 1);
  const GivenSettings zero = {.beta1 = 0, .beta2 = 0, .epsilon = 1};
  EXPECT_EQ(optimizer_preconditioner(state, zero, kTwoBlocks).diagonal[0], 2.0);
  // v / (1 - beta2) with beta2 = 1 - 2^-40 is 2^40.
  const GivenSettings near_one = {.beta1 = 0, .beta2 = 1 - std::ldexp(1.0, -40), .epsilon = 0};
  const double p = optimizer_preconditioner(state, near_one, kTwoBlocks).diagonal[0];
  EXPECT_NEAR(p, std::ldexp(1.0, 20), 1e-7);
}

TEST(OptimizerPreconditioner, TakesWhatIsGivenThenWhatIsStoredThenDefaults) {
  const OptimizerSettings stored = {.learning_rate = 0.1, .beta1 = 0.5};
  const OptimizerState state = state_of(OptimizerKind::kAdam, stored, 4, std::nullopt);
  Preconditioner found = optimizer_preconditioner(state, {}, kTwoBlocks);
  EXPECT_EQ(found.learning_rate, 0.1);
  EXPECT_EQ(found.step, averaged_step(0.5));
  EXPECT_EQ(found.diagonal[0], 2 + 1e-8);
  found = optimizer_preconditioner(state, {.learning_rate = 0.2, .beta1 = 0.25}, kTwoBlocks);
  EXPECT_EQ(found.learning_rate, 0.2);
  EXPECT_EQ(found.step, averaged_step(0.25));
}

TEST(OptimizerPreconditioner, PutsLearningRatesOfGroupsIntoP) {
  OptimizerState state = state_of(OptimizerKind::kAdam, {.learning_rate = 0.1}, 4, std::nullopt);
  state.groups.push_back({.learning_rate = 0.025, .epsilon = 1});
  state.blocks[1].group = 1;
  Preconditioner found = optimizer_preconditioner(state, {}, kTwoBlocks);
  EXPECT_EQ(found.learning_rate, 0.1);
  EXPECT_DOUBLE_EQ(found.diagonal[0], 2 + 1e-8);
  EXPECT_DOUBLE_EQ(found.diagonal[1], 3 * 4);  // its learning rate is a quarter
  EXPECT_EQ(found.step, averaged_step(0.9));

  state.groups[1].beta1 = 0.8;
  found = optimizer_preconditioner(state, {}, kTwoBlocks);
  EXPECT_FALSE(found.step.has_value());
  EXPECT_EQ(found.obstacle, "its groups differ in their momentum");
  EXPECT_TRUE(optimizer_preconditioner(state, {.beta1 = 0.9}, kTwoBlocks).step.has_value());

  // Neither a learning rate of zero nor a parameter that was not given to it is moved.
  state.groups[1] = {.learning_rate = 0};
  EXPECT_EQ(optimizer_preconditioner(state, {}, kTwoBlocks).diagonal[1], kInfinity);
  state.blocks[1].group.reset();
  found = optimizer_preconditioner(state, {}, kTwoBlocks);
  EXPECT_EQ(found.diagonal[1], kInfinity);
  EXPECT_EQ(found.learning_rate, 0.1);
  EXPECT_TRUE(found.step.has_value());
}

// Rounded apart, the mean of squares of equal gradients may be below the square of their mean.
TEST(OptimizerPreconditioner, TakesTheVarianceOfEqualGradientsForZero) {
  const OptimizerSettings settings = {.epsilon = 0.5, .is_centered = true};
  const double square = 0.1 * 0.1;
  OptimizerState state = state_of(OptimizerKind::kRmsprop, settings, square, std::nullopt);
  state.first_moments = Eigen::Vector2d(std::nextafter(0.1, 1), kNaN);
  const Eigen::VectorXd p = optimizer_preconditioner(state, {}, kTwoBlocks).diagonal;
  EXPECT_EQ(p[0], 0.5);
  EXPECT_TRUE(std::isnan(p[1]));
}

TEST(OptimizerPreconditioner, HasNoThresholdOfWhatItDoesNotKnow) {
  const auto obstacle = [](OptimizerKind kind, const OptimizerSettings& settings) {
    const Preconditioner found =
        optimizer_preconditioner(state_of(kind, settings, 1, std::nullopt), {}, kTwoBlocks);
    EXPECT_EQ(found.step.has_value(), found.obstacle.empty());
    return found.obstacle;
  };
  EXPECT_EQ(obstacle(OptimizerKind::kSgd, {.is_maximizing = true}), "it ascends (maximize)");
  EXPECT_EQ(obstacle(OptimizerKind::kAdagrad, {.learning_rate_decay = 0.1}),
            "Adagrad's step is missing");
  EXPECT_EQ(obstacle(OptimizerKind::kNAdam, {}),
            "NAdam's step, mu_product or momentum_decay is missing");
  EXPECT_EQ(obstacle(OptimizerKind::kUnknown, {}), "which optimiser it is is not known");
  EXPECT_EQ(obstacle(OptimizerKind::kAdagrad, {}), "");
}

// Loss of sample i: a_i . x, so its gradient is a_i.
struct Linear {
  Eigen::MatrixXd rows;

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Eigen::Index sample) const {
    T sum = T(0);
    for (Eigen::Index j = 0; j < x.size(); ++j) sum += rows(sample, j) * x[j];
    return sum;
  }
};

TEST(StationarySecondMoments, IsTheSecondMomentOfAMinibatchGradient) {
  const Eigen::Index samples = 700;  // more than two blocks
  Eigen::MatrixXd rows(samples, 3);
  for (Eigen::Index i = 0; i < samples; ++i) {
    for (Eigen::Index j = 0; j < 3; ++j)
      rows(i, j) = std::sin(static_cast<double>(3 * i + j)) + static_cast<double>(j);
  }
  const auto objective = make_objective(Linear{rows}, 3, samples);
  const Eigen::VectorXd theta = Eigen::VectorXd::Zero(3);
  const Eigen::VectorXd mean = rows.colwise().mean();
  const Eigen::VectorXd full = stationary_second_moments(objective, theta, mean, 0);
  EXPECT_TRUE(full.isApprox(mean.cwiseAbs2(), 1e-14));
  const Eigen::VectorXd small = stationary_second_moments(objective, theta, mean, 10);
  for (Eigen::Index j = 0; j < 3; ++j) {
    double variance = 0;
    for (Eigen::Index i = 0; i < samples; ++i) {
      variance += (rows(i, j) - mean[j]) * (rows(i, j) - mean[j]);
    }
    variance /= static_cast<double>(samples - 1);
    EXPECT_NEAR(small[j], mean[j] * mean[j] + variance / 10, 1e-13);
  }
}

}  // namespace
}  // namespace hesscope
