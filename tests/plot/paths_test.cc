// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/plot/internal/paths.h>

#include "support/maxima.h"

namespace hesscope::plot {
namespace {

const Box kBox{0, 0, 10, 5};

TEST(ClipLine, KeepsWhatIsInsideAndSplitsWhatLeaves) {
  const auto parts = clip_line({{-5, 1}, {5, 1}, {5, 11}, {8, 11}, {8, 2}}, kBox);
  ASSERT_EQ(parts.size(), 2U);
  ASSERT_EQ(parts[0].size(), 3U);
  EXPECT_EQ(parts[0][0].x, 0);
  EXPECT_EQ(parts[0][2].y, 5);
  ASSERT_EQ(parts[1].size(), 2U);
  EXPECT_EQ(parts[1][0].y, 5);
  EXPECT_EQ(parts[1][1].y, 2);
}

TEST(ClipLine, CrossesWithoutAPointInside) {
  const auto parts = clip_line({{-10, 0}, {20, 5}}, kBox);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_NEAR(parts[0][0].y, 5.0 / 3, 1e-12);
  EXPECT_TRUE(clip_line({{-1, -1}, {-1, 6}}, kBox).empty());
  EXPECT_TRUE(clip_line({{-10, 3}, {2, 20}}, kBox).empty());
  EXPECT_TRUE(clip_line({}, kBox).empty());
}

TEST(ClipLine, KeepsALinePassingThroughUnchanged) {
  const Polyline inside = {{1, 1}, {2, 4}, {9, 0.5}};
  const auto parts = clip_line(inside, kBox);
  ASSERT_EQ(parts.size(), 1U);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    EXPECT_EQ(parts[0][i].x, inside[i].x);
    EXPECT_EQ(parts[0][i].y, inside[i].y);
  }
}

TEST(ClipPolygon, CutsAtTheSides) {
  const Polyline cut = clip_polygon({{-5, -5}, {5, -5}, {5, 2}, {-5, 2}}, kBox);
  ASSERT_GE(cut.size(), 4U);
  for (const Point& p : cut) EXPECT_TRUE(kBox.contains(p));
  double twice = 0;
  for (std::size_t i = 0; i < cut.size(); ++i) {
    const Point& a = cut[i];
    const Point& b = cut[(i + 1) % cut.size()];
    twice += a.x * b.y - b.x * a.y;
  }
  EXPECT_NEAR(std::abs(twice) / 2, 10.0, 1e-12);
  EXPECT_TRUE(clip_polygon({{20, 20}, {21, 20}, {21, 21}}, kBox).empty());
}

// In every column, the same extremes are still reached, including the ends, and few points are
// left.
TEST(Thinned, KeepsTheExtremesOfEveryColumn) {
  Polyline line;
  constexpr int kPoints = 100'000;
  for (int i = 0; i < kPoints; ++i) {
    const double x = 100.0 * i / kPoints;
    line.push_back({x, std::sin(0.37 * i) * x});
  }
  const Polyline thin = thinned(line);
  EXPECT_LE(thin.size(), 4U * 200);
  EXPECT_EQ(thin.front().x, line.front().x);
  EXPECT_EQ(thin.back().x, line.back().x);
  const auto range = [](const Polyline& of, int column) {
    double low = 1e9;
    double high = -1e9;
    for (const Point& p : of) {
      if (static_cast<int>(p.x / 0.5) != column) continue;
      low = test::smaller(low, p.y);
      high = test::larger(high, p.y);
    }
    return std::pair(low, high);
  };
  for (int column = 0; column < 200; ++column) {
    ASSERT_EQ(range(thin, column), range(line, column)) << column;
  }
  EXPECT_TRUE(std::is_sorted(
      thin.begin(), thin.end(), [](const Point& a, const Point& b) { return a.x < b.x; }));
}

TEST(Thinned, LeavesSparseLinesAlone) {
  const Polyline line = {{0, 0}, {10, 5}, {3, 2}, {3.1, 9}, {3.2, 1}};  // back and forth
  EXPECT_EQ(thinned(line).size(), line.size());
  EXPECT_TRUE(thinned({}).empty());
}

}  // namespace
}  // namespace hesscope::plot
