// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/landscape/internal/framing.h>

namespace hesscope::detail {
namespace {

using ::testing::IsEmpty;
using ::testing::StartsWith;

using Places = std::vector<Plane::Projection>;

TEST(Framing, LeavesATenthOfTheExtentOnEachSide) {
  const Places places = {{-18.5, 2, 1}, {-3, -2, 1}, {0, 0, 0}};
  const Grid grid = framed(parse_grid("5x3", "-1:1"), places);
  ASSERT_EQ(grid.alpha.size(), 5);
  ASSERT_EQ(grid.beta.size(), 3);
  EXPECT_DOUBLE_EQ(grid.alpha[0], -20.35);
  EXPECT_DOUBLE_EQ(grid.alpha[4], 1.85);
  EXPECT_DOUBLE_EQ(grid.beta[0], -2.4);
  EXPECT_DOUBLE_EQ(grid.beta[2], 2.4);
  EXPECT_THAT(left_out_text(grid, places), IsEmpty());
}

TEST(Framing, LeavesAxesOfOnePointAlone) {
  const Places places = {{4, 7, 1}, {0, 0, 0}};
  const Grid line = framed(parse_grid("3x1", "-1:1"), places);
  EXPECT_DOUBLE_EQ(line.alpha[0], -0.4);
  EXPECT_EQ(line.beta.size(), 1);
  EXPECT_EQ(line.beta[0], 0);
  EXPECT_THAT(left_out_text(line, places), IsEmpty());
}

TEST(Framing, CountsOnlyPlacesThatCanBeShown) {
  const Places places = {
      {kNaN, kNaN, kNaN}, {kInfinity, 0, 0}, {0, 1e120, 0}, {2, 1, 0}, {0, 0, 0}};
  const Grid grid = framed(parse_grid("3x3", "-1:1"), places);
  EXPECT_DOUBLE_EQ(grid.alpha[2], 2.2);
  EXPECT_DOUBLE_EQ(grid.beta[2], 1.1);
  EXPECT_THAT(left_out_text(parse_grid("3x3", "-1:1"), places),
              StartsWith("1 of 5 checkpoints lies outside of the grid; `span` -0.2:2.2,-0.1:1.1 "));
  const Places none = {{kNaN, kNaN, kNaN}};
  EXPECT_EQ(framed(parse_grid("3x3", "-1:1"), none).alpha[2], 1);
}

TEST(Framing, OfASinglePlaceHasAnExtentAllTheSame) {
  const Places places = {{0, 0, 0}};
  const Grid grid = framed(parse_grid("3x3", "-5:5"), places);
  EXPECT_EQ(grid.alpha[0], -1);
  EXPECT_EQ(grid.beta[2], 1);
}

}  // namespace
}  // namespace hesscope::detail
