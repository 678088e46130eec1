// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include <hesscope/landscape/plane.h>

#include "landscape/indefinite_quadratic.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using test::expect_refusal;

constexpr Eigen::Index kNumParameters = 20;

Plane skew_plane() {
  Plane plane{test::uniform(kNumParameters, 1, 3), test::uniform(kNumParameters, 2, 4)};
  plane.directions.col(1) = 1e-3 * (plane.directions.col(0) + 0.2 * plane.directions.col(1));
  return plane;
}

TEST(PlaneAt, IsTheCentreToTheLastBitAtZero) {
  Plane plane = skew_plane();
  plane.centre[3] = -0.0;
  const Eigen::VectorXd at = plane.at(0, 0);
  EXPECT_EQ(std::memcmp(at.data(), plane.centre.data(), kNumParameters * sizeof(double)), 0);
  const Eigen::VectorXd moved = plane.at(0.5, -2);
  for (Eigen::Index i = 0; i < kNumParameters; ++i) {
    EXPECT_EQ(moved[i],
              (plane.centre[i] + 0.5 * plane.directions(i, 0)) + -2 * plane.directions(i, 1));
  }
}

TEST(PlaneProject, FindsCoordinatesAndDistance) {
  const Plane plane = skew_plane();
  const Eigen::MatrixXd q = plane.basis();
  EXPECT_TRUE((q.transpose() * q - Eigen::Matrix2d::Identity()).norm() <= 1e-14);
  Eigen::VectorXd away = test::uniform(kNumParameters, 1, 5);
  away -= q * (q.transpose() * away);
  const Plane::Projection found = plane.project(plane.at(1.5, 700) + away);
  EXPECT_NEAR(found.alpha, 1.5, 1e-11);  // the angle between the directions is 0.2
  EXPECT_NEAR(found.beta, 700, 1e-8);
  EXPECT_NEAR(found.residual, away.norm(), 1e-12);
}

TEST(PlaneProject, OnALineHasNoBeta) {
  Plane plane = skew_plane();
  plane.directions = plane.directions.leftCols(1).eval();
  const Eigen::VectorXd theta = plane.centre + test::uniform(kNumParameters, 1, 6);
  const Plane::Projection found = plane.project(theta);
  const Eigen::VectorXd d = plane.directions.col(0);
  const double alpha = d.dot(theta - plane.centre) / d.dot(d);
  EXPECT_NEAR(found.alpha, alpha, 1e-14);
  EXPECT_EQ(found.beta, 0);
  EXPECT_NEAR(found.residual, (theta - plane.centre - alpha * d).norm(), 1e-14);
}

TEST(PlaneProject, OfTheCentreIsZeroAndOfNaNIsNaN) {
  const Plane plane = skew_plane();
  const Plane::Projection centre = plane.project(plane.centre);
  EXPECT_EQ(centre.alpha, 0);
  EXPECT_EQ(centre.beta, 0);
  EXPECT_EQ(centre.residual, 0);
  Eigen::VectorXd bad = plane.centre;
  bad[0] = std::nan("");
  EXPECT_TRUE(std::isnan(plane.project(bad).alpha));
  EXPECT_TRUE(std::isnan(plane.project(bad).residual));
}

TEST(Plane, RefusesWhatIsNoPlane) {
  const Plane plane = skew_plane();
  const Eigen::VectorXd longer = test::uniform(kNumParameters + 1, 1, 6);
  expect_refusal([&] { plane.project(longer); },
                 "Plane::project: theta must have 20 entries, got 21");
  Plane line = plane;
  line.directions = plane.directions.leftCols(1).eval();
  expect_refusal([&] { line.at(1, 1); }, "Plane::at: beta must be 0 without a second direction");
  Plane parallel = plane;
  parallel.directions.col(1) = -3 * plane.directions.col(0);
  expect_refusal([&] { parallel.project(plane.centre); }, "not parallel");
  expect_refusal([&] { parallel.basis(); }, "not parallel");
  Plane none = plane;
  none.directions.col(0).setZero();
  expect_refusal([&] { none.project(plane.centre); }, "not zero");
  Plane shorter = plane;
  shorter.directions = plane.directions.topRows(5).eval();
  expect_refusal([&] { shorter.at(1, 0); },
                 "directions of 20 numbers, as the centre has, found 2 of 5");
  expect_refusal([&] { shorter.project(plane.centre); }, "found 2 of 5");
  Plane point = plane;
  point.directions.resize(kNumParameters, 0);
  expect_refusal([&] { point.at(0, 0); }, "found 0 of 20");
}

TEST(Cosine, OfVectorsOfDifferentSizesIsRefused) {
  expect_refusal([] { cosine(Eigen::VectorXd::Ones(5), Eigen::VectorXd::Ones(2)); },
                 "cosine: the vectors must have the same size, got 5 and 2");
}

TEST(Cosine, OfLongVectorsDoesNotOverflow) {
  const Eigen::VectorXd a = 1e200 * Eigen::Vector2d(1, 0);
  const Eigen::VectorXd b = 1e-200 * Eigen::Vector2d(1, 1);
  EXPECT_NEAR(cosine(a, b), std::sqrt(0.5), 1e-15);
}

}  // namespace
}  // namespace hesscope
