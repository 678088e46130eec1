// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/plot/internal/refined_field.h>

namespace hesscope::plot {
namespace {

// Over places that are not equally far apart, y downwards as on paper.
template <typename F>
Field sampled(const F& f) {
  Field field{.x = {-1, -0.5, 0.25, 0.5, 1}, .y = {1, 0.25, -0.25, -1}, .values = {}};
  for (const double y : field.y) {
    for (const double x : field.x) field.values.push_back(f(x, y));
  }
  return field;
}

double at(const Field& field, std::size_t i, std::size_t j) {
  return field.values[i * field.x.size() + j];
}

TEST(RefinedField, OfAParabolaIsExact) {
  const auto f = [](double x, double y) { return 1 + x - 2 * y + x * x - 3 * x * y + y * y; };
  const Field fine = refined(sampled(f), 0.25);
  EXPECT_EQ(fine.x.size(), 4U * 3 + 1);  // of 0.75
  EXPECT_EQ(fine.y.size(), 3U * 3 + 1);
  ASSERT_EQ(fine.values.size(), fine.x.size() * fine.y.size());
  for (std::size_t i = 0; i < fine.y.size(); ++i) {
    for (std::size_t j = 0; j < fine.x.size(); ++j) {
      EXPECT_NEAR(at(fine, i, j), f(fine.x[j], fine.y[i]), 1e-14) << i << ", " << j;
    }
  }
}

TEST(RefinedField, KeepsWhatIsThere) {
  const Field coarse = sampled([](double x, double y) { return std::exp(x) * std::sin(3 * y); });
  const Field fine = refined(coarse, 0.1);
  const std::size_t parts = 8;  // of 0.75
  for (std::size_t i = 0; i < coarse.y.size(); ++i) {
    EXPECT_EQ(fine.y[parts * i], coarse.y[i]);
    for (std::size_t j = 0; j < coarse.x.size(); ++j) {
      EXPECT_EQ(fine.x[parts * j], coarse.x[j]);
      EXPECT_EQ(at(fine, parts * i, parts * j), at(coarse, i, j));
    }
  }
  const Field same = refined(coarse, 0.75);
  EXPECT_EQ(same.values, coarse.values);
}

// The error of cubics by such slopes falls with the cube of the spacing; of straight lines with its
// square.
TEST(RefinedField, ComesCloserThanStraightLines) {
  const auto f = [](double x, double y) { return std::sin(2 * x + y); };
  const auto error = [&](std::size_t columns) {
    Field coarse;
    for (std::size_t j = 0; j < columns; ++j) {
      const double place = 2.0 * static_cast<double>(j) / static_cast<double>(columns - 1) - 1;
      coarse.x.push_back(place);
      coarse.y.push_back(place);
    }
    for (const double y : coarse.y) {
      for (const double x : coarse.x) coarse.values.push_back(f(x, y));
    }
    const Field fine = refined(coarse, 0.02);
    double largest = 0;
    for (std::size_t i = 0; i < fine.y.size(); ++i) {
      for (std::size_t j = 0; j < fine.x.size(); ++j) {
        const double off = std::abs(at(fine, i, j) - f(fine.x[j], fine.y[i]));
        largest = off > largest ? off : largest;
        EXPECT_TRUE(std::isfinite(off));
      }
    }
    return largest;
  };
  const double coarse = error(9);
  const double fine = error(17);
  EXPECT_TRUE(coarse < 0.02) << coarse;
  EXPECT_TRUE(coarse / fine > 6) << coarse << " and " << fine;
}

// Cells of which a corner is missing are empty; all others are filled.
TEST(RefinedField, LeavesHolesAsTheyAre) {
  Field coarse = sampled([](double x, double y) { return x * x + y; });
  coarse.values[1 * 5 + 2] = kNaN;
  const std::size_t parts = 3;
  const Field fine = refined(coarse, 0.25);
  for (std::size_t i = 0; i < fine.y.size(); ++i) {
    for (std::size_t j = 0; j < fine.x.size(); ++j) {
      const bool is_inside = i > 0 && i < 2 * parts && j > parts && j < 3 * parts;
      EXPECT_EQ(std::isfinite(at(fine, i, j)), !is_inside) << i << ", " << j;
    }
  }
}

TEST(RefinedField, OfOneRowOrNoneIsThat) {
  const Field line{.x = {0, 1, 2}, .y = {5}, .values = {0, 1, 4}};
  const Field fine = refined(line, 0.5);
  EXPECT_EQ(fine.y.size(), 1U);
  ASSERT_EQ(fine.values.size(), 5U);
  EXPECT_NEAR(fine.values[1], 0.25, 1e-15);
  EXPECT_TRUE(refined({}, 1).values.empty());
}

}  // namespace
}  // namespace hesscope::plot
