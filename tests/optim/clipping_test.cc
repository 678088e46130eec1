// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/optim/clipping.h>

#include "optim/rules.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::VectorXd;
using test::distance;
using test::vector;

TEST(ClipNorm, ShortensWhatIsTooLongAndLeavesTheRest) {
  const VectorXd g = vector({3, -4});
  EXPECT_LE(distance(clip_norm(g, 1), g / (5 + 1e-6)), 1e-15);
  EXPECT_EQ(clip_norm(g, 6), g);
  EXPECT_EQ(clip_norm(VectorXd::Zero(3), 1), VectorXd::Zero(3));
}

TEST(ClipNorm, SurvivesGradientsWhoseSquaresOverflow) {
  for (const double scale : {1e10, 1e160, 1e200, 1e300, 4e307}) {
    const VectorXd g = vector({3, -4}) * scale;  // of the last, the norm overflows, too
    EXPECT_LE(distance(clip_norm(g, 1), vector({0.6, -0.8})), 1e-15);
    const VectorXd longer = clip_norm(g, 1e100);
    EXPECT_LE(distance(longer, scale > 1e100 ? vector({6e99, -8e99}) : g), 1e85);
  }
}

TEST(ClipNorm, ByInfinityLeavesEveryFiniteGradient) {
  for (const double scale : {1.0, 1e200, 4e307}) {
    const VectorXd g = vector({3, -4}) * scale;
    EXPECT_EQ(clip_norm(g, kInfinity), g);
  }
}

TEST(ClipNorm, LeavesGradientsWhoseSquaresVanish) {
  for (const double scale : {1e-320, 1e-300, 1e-200}) {
    const VectorXd g = vector({3, -4}) * scale;
    EXPECT_EQ(clip_norm(g, 1), g);
  }
}

TEST(ClipNorm, DoesNotHideNan) {
  EXPECT_TRUE(clip_norm(vector({1, kNaN}), 1).array().isNaN().all());
  EXPECT_TRUE(clip_norm(vector({0, kNaN}), 1).array().isNaN().all());
}

TEST(ClipNorm, RefusesANormThatIsNotPositive) {
  for (const double norm : {0.0, -1.0, kNaN}) {
    test::expect_refusal([&] { clip_norm(vector({1}), norm); }, "max_norm must be above 0");
  }
}

TEST(ClipCoordinates, CutsTheLargestShare) {
  const VectorXd g = vector({1, -9, 4, -2, 8, 3, -7, 6, 5, 0});
  EXPECT_EQ(coordinate_threshold(g, 0.2), 7);  // 9 and 8 lie above
  EXPECT_EQ(clip_coordinates(g, 0.2), vector({1, -7, 4, -2, 7, 3, -7, 6, 5, 0}));
  EXPECT_EQ(clip_coordinates(g, 0), g);
  EXPECT_EQ(clip_coordinates(g, 0.05), g);  // floor(0.5) = 0
  EXPECT_EQ(clip_coordinates(g, 0.9), VectorXd::Zero(10));
}

TEST(ClipCoordinates, AgreesWithSorting) {
  for (const double fraction : {0.1, 0.25, 0.5, 0.999, 1 - 1e-16}) {
    const VectorXd g = test::numbers(37, 3);
    std::vector<double> sorted;
    for (const double value : g) sorted.push_back(std::abs(value));
    std::sort(sorted.rbegin(), sorted.rend());
    const double threshold = sorted[std::min<std::size_t>(std::size_t(37 * fraction), 36)];
    const VectorXd clipped = clip_coordinates(g, fraction);
    for (Eigen::Index i = 0; i < g.size(); ++i) {
      EXPECT_EQ(clipped[i], std::min(std::max(g[i], -threshold), threshold));
    }
  }
}

TEST(ClipCoordinates, DoesNotHideNan) {
  EXPECT_TRUE(clip_coordinates(vector({1, kNaN, -3}), 0.5).array().isNaN().all());
}

TEST(ClipCoordinates, RefusesWhatIsNoShare) {
  for (const double fraction : {-0.1, 1.0, kNaN}) {
    test::expect_refusal([&] { clip_coordinates(vector({1}), fraction); }, "fraction must be in");
  }
  test::expect_refusal([] { clip_coordinates(VectorXd(), 0.5); }, "at least one value");
}

}  // namespace
}  // namespace hesscope
