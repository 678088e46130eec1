// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>

#include <hesscope/core/error.h>

#include "optim/rules.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::VectorXd;
using test::distance;
using test::numbers;
using test::rule;
using test::vector;

TEST(GradientDescent, ContractsAQuadraticAsItsClosedFormSays) {
  const auto gd = rule("gd", 3);
  const VectorXd curvature = vector({0.5, 1, 3});
  const VectorXd start = vector({1, -2, 4});
  const double eta = 0.25;
  VectorXd x = start;
  for (int t = 0; t < 20; ++t) x += eta * gd->step(x, curvature.cwiseProduct(x));
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(x[i], start[i] * std::pow(1 - eta * curvature[i], 20), 1e-14);
  }
}

TEST(Sgd, SumsAConstantGradientGeometrically) {
  const auto sgd = rule("sgd", 2, {{"momentum", 0.75}});
  const VectorXd g = vector({2, -3});
  for (int t = 1; t <= 10; ++t) {
    const VectorXd expected = -g * (1 - std::pow(0.75, t)) / (1 - 0.75);
    EXPECT_LE(distance(sgd->step(g, g), expected), 1e-14);
  }
}

// x_{t+1} = (1 + mu - eta lambda) x_t - mu x_{t-1}, with x_{-1} = x_0, is Polyak's heavy ball.
TEST(Sgd, FollowsTheTwoTermRecurrenceOfTheHeavyBall) {
  const double mu = 0.9;
  const double eta = 0.1;
  const double lambda = 2.5;
  const auto sgd = rule("sgd", 1, {{"momentum", mu}});
  VectorXd x = vector({1.5});
  double before = 1.5;
  double now = 1.5;
  for (int t = 0; t < 30; ++t) {
    x += eta * sgd->step(x, lambda * x);
    const double next = (1 + mu - eta * lambda) * now - mu * before;
    before = now;
    now = next;
    EXPECT_NEAR(x[0], now, 1e-14);
  }
}

TEST(Sgd, TakesTheFirstGradientWholeWhateverTheDampening) {
  const auto sgd = rule("sgd", 1, {{"momentum", 0.5}, {"dampening", 0.75}});
  EXPECT_EQ(sgd->step(vector({0}), vector({8}))[0], -8);
  EXPECT_EQ(sgd->step(vector({0}), vector({4}))[0], -(0.5 * 8 + 0.25 * 4));
}

TEST(Sgd, WithoutMomentumHasNothingToDampen) {
  const auto sgd = rule("sgd", 1, {{"momentum", 0.0}, {"dampening", 0.75}});
  for (int t = 0; t < 3; ++t) EXPECT_EQ(sgd->step(vector({0}), vector({8}))[0], -8);
}

TEST(Sgd, WithNesterovLooksOneMomentumAhead) {
  const auto sgd = rule("sgd", 1, {{"momentum", 0.5}, {"nesterov", true}});
  EXPECT_EQ(sgd->step(vector({0}), vector({8}))[0], -(8 + 0.5 * 8));  // b = 8
  EXPECT_EQ(sgd->step(vector({0}), vector({4}))[0], -(4 + 0.5 * 8));  // b = 0.5 * 8 + 4
}

TEST(Sgd, AgreesWithPlainLoops) {
  const Eigen::Index n = 7;
  for (const bool nesterov : {false, true}) {
    const double mu = 0.9;
    const double decay = 0.05;
    const auto sgd =
        rule("sgd", n, {{"momentum", mu}, {"weight-decay", decay}, {"nesterov", nesterov}});
    VectorXd x = numbers(n, 1);
    std::vector<double> theta(x.begin(), x.end());
    std::vector<double> buffer;
    for (std::uint64_t t = 0; t < 6; ++t) {
      const VectorXd g = numbers(n, 10 + t);
      x += 0.1 * sgd->step(x, g);
      const bool is_first = buffer.empty();
      if (is_first) buffer.resize(n);
      for (std::size_t i = 0; i < theta.size(); ++i) {
        const double d = g[static_cast<Eigen::Index>(i)] + decay * theta[i];
        buffer[i] = is_first ? d : mu * buffer[i] + d;
        theta[i] -= 0.1 * (nesterov ? d + mu * buffer[i] : buffer[i]);
        EXPECT_NEAR(x[static_cast<Eigen::Index>(i)], theta[i], 1e-15);
      }
    }
  }
}

TEST(Sgd, WithoutMomentumIsGradientDescent) {
  const auto sgd = rule("sgd", 5, {{"momentum", 0.0}});
  const auto gd = rule("gd", 5);
  for (std::uint64_t t = 0; t < 3; ++t) {
    const VectorXd g = numbers(5, t);
    EXPECT_EQ(sgd->step(g, g), gd->step(g, g));
  }
}

TEST(Sgd, RefusesNesterovWithoutMomentumOrWithDampening) {
  test::expect_refusal<ConfigError>(
      [] {
        rule("sgd", 1, {{"momentum", 0.0}, {"nesterov", true}});
      },
      "'nesterov' needs");
  test::expect_refusal<ConfigError>(
      [] {
        rule("sgd", 1, {{"dampening", 0.5}, {"nesterov", true}});
      },
      "'nesterov' needs");
}

}  // namespace
}  // namespace hesscope
