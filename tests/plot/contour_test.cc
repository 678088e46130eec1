// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include <hesscope/plot/internal/contour.h>

namespace hesscope::plot {
namespace {

template <typename F>
Field sampled(const F& f, int columns, int rows, double half) {
  Field field;
  for (int j = 0; j < columns; ++j) field.x.push_back(half * (2.0 * j / (columns - 1) - 1));
  for (int i = 0; i < rows; ++i) field.y.push_back(half * (2.0 * i / (rows - 1) - 1));
  for (const double y : field.y) {
    for (const double x : field.x) field.values.push_back(f(x, y));
  }
  return field;
}

// Signed by the shoelace formula; of several polygons by the even-odd rule if they do not nest.
double area_of(const std::vector<Polyline>& polygons) {
  double sum = 0;
  for (const Polyline& p : polygons) {
    double twice = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      const Point& a = p[i];
      const Point& b = p[(i + 1) % p.size()];
      twice += a.x * b.y - b.x * a.y;
    }
    sum += std::abs(twice) / 2;
  }
  return sum;
}

// The contours of a linear function are exact.
TEST(Contour, OfAPlaneIsAStraightLine) {
  const Field field = sampled([](double x, double y) { return 2 * x + y; }, 7, 5, 1.0);
  const auto lines = contour_lines(field, 0.3);
  ASSERT_EQ(lines.size(), 1U);
  for (const Point& p : lines[0]) EXPECT_NEAR(2 * p.x + p.y, 0.3, 1e-14);
  EXPECT_NEAR(std::abs(lines[0].front().y - lines[0].back().y), 2.0, 1e-14);
}

TEST(Contour, OfAConeIsAClosedCircle) {
  const double radius = 0.7;
  const Field field = sampled([](double x, double y) { return std::hypot(x, y); }, 81, 81, 1.0);
  const auto lines = contour_lines(field, radius);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].front().x, lines[0].back().x);
  EXPECT_EQ(lines[0].front().y, lines[0].back().y);
  for (const Point& p : lines[0]) EXPECT_NEAR(std::hypot(p.x, p.y), radius, 1e-3);
  EXPECT_NEAR(area_of(lines), std::numbers::pi * radius * radius, 1e-3);
}

// The area where x + y >= 0 is half the square, edges included; where there is everything, all.
TEST(Contour, AreasEndAtTheEdge) {
  const Field field = sampled([](double x, double y) { return x + y; }, 9, 6, 1.0);
  EXPECT_NEAR(area_of(superlevel_area(field, 0)), 2.0, 1e-12);
  EXPECT_NEAR(area_of(superlevel_area(field, -5)), 4.0, 1e-12);
  EXPECT_TRUE(superlevel_area(field, 5).empty());
}

// Area by the complement: above and below make the square.
TEST(Contour, AreasAboveAndBelowFillTheSquare) {
  const auto wavy = [](double x, double y) { return std::sin(5 * x) * std::cos(4 * y) + 0.1 * x; };
  const auto minus = [&](double x, double y) { return -wavy(x, y); };
  const double above = area_of(superlevel_area(sampled(wavy, 60, 50, 1.0), 0.05));
  const double below = area_of(superlevel_area(sampled(minus, 60, 50, 1.0), -0.05));
  EXPECT_NEAR(above + below, 4.0, 1e-9);
}

TEST(Contour, SaddlesFollowTheMeanOfTheCorners) {
  // Corners +1 and -1 crosswise: above the level at the centre or not.
  const Field field{{0, 1}, {0, 1}, {1, -1, -1, 1}};
  EXPECT_EQ(superlevel_area(field, -0.1).size(), 1U);
  EXPECT_EQ(superlevel_area(field, 0.1).size(), 2U);
  EXPECT_EQ(contour_lines(field, 0.1).size(), 2U);
}

TEST(Contour, LeavesHolesOut) {
  Field field = sampled([](double x, double /*y*/) { return x; }, 5, 5, 2.0);
  field.values[12] = std::nan("");  // in the middle
  for (const Polyline& line : contour_lines(field, 0.5)) {
    for (const Point& p : line) EXPECT_TRUE(std::isfinite(p.x) && std::isfinite(p.y));
    EXPECT_GE(std::min(std::abs(line.front().y), std::abs(line.back().y)), 1.0);
  }
  const auto areas = superlevel_area(field, -10);
  ASSERT_EQ(areas.size(), 2U);  // the edge, and the diamond around the hole
  EXPECT_NEAR(area_of(areas), 16.0 + 2.0, 1e-12);
}

TEST(Contour, OfNothingIsNothing) {
  EXPECT_TRUE(contour_lines({}, 0).empty());
  EXPECT_TRUE(superlevel_area({}, 0).empty());
}

}  // namespace
}  // namespace hesscope::plot
