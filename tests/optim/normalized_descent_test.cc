// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>

#include "optim/rules.h"

namespace hesscope {
namespace {

using Eigen::VectorXd;
using test::distance;
using test::rule;
using test::vector;

const std::string kDirection = "direction";

TEST(SignDescent, KeepsNothingButSigns) {
  const auto sign = rule("sign", 4);
  EXPECT_EQ(sign->step(VectorXd::Zero(4), vector({3, -1e-300, 0, -7})), vector({-1, 1, 0, 1}));
}

TEST(SignDescent, WithTheOneNormIsSteepestForTheMaximumNorm) {
  const auto sign = rule("sign", 3, {{"magnitude", std::string("l1")}});
  const VectorXd g = vector({3, -1, 2});
  const VectorXd u = sign->step(g, g);
  EXPECT_EQ(u, vector({-6, 6, -6}));
  EXPECT_EQ(u.dot(g), -36);  // - ||g||_1^2, while ||u||_inf = ||g||_1
}

// Gradients 4, -1, -1 and mu = 1/2: sums 4, 1, -1/2; of signs 1, -1/2, -5/4.
TEST(SignDescent, HasMomentumBeforeOrAfterTheSign) {
  const auto before = rule("sign", 1, {{"momentum", 0.5}});
  const auto after = rule("sign", 1, {{"momentum", 0.5}, {"momentum-of", kDirection}});
  const double gradients[] = {4, -1, -1};
  const double signs[] = {-1, -1, 1};
  const double sums[] = {-1, 0.5, 1.25};
  for (int t = 0; t < 3; ++t) {
    EXPECT_EQ(before->step(vector({0}), vector({gradients[t]}))[0], signs[t]);
    EXPECT_EQ(after->step(vector({0}), vector({gradients[t]}))[0], sums[t]);
  }
}

TEST(NormalizedDescent, HasUnitLengthForEveryLengthOfTheGradient) {
  for (const double length : {1e-300, 1.0, 1e300}) {
    const auto normalized = rule("normalized", 2);
    const VectorXd g = length * vector({3, 4});
    EXPECT_LE(distance(normalized->step(g, g), vector({-0.6, -0.8})), 1e-15) << length;
  }
}

TEST(NormalizedDescent, TakesBlocksOneByOne) {
  const std::vector<ParameterBlock> blocks = {
      {.name = "a", .shape = {2, 2}, .offset = 0, .size = 4},
      {.name = "b", .shape = {2}, .offset = 4, .size = 2},
      {.name = "c", .shape = {1}, .offset = 6, .size = 1}};
  const VectorXd g = vector({3, 0, 0, -4, 1e-9, 0, 0});
  const auto of = [&](const std::string& scope) {
    return make_update_rule("normalized", {{"norm-of", scope}}, blocks)->step(g, g);
  };
  EXPECT_LE(distance(of("block"), vector({-0.6, 0, 0, 0.8, -1, 0, 0})), 1e-15);
  EXPECT_LE(distance(of("block-rms"), vector({-1.2, 0, 0, 1.6, -std::sqrt(2.0), 0, 0})), 1e-15);
  EXPECT_LE(distance(of("all"), vector({-0.6, 0, 0, 0.8, -2e-10, 0, 0})), 1e-15);
}

TEST(NormalizedDescent, DoesNotHideNan) {
  const VectorXd g = vector({0, kNaN});
  EXPECT_TRUE(rule("normalized", 2)->step(g, g).hasNaN());
  EXPECT_TRUE(rule("normalized", 2, {{"norm-of", std::string("block")}})->step(g, g).hasNaN());
}

TEST(NormalizedDescent, HasMomentumBeforeOrAfterTheNorm) {
  const auto before = rule("normalized", 2, {{"momentum", 0.5}});
  const auto after = rule("normalized", 2, {{"momentum", 0.5}, {"momentum-of", kDirection}});
  const VectorXd first = vector({8, 0});
  const VectorXd second = vector({0, 3});
  before->step(first, first);
  after->step(first, first);
  EXPECT_LE(distance(before->step(first, second), vector({-0.8, -0.6})), 1e-15);  // (4, 3)
  EXPECT_LE(distance(after->step(first, second), vector({-0.5, -1})), 1e-15);
}

// Gradients 1, -0.5, -20 with betas 0.9 and 0.5:
//   m = 0, 0.5, 0      beta1 m + (1 - beta1) g = 0.1, 0.4, -2
TEST(Lion, FollowsATrajectoryByHand) {
  const auto lion = rule("lion", 1, {{"beta1", 0.9}, {"beta2", 0.5}, {"weight-decay", 0.25}});
  const VectorXd x = vector({2});
  EXPECT_EQ(lion->step(x, vector({1}))[0], -1 - 0.5);
  EXPECT_EQ(lion->step(x, vector({-0.5}))[0], -1 - 0.5);
  EXPECT_EQ(lion->step(x, vector({-20}))[0], 1 - 0.5);
}

TEST(Lion, AgreesWithPlainLoops) {
  const auto lion = rule("lion", 6);
  std::vector<double> m(6, 0);
  for (std::uint64_t t = 0; t < 20; ++t) {
    const VectorXd g = test::numbers(6, t);
    const VectorXd u = lion->step(g, g);
    for (Eigen::Index i = 0; i < 6; ++i) {
      double& average = m[static_cast<std::size_t>(i)];
      const double c = 0.9 * average + (1 - 0.9) * g[i];
      EXPECT_EQ(u[i], c > 0 ? -1.0 : c < 0 ? 1.0 : 0.0);
      average = 0.99 * average + (1 - 0.99) * g[i];
    }
  }
}

}  // namespace
}  // namespace hesscope
