// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/landscape/grid.h>

#include "support/refusal.h"

namespace hesscope {
namespace {

using test::expect_refusal;

TEST(Axis, HasTheEndsOfItsSpanToTheLastBitAndAscends) {
  for (const Span span :
       {Span{-1, 1}, {0.1, 0.7}, {-1.0 / 3, 1e-3}, {1e-300, 3e-300}, {-5, -4.9}}) {
    for (Eigen::Index count = 2; count <= 120; ++count) {
      const Eigen::VectorXd axis = make_axis(count, span);
      ASSERT_EQ(axis.size(), count);
      EXPECT_EQ(axis[0], span.first);
      EXPECT_EQ(axis[count - 1], span.last);
      for (Eigen::Index i = 1; i < count; ++i) {
        ASSERT_GT(axis[i], axis[i - 1]);
        const double step = (span.last - span.first) / static_cast<double>(count - 1);
        const double expected = span.first + static_cast<double>(i) * step;
        const double largest = std::max(std::abs(span.first), std::abs(span.last));
        EXPECT_TRUE(std::abs(axis[i] - expected) <=
                    8 * std::numeric_limits<double>::epsilon() * largest);
      }
    }
  }
}

TEST(Axis, IsSymmetricOverASymmetricSpanWithZeroInTheMiddle) {
  for (const double a : {1.0, 0.3, 1.0 / 7, 3.14159265358979, 1e-17, 1e80}) {
    for (Eigen::Index count = 2; count <= 101; ++count) {
      const Eigen::VectorXd axis = make_axis(count, {-a, a});
      for (Eigen::Index i = 0; i < count; ++i) ASSERT_EQ(axis[i], -axis[count - 1 - i]);
      if (count % 2 == 1) {
        EXPECT_EQ(axis[count / 2], 0.0);
      }
    }
  }
}

TEST(Axis, RefusesWhatIsNoAxis) {
  expect_refusal([] { make_axis(0, {}); }, "make_axis");
  expect_refusal([] { make_axis(3, {1, 1}); }, "make_axis");
  expect_refusal([] { make_axis(3, {std::nan(""), 1}); }, "make_axis");
  expect_refusal([] { make_axis(3, {0, 1e101}); }, "make_axis");
}

TEST(Grid, RunsFastestAlongAlpha) {
  const Grid grid = parse_grid("3x2", "-1:1,0:10");
  ASSERT_EQ(grid.num_points(), 6);
  EXPECT_TRUE(grid.is_plane());
  const double expected[][2] = {{-1, 0}, {0, 0}, {1, 0}, {-1, 10}, {0, 10}, {1, 10}};
  for (Eigen::Index i = 0; i < 6; ++i) {
    EXPECT_EQ(grid.alpha_of(i), expected[i][0]);
    EXPECT_EQ(grid.beta_of(i), expected[i][1]);
  }
}

TEST(Grid, PutsAnAxisOfOnePointAtZeroUnlessItIsTold) {
  const Grid along_alpha = parse_grid("5x1", "0:1");
  EXPECT_FALSE(along_alpha.is_plane());
  EXPECT_EQ(along_alpha.alpha[0], 0);
  EXPECT_EQ(along_alpha.alpha[4], 1);
  EXPECT_EQ(along_alpha.beta, Eigen::VectorXd::Zero(1));
  const Grid along_beta = parse_grid("1x5", "2:3");
  EXPECT_TRUE(along_beta.is_plane());
  EXPECT_EQ(along_beta.alpha, Eigen::VectorXd::Zero(1));
  EXPECT_EQ(along_beta.beta[4], 3);
  const Grid point = parse_grid("1x1", "-1:1");
  EXPECT_EQ(point.num_points(), 1);
  EXPECT_EQ(point.alpha_of(0), 0);
  EXPECT_EQ(point.beta_of(0), 0);
  const Grid slice = parse_grid("5x1", "-1:1,0.5:0.5");
  EXPECT_TRUE(slice.is_plane());
  EXPECT_EQ(slice.beta[0], 0.5);
}

TEST(Grid, RefusesWhatIsNoGrid) {
  for (const char* size : {"",
                           "5",
                           "5x",
                           "x5",
                           "0x5",
                           "5x-1",
                           "5x5x5",
                           "5X5",
                           "2.5x2",
                           "100001x1",
                           "100000x100000",
                           "5x 5",
                           "99999999999999999999x1"}) {
    expect_refusal<ConfigError>([&] { parse_grid(size, "-1:1"); }, "`grid` must be NxM");
  }
  for (const char* span : {"",
                           "1",
                           "1:",
                           ":1",
                           "a:b",
                           "0:1,",
                           "0:1,2",
                           "nan:1",
                           "0:inf",
                           "0:1e101",
                           "0:1,0:1,0:1",
                           "0 :1"}) {
    expect_refusal<ConfigError>([&] { parse_grid("5x5", span); }, "`span` must be A:B");
  }
  expect_refusal<ConfigError>([] { parse_grid("5x5", "1:1"); }, "ascends");
  expect_refusal<ConfigError>([] { parse_grid("5x5", "1:0"); }, "ascends");
  expect_refusal<ConfigError>([] { parse_grid("5x5", "0:1,2:1"); }, "beta");
  expect_refusal<ConfigError>(
      [] { parse_grid("5x5", "1:1.0000000000000002"); },
      "`span`: 5 points of alpha from 1 to 1.0000000000000002 do not differ in double precision");
  expect_refusal<ConfigError>([] { parse_grid("5x1", "0:1,0:1"); }, "one point of beta");
  expect_refusal<ConfigError>([] { parse_grid("1x5", "0:1,0:1"); }, "one point of alpha");
}

TEST(Grid, WithoutPointsIsNoPlane) {
  EXPECT_FALSE(Grid().is_plane());
  expect_refusal([] { require_grid("f", Grid()); }, "f: an empty grid: alpha has no point");
}

TEST(Grid, HasFinitePointsThatAscend) {
  const Eigen::VectorXd fine = Eigen::Vector3d(-1, 0, 2);
  EXPECT_NO_THROW(require_grid("f", {fine, fine}));
  Eigen::VectorXd bad = fine;
  bad[1] = std::numeric_limits<double>::quiet_NaN();
  expect_refusal(
      [&] {
        require_grid("f", {bad, fine});
      },
      "f: the points of alpha must be finite and ascend, but point 1 is nan");
  bad[1] = 3;
  expect_refusal(
      [&] {
        require_grid("f", {fine, bad});
      },
      "beta must be finite and ascend, but point 2 is 2, after 3");
  bad[1] = fine[0];
  expect_refusal([&] { require_grid("f", {bad, fine}); }, "point 1 is -1, after -1");
  bad = Eigen::VectorXd::Constant(1, std::numeric_limits<double>::infinity());
  expect_refusal([&] { require_grid("f", {bad, fine}); }, "point 0 is inf");
}

}  // namespace
}  // namespace hesscope
