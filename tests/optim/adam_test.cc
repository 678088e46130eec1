// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>

#include "optim/rules.h"

namespace hesscope {
namespace {

using Eigen::VectorXd;
using test::distance;
using test::numbers;
using test::rule;
using test::vector;

// Both corrections undo the start at zero exactly: m^ = g and v^ = g^2 as long as g stays the same.
TEST(Adam, GivesAConstantGradientItsSignFromTheFirstStepOn) {
  for (const double beta : {0.0, 0.5, 0.9}) {
    const auto adam = rule("adam", 3, {{"beta1", beta}, {"epsilon", 1e-8}});
    const VectorXd g = vector({1e-3, -2, 5e4});
    for (int t = 1; t <= 50; ++t) {
      const VectorXd u = adam->step(g, g);
      for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(u[i], -g[i] / (std::abs(g[i]) + 1e-8), 1e-12) << beta << " " << t;
      }
    }
  }
}

TEST(Adam, AddsEpsilonOutsideTheRoot) {
  const auto adam = rule("adam", 1, {{"epsilon", 0.25}});
  // m^ = v^ = 1: 1 / (1 + 1/4); inside the root it would be 1 / sqrt(1 + 1/4) = 0.894...
  EXPECT_NEAR(adam->step(vector({0}), vector({1}))[0], -0.8, 1e-15);
}

// After the gradients 1, 0, -2: with beta1 = 1/2, beta2 = 3/4,
//   m = 1/2, 1/4, -7/8      m^ = 1, 1/3, -1
//   v = 1/4, 3/16, 73/64    v^ = 1, 3/7, 73/37
TEST(Adam, FollowsATrajectoryByHand) {
  const auto adam = rule("adam", 1, {{"beta1", 0.5}, {"beta2", 0.75}, {"epsilon", 0.5}});
  const VectorXd x = vector({3});
  EXPECT_NEAR(adam->step(x, vector({1}))[0], -1 / 1.5, 1e-15);
  EXPECT_NEAR(adam->step(x, vector({0}))[0], -(1.0 / 3) / (std::sqrt(3.0 / 7) + 0.5), 1e-15);
  EXPECT_NEAR(adam->step(x, vector({-2}))[0], 1 / (std::sqrt(73.0 / 37) + 0.5), 1e-15);
}

// The algorithm as PyTorch's documentation states it, a number at a time.
VectorXd by_plain_loops(bool is_decoupled, double decay, int steps, VectorXd theta) {
  const double lr = 0.1;
  const double beta1 = 0.9;
  const double beta2 = 0.99;
  const double epsilon = 1e-3;
  for (Eigen::Index i = 0; i < theta.size(); ++i) {
    double m = 0;
    double v = 0;
    for (int t = 1; t <= steps; ++t) {
      double g = numbers(theta.size(), static_cast<std::uint64_t>(t))[i];
      if (is_decoupled) {
        theta[i] -= lr * decay * theta[i];
      } else {
        g += decay * theta[i];
      }
      m = beta1 * m + (1 - beta1) * g;
      v = beta2 * v + (1 - beta2) * g * g;
      const double m_hat = m / (1 - std::pow(beta1, t));
      const double v_hat = v / (1 - std::pow(beta2, t));
      theta[i] -= lr * m_hat / (std::sqrt(v_hat) + epsilon);
    }
  }
  return theta;
}

TEST(Adam, AgreesWithPlainLoops) {
  for (const bool is_decoupled : {false, true}) {
    for (const double decay : {0.0, 0.3}) {
      const auto adam =
          rule(is_decoupled ? "adamw" : "adam",
               9,
               {{"beta1", 0.9}, {"beta2", 0.99}, {"epsilon", 1e-3}, {"weight-decay", decay}});
      VectorXd x = numbers(9, 77);
      for (std::uint64_t t = 1; t <= 12; ++t) x += 0.1 * adam->step(x, numbers(9, t));
      const VectorXd expected = by_plain_loops(is_decoupled, decay, 12, numbers(9, 77));
      EXPECT_LE(distance(x, expected), 1e-13) << is_decoupled << " " << decay;
    }
  }
}

TEST(Adam, WithoutAveragesIsSignDescent) {
  const auto adam = rule("adam", 8, {{"beta1", 0.0}, {"beta2", 0.0}, {"epsilon", 0.0}});
  const auto sign = rule("sign", 8);
  for (std::uint64_t t = 0; t < 4; ++t) {
    const VectorXd g = numbers(8, t);  // one entry is zero
    EXPECT_LE(distance(adam->step(g, g), sign->step(g, g)), 1e-14);
  }
}

TEST(AdamW, DecaysParametersWithoutAGradientAndAdamDoesNot) {
  const VectorXd x = vector({4, -8});
  const VectorXd none = VectorXd::Zero(2);
  EXPECT_EQ(rule("adamw", 2, {{"weight-decay", 0.25}})->step(x, none), vector({-1, 2}));
  // In the gradient, Adam's normalisation leaves of the decay nothing but its sign.
  const VectorXd u = rule("adam", 2, {{"weight-decay", 0.25}, {"epsilon", 0.0}})->step(x, none);
  EXPECT_LE(distance(u, vector({-1, 1})), 1e-14);
}

// With an infinite average of squares nothing would ever move a parameter again.
TEST(Adam, HasNoUpdateBeyondTheRangeOfDouble) {
  for (const char* const name : {"adam", "adamw", "muon"}) {
    const auto adam = rule(name, 2);
    const VectorXd x = VectorXd::Zero(2);
    EXPECT_TRUE(adam->step(x, vector({1, 1e150})).allFinite()) << name;
    const VectorXd u = adam->step(x, vector({1, 1e160}));
    EXPECT_TRUE(std::isfinite(u[0]) && std::isnan(u[1])) << name << "\n" << u;
  }
}

TEST(AdamW, HasPyTorchsDefaults) {
  const auto plain = rule("adamw", 6);
  const auto explicit_one = rule(
      "adamw", 6, {{"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-8}, {"weight-decay", 0.01}});
  for (std::uint64_t t = 0; t < 3; ++t) {
    const VectorXd g = numbers(6, t);
    EXPECT_EQ(plain->step(g, g), explicit_one->step(g, g));
  }
}

}  // namespace
}  // namespace hesscope
