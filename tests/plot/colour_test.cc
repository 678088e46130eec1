// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/plot/colour.h>

#include "support/maxima.h"

namespace hesscope::plot {
namespace {

double distance(const OkLab& p, const OkLab& q) {
  return std::hypot(p.lightness - q.lightness, p.a - q.a, p.b - q.b);
}

// The examples of Ottosson's page, for sRGB's white and primaries as widely quoted.
TEST(Colour, HasTheKnownOkLabCoordinates) {
  const OkLab white = to_oklab({255, 255, 255});
  EXPECT_NEAR(white.lightness, 1.0, 1e-4);
  EXPECT_NEAR(white.a, 0.0, 1e-4);
  EXPECT_NEAR(white.b, 0.0, 1e-4);
  const OkLab red = to_oklab({255, 0, 0});
  EXPECT_NEAR(red.lightness, 0.6280, 1e-4);
  EXPECT_NEAR(red.a, 0.2249, 1e-4);
  EXPECT_NEAR(red.b, 0.1258, 1e-4);
}

TEST(Colour, ReturnsFromOkLabUnchanged) {
  for (int r = 0; r < 256; r += 15) {
    for (int g = 0; g < 256; g += 15) {
      for (int b = 0; b < 256; b += 15) {
        const Colour colour{static_cast<std::uint8_t>(r),
                            static_cast<std::uint8_t>(g),
                            static_cast<std::uint8_t>(b)};
        ASSERT_EQ(hex(from_oklab(to_oklab(colour))), hex(colour));
      }
    }
  }
}

TEST(Colour, LinesDifferInLightnessOrHue) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < 7; ++i) {
    seen.insert(hex(line_colour(i)));
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_GT(distance(to_oklab(line_colour(i)), to_oklab(line_colour(j))), 0.08);
    }
  }
  EXPECT_EQ(seen.size(), 7U);
  EXPECT_EQ(line_colour(7), line_colour(0));
  EXPECT_EQ(hex(line_colour(0)), "#0072b2");
}

// Perceptually uniform: equal steps of the number are steps of about the same perceived size.
TEST(Colour, ViridisGrowsEvenlyLighter) {
  EXPECT_EQ(hex(colour_at(ColourMap::kViridis, 0)), "#440154");
  EXPECT_EQ(hex(colour_at(ColourMap::kViridis, 1)), "#fde725");
  EXPECT_EQ(colour_at(ColourMap::kViridis, -3), colour_at(ColourMap::kViridis, 0));
  double smallest = kInfinity;
  double largest = 0;
  double lightness = 0;
  for (int k = 1; k <= 20; ++k) {
    const OkLab here = to_oklab(colour_at(ColourMap::kViridis, k / 20.0));
    const double step = distance(here, to_oklab(colour_at(ColourMap::kViridis, (k - 1) / 20.0)));
    smallest = test::smaller(smallest, step);
    largest = test::larger(largest, step);
    EXPECT_GT(here.lightness, lightness) << k;
    lightness = here.lightness;
  }
  EXPECT_LT(largest, 2.0 * smallest);
}

TEST(Colour, DivergingIsEquallyDarkOnBothSides) {
  for (const double t : {0.0, 0.1, 0.25, 0.4}) {
    const OkLab low = to_oklab(colour_at(ColourMap::kDiverging, t));
    const OkLab high = to_oklab(colour_at(ColourMap::kDiverging, 1 - t));
    EXPECT_NEAR(low.lightness, high.lightness, 0.02) << t;
    EXPECT_LT(low.b, high.b);
  }
  EXPECT_GT(to_oklab(colour_at(ColourMap::kDiverging, 0.5)).lightness, 0.95);
}

TEST(Colour, WhatIsMissingIsGrey) {
  EXPECT_EQ(colour_at(ColourMap::kViridis, std::nan("")), kGrey);
}

}  // namespace
}  // namespace hesscope::plot
