// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/plot/scale.h>

#include "support/refusal.h"

namespace hesscope::plot {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

TEST(Scale, PlacesByTheClosedForms) {
  const Scale linear(ScaleKind::kLinear, -2, 6);
  EXPECT_DOUBLE_EQ(linear.place(0), 0.25);
  const Scale log(ScaleKind::kLog, 0.01, 100);
  EXPECT_DOUBLE_EQ(log.place(1), 0.5);
  EXPECT_DOUBLE_EQ(log.place(10), 0.75);
  const Scale both(ScaleKind::kSignedLog, -1000, 1000, 0.1);
  EXPECT_DOUBLE_EQ(both.place(0), 0.5);
  // Far from zero a decade is as long as any other.
  const double decade = both.place(1000) - both.place(100);
  EXPECT_NEAR(both.place(100) - both.place(10), decade, 1e-4);
  EXPECT_NEAR(both.place(-10) - both.place(-100), decade, 1e-4);
  const double whole = 2 * std::asinh(1000 / 0.2);
  EXPECT_NEAR(both.place(0.05), 0.5 + std::asinh(0.25) / whole, 4 * kEps);
}

TEST(Scale, ReturnsTheValueOfAPlace) {
  for (const Scale& scale : {Scale(ScaleKind::kLinear, -3, 8),
                             Scale(ScaleKind::kLog, 1e-8, 30),
                             Scale(ScaleKind::kSignedLog, -5, 2e4, 1e-3)}) {
    EXPECT_EQ(scale.place(scale.lower()), 0);
    EXPECT_EQ(scale.place(scale.upper()), 1);
    for (const double place : {0.0, 0.1, 0.5, 0.93, 1.0}) {
      EXPECT_NEAR(scale.place(scale.value(place)), place, 1e-12);
    }
  }
}

TEST(Scale, HasNoPlaceForWhatIsNotThere) {
  const Scale log(ScaleKind::kLog, 1, 10);
  for (const double value : {0.0, -1.0, std::nan(""), kInfinity}) {
    EXPECT_TRUE(std::isnan(log.place(value))) << value;
    EXPECT_FALSE(is_drawable(ScaleKind::kLog, value));
  }
  EXPECT_TRUE(is_drawable(ScaleKind::kSignedLog, -1));
  EXPECT_EQ(Scale(ScaleKind::kLinear, 0, 1e-300).place(1e300), 1e6);  // finite all the same
}

TEST(Scale, TakesTheWidestRange) {
  const double max = std::numeric_limits<double>::max();
  const Scale scale(ScaleKind::kLinear, -max, max);
  EXPECT_DOUBLE_EQ(scale.place(0), 0.5);
  EXPECT_DOUBLE_EQ(scale.place(max / 2), 0.75);
}

TEST(Scale, RefusesWhatIsNoRange) {
  const double nan = std::nan("");
  test::expect_refusal([] { Scale(ScaleKind::kLinear, 1, 1); }, "lower < upper");
  test::expect_refusal([&] { Scale(ScaleKind::kLinear, nan, 1); }, "finite");
  test::expect_refusal([] { Scale(ScaleKind::kLog, 0, 1); }, "positive");
  test::expect_refusal([&] { Scale(ScaleKind::kSignedLog, -1, 1, nan); }, "threshold");
}

TEST(EnclosingScale, WidensByItsMargin) {
  const Scale linear = enclosing_scale(ScaleKind::kLinear, {3, std::nan(""), 1}, 0.05);
  EXPECT_DOUBLE_EQ(linear.lower(), 0.9);
  EXPECT_DOUBLE_EQ(linear.upper(), 3.1);
  const Scale log = enclosing_scale(ScaleKind::kLog, {1, 100, -4, 0}, 0.5);
  EXPECT_NEAR(log.lower(), 0.1, 1e-12);
  EXPECT_NEAR(log.upper(), 1000, 1e-9);
}

TEST(EnclosingScale, IsNeverEmpty) {
  const double max = std::numeric_limits<double>::max();
  const double tiny = std::numeric_limits<double>::denorm_min();
  for (const ScaleKind kind : {ScaleKind::kLinear, ScaleKind::kLog, ScaleKind::kSignedLog}) {
    for (const std::vector<double>& values : {std::vector<double>{},
                                              {0.0},
                                              {5.0, 5.0},
                                              {-5.0},
                                              {1.0, 1.0 + kEps},
                                              {tiny},
                                              {max},
                                              {-max, max},
                                              {tiny, max},
                                              {std::nan("")}}) {
      const Scale scale = enclosing_scale(kind, values, 0.05);
      EXPECT_LT(scale.lower(), scale.upper());
      for (const double value : values) {
        if (!is_drawable(kind, value)) continue;
        EXPECT_GE(scale.place(value), -1e-9);
        EXPECT_LE(scale.place(value), 1 + 1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace hesscope::plot
