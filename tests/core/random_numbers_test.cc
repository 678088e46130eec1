// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/internal/random_numbers.h>

namespace hesscope::detail {
namespace {

// The first words of the engine are 14514284786278117030 and 4620546740167642908; the numbers by
// mpmath in 30 digits.
TEST(RandomNumbers, AreThoseOfTheirFormulas) {
  std::mt19937_64 engine(5489);
  EXPECT_NEAR(uniform_number(engine), 0.786820954867801958254602823217, 1.2e-16);
  engine.seed(5489);
  EXPECT_NEAR(normal_number(engine), -0.00208990728807217304188757017685, 1e-16);
  engine.seed(5489);
  EXPECT_EQ(random_index(engine, 10), 0U);
  EXPECT_EQ(random_index(engine, 1000), 908U);
}

// Mean 0, variance 1 and fourth moment 3, each within five of its standard errors.
TEST(RandomNumbers, OfTheNormalDistributionHaveItsMoments) {
  std::mt19937_64 engine(7);
  constexpr int kCount = 40000;
  const Eigen::ArrayXd x = standard_normal(kCount, 1, engine).array();
  const double error = 5 / std::sqrt(double{kCount});
  EXPECT_NEAR(x.mean(), 0, error);
  EXPECT_NEAR(x.square().mean(), 1, std::sqrt(2.0) * error);
  EXPECT_NEAR(x.pow(4).mean(), 3, std::sqrt(96.0) * error);
}

TEST(RandomNumbers, OfAnIndexAreAllBelowTheCount) {
  std::mt19937_64 engine(1);
  std::set<std::uint64_t> seen;
  for (int k = 0; k < 400; ++k) seen.insert(random_index(engine, 7));
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(random_index(engine, 1), 0U);
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  for (int k = 0; k < 100; ++k) EXPECT_LT(random_index(engine, kLargest), kLargest);
}

}  // namespace
}  // namespace hesscope::detail
