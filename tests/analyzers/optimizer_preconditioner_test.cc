// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>

#include <hesscope/analyzers/adam_preconditioner.h>
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

TEST(AdamPreconditioner, IsWhatTheUpdateDividesBy) {
  const AdamOptions options = {.beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-3};
  PlainAdam adam{options.beta2};
  for (int i = 0; i < 7; ++i) {
    adam.see(std::sin(i) + 2);
    const AdamState state = {Eigen::VectorXd::Constant(1, adam.v), adam.t};
    const double v_hat = adam.v / (1 - std::pow(options.beta2, adam.t));
    const double expected = (1 - std::pow(options.beta1, adam.t)) * (std::sqrt(v_hat) + 1e-3);
    EXPECT_NEAR(adam_preconditioner(state, options)[0], expected, 1e-14);
  }
}

TEST(AdamPreconditioner, WithoutAStepNothingIsCorrected) {
  const AdamState state = {Eigen::Vector2d(4, 0), std::nullopt};
  const Eigen::VectorXd p = adam_preconditioner(state, {.epsilon = 0.5});
  EXPECT_EQ(p, Eigen::Vector2d(2.5, 0.5));
}

TEST(AdamPreconditioner, ToleratesBetaZeroAndBetaNearOne) {
  const AdamState state = {Eigen::VectorXd::Constant(1, 1.0), 1};
  EXPECT_EQ(adam_preconditioner(state, {.beta1 = 0, .beta2 = 0, .epsilon = 1})[0], 2.0);
  // v / (1 - beta2) with beta2 = 1 - 2^-40 is 2^40.
  const double near_one = 1 - std::ldexp(1.0, -40);
  const double p = adam_preconditioner(state, {.beta1 = 0, .beta2 = near_one, .epsilon = 0})[0];
  EXPECT_NEAR(p, std::ldexp(1.0, 20), 1e-7);
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

TEST(StationaryAdamState, IsTheSecondMomentOfAMinibatchGradient) {
  const Eigen::Index samples = 700;  // more than two blocks
  Eigen::MatrixXd rows(samples, 3);
  for (Eigen::Index i = 0; i < samples; ++i) {
    for (Eigen::Index j = 0; j < 3; ++j)
      rows(i, j) = std::sin(static_cast<double>(3 * i + j)) + static_cast<double>(j);
  }
  const auto objective = make_objective(Linear{rows}, 3, samples);
  const Eigen::VectorXd theta = Eigen::VectorXd::Zero(3);
  const Eigen::VectorXd mean = rows.colwise().mean();
  const AdamState full = stationary_adam_state(objective, theta, mean, 0);
  EXPECT_TRUE(full.second_moments.isApprox(mean.cwiseAbs2(), 1e-14));
  EXPECT_FALSE(full.step.has_value());
  const AdamState small = stationary_adam_state(objective, theta, mean, 10);
  for (Eigen::Index j = 0; j < 3; ++j) {
    double variance = 0;
    for (Eigen::Index i = 0; i < samples; ++i) {
      variance += (rows(i, j) - mean[j]) * (rows(i, j) - mean[j]);
    }
    variance /= static_cast<double>(samples - 1);
    EXPECT_NEAR(small.second_moments[j], mean[j] * mean[j] + variance / 10, 1e-13);
  }
}

}  // namespace
}  // namespace hesscope
