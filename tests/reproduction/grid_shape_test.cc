// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/reproduction/internal/grid_shape.h>

namespace hesscope::detail {
namespace {

std::vector<double> axis(int count, double first, double last) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(first + (last - first) * i / (count - 1));
  return values;
}

template <typename F>
std::vector<double> surface(const std::vector<double>& x, const std::vector<double>& y, F f) {
  std::vector<double> values;
  for (const double b : y) {
    for (const double a : x) values.push_back(f(a, b));
  }
  return values;
}

class GridShapeTest : public testing::Test {
 protected:
  const std::vector<double> x = axis(21, -1, 1);
  const std::vector<double> y = axis(11, -2, 2);
};

TEST_F(GridShapeTest, OfABowlIsConvexAndSmooth) {
  const auto bowl = [](double a, double b) { return 3 + a * a + a * b + b * b; };
  const GridShape shape = grid_shape(x, y, surface(x, y, bowl));
  EXPECT_NEAR(shape.minimum, 3, 1e-15);
  EXPECT_NEAR(shape.maximum, 10, 1e-14);
  EXPECT_EQ(shape.convex_share, 1);
  EXPECT_EQ(shape.num_minima, 1);
  EXPECT_LT(shape.roughness, 1e-14);
}

TEST_F(GridShapeTest, DoesNotKnowTheScaleOfTheLoss) {
  const auto form = [](double a, double b) { return a * a + a * b + b * b + 0.1 * a * a * a * b; };
  const GridShape wanted = grid_shape(x, y, surface(x, y, form));
  for (const int k : {-990, -600, 600, 990}) {
    const GridShape found = grid_shape(
        x, y, surface(x, y, [&](double a, double b) { return std::ldexp(form(a, b), k); }));
    EXPECT_EQ(found.convex_share, wanted.convex_share);
    EXPECT_EQ(found.num_minima, wanted.num_minima);
    EXPECT_NEAR(found.roughness, wanted.roughness, 1e-12);
  }
}

TEST_F(GridShapeTest, OfASaddleIsConvexNowhere) {
  const GridShape shape =
      grid_shape(x, y, surface(x, y, [](double a, double b) { return a * a - b * b; }));
  EXPECT_EQ(shape.convex_share, 0);
  EXPECT_EQ(shape.num_minima, 0);
  // Convex along both axes, but not between them.
  const GridShape turned =
      grid_shape(x, y, surface(x, y, [](double a, double b) { return a * a + b * b + 6 * a * b; }));
  EXPECT_EQ(turned.convex_share, 0);
}

TEST_F(GridShapeTest, CountsTheMinimaOfWaves) {
  // cos(3 pi a) has its minima at -1/3 and 1/3 within, the valley's floor lies at b = 0.
  const auto waves = [](double a, double b) { return std::cos(3 * M_PI * a) + b * b; };
  const std::vector<double> fine = axis(61, -0.8, 0.81);  // no two columns at equal heights
  const GridShape shape = grid_shape(fine, y, surface(fine, y, waves));
  EXPECT_EQ(shape.num_minima, 2);
  EXPECT_GT(shape.roughness, 0.1);
  EXPECT_LT(shape.roughness, 1);
  // Convex where cos < 0: a share of the inner columns that can be counted.
  int num_convex = 0;
  for (std::size_t j = 1; j + 1 < fine.size(); ++j) {
    num_convex += std::cos(3 * M_PI * fine[j]) < 0 ? 1 : 0;
  }
  EXPECT_NEAR(shape.convex_share, num_convex / 59.0, 1e-15);
}

TEST_F(GridShapeTest, LooksAtALineAlongIt) {
  const std::vector<double> zero = {0};
  const auto cubic = [](double a, double b) { return std::pow(a + b - 0.05, 3); };
  for (const bool is_along_x : {true, false}) {
    const GridShape shape = is_along_x ? grid_shape(x, zero, surface(x, zero, cubic))
                                       : grid_shape(zero, x, surface(zero, x, cubic));
    EXPECT_NEAR(shape.convex_share, 9.0 / 19, 1e-15);  // 0.1 ... 0.9
    EXPECT_EQ(shape.num_minima, 0);
    EXPECT_EQ(shape.minimum, std::pow(-1.05, 3));
  }
}

TEST_F(GridShapeTest, PassesOverWhatIsNotFinite) {
  std::vector<double> values = surface(x, y, [](double a, double b) { return a * a + b * b; });
  values[0] = kInfinity;
  values[5 * 21 + 10] = kNaN;  // the middle
  const GridShape shape = grid_shape(x, y, values);
  EXPECT_EQ(shape.maximum, 5);
  EXPECT_GT(shape.minimum, 0);
  EXPECT_EQ(shape.convex_share, 1);
  EXPECT_EQ(shape.num_minima, 0);
  EXPECT_LT(shape.roughness, 1e-13);
  const std::vector<double> none(x.size() * y.size(), std::nan(""));
  const GridShape nothing = grid_shape(x, y, none);
  EXPECT_TRUE(std::isnan(nothing.minimum) && std::isnan(nothing.maximum));
  EXPECT_TRUE(std::isnan(nothing.convex_share) && std::isnan(nothing.roughness));
  EXPECT_TRUE(std::isnan(grid_shape(x, y, std::vector<double>(x.size() * y.size(), 7)).roughness));
}

}  // namespace
}  // namespace hesscope::detail
