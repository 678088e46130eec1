// SPDX-License-Identifier: BSD-3-Clause
#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/invariance.h>

#include "support/refusal.h"

namespace hesscope {
namespace {

// B = [[2, 0, 0], [0, 0, -1], [0, 4, 0]], the 4 as 3 + 1, and b = (0, 0, 5).
AffineGenerator example() {
  return {{{0, 0, 2.0}, {1, 2, -1.0}, {2, 1, 3.0}, {2, 1, 1.0}}, {{2, 6.0}, {2, -1.0}}};
}

TEST(AffineGenerator, IsBThetaPlusB) {
  const Eigen::Vector3d theta(1, 10, 100);
  EXPECT_EQ(example().at(theta), Eigen::Vector3d(2, -100, 45));
  EXPECT_EQ(AffineGenerator().at(theta), Eigen::Vector3d(0, 0, 0));
}

TEST(AffineGenerator, AppliesTheTransposeOfTheLinearPart) {
  const Eigen::Vector3d g(1, 10, 100);
  EXPECT_EQ(example().transpose_times(g), Eigen::Vector3d(2, 400, -10));
}

TEST(AffineGenerator, RefusesEntriesOutside) {
  const Eigen::Vector2d two(1, 2);
  test::expect_refusal([&] { example().at(two); }, "AffineGenerator::at: an entry is outside");
  test::expect_refusal([&] { example().transpose_times(two); }, "2 parameters");
  EXPECT_TRUE(example().fits(3));
  EXPECT_FALSE(example().fits(2));
  EXPECT_FALSE((AffineGenerator{{{0, -1, 1.0}}, {}}).fits(3));
  EXPECT_FALSE((AffineGenerator{{}, {{-1, 1.0}}}).fits(3));
}

}  // namespace
}  // namespace hesscope
