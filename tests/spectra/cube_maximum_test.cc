// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <Eigen/Core>
#include <Eigen/LU>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/spectra/ball_maximum.h>

#include "spectra/ball_checks.h"
#include "support/decompositions.h"
#include "support/matrices.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::expect_closed;
using test::expect_consistent;
using test::random_matrix;
using test::random_symmetric;

// The maximum over the cube from every way to hold entries at -1 and 1 and solve for the others: it
// is at one of them, as on the face that it is in the interior of the gradient vanishes.
double maximum_by_faces(const MatrixXd& h) {
  const Index n = h.rows();
  double most = 0;
  std::vector<int> state(static_cast<std::size_t>(n), -1);
  for (;;) {
    std::vector<Index> fixed;
    std::vector<Index> inner;
    VectorXd d = VectorXd::Zero(n);
    for (Index i = 0; i < n; ++i) {
      d[i] = state[std::size_t(i)];
      (d[i] == 0 ? inner : fixed).push_back(i);
    }
    if (!inner.empty() && !fixed.empty()) {
      const VectorXd x = test::solve_symmetric(h(inner, inner), -(h(inner, fixed) * d(fixed)));
      if ((x.array().abs() <= 1).all()) d(inner) = x;
    }
    most = test::larger(most, d.dot(h * d));
    std::size_t i = 0;
    while (i < state.size() && state[i] == 1) state[i++] = -1;
    if (i == state.size()) return most;
    ++state[i];
  }
}

// Over signs alone, the last one 1.
double maximum_by_signs(const MatrixXd& h) {
  const Index n = h.rows();
  double most = 0;
  for (std::int64_t code = 0; code < std::int64_t{1} << (n - 1); ++code) {
    VectorXd d(n);
    for (Index i = 0; i < n; ++i) d[i] = (code >> i & 1) != 0 ? -1 : 1;
    most = test::larger(most, d.dot(h * d));
  }
  return most;
}

TEST(MaximumOnCube, IsThatOfAllFaces) {
  std::uint64_t seed = 0;
  int num_branched = 0;
  for (Index n = 1; n <= 7; ++n) {
    for (int k = 0; k < 12; ++k) {
      MatrixXd h = random_symmetric(n, ++seed);
      h.diagonal().array() -= 0.5 * (k % 4);  // up to negative definite
      const BallMaximum found = maximum_on_cube(h);
      expect_closed(found, h, maximum_by_faces(h));
      EXPECT_LE(test::largest_magnitude(found.direction), 1);
      if (found.num_subproblems > 0) ++num_branched;
    }
  }
  EXPECT_GE(num_branched, 5);
}

// In extended precision, over the entries that the face leaves free; nothing where they have no
// single solution, or one outside.
std::optional<long double> value_on_face(const MatrixXd& h, const std::vector<int>& state) {
  using Extended = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  const Extended wide = h.cast<long double>();
  std::vector<Index> fixed;
  std::vector<Index> inner;
  Extended d = Extended::Zero(h.rows(), 1);
  for (Index i = 0; i < h.rows(); ++i) {
    d(i) = state[std::size_t(i)];
    (state[std::size_t(i)] == 0 ? inner : fixed).push_back(i);
  }
  if (!inner.empty()) {
    const Extended right = -(wide(inner, fixed) * d(fixed, 0));
    const Extended x = Extended(wide(inner, inner)).fullPivLu().solve(right);
    if (!(x.array().abs() <= 1.0L).all()) return std::nullopt;
    d(inner, 0) = x;
  }
  return (d.transpose() * wide * d)(0, 0);
}

// Matrices that are nearly singular on faces, and negative on the diagonal: their maxima lie
// between ends, where they are solved for.
TEST(MaximumOnCube, NoFaceIsAboveTheBoundByRounding) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto n = static_cast<Index>(3 + seed % 3);
    const MatrixXd b = random_matrix(n, n - 1, seed);
    const MatrixXd h = 0.05 * random_symmetric(n, seed + 1000) - b * b.transpose();
    const MatrixXd symmetric = 0.5 * (h + h.transpose());
    const BallMaximum found = maximum_on_cube(symmetric, {.max_subproblems = 100'000});
    ASSERT_EQ(found.status, Status::kOk);
    EXPECT_TRUE(found.is_closed) << seed << ": " << found.upper - found.lower;
    std::vector<int> state(static_cast<std::size_t>(n), -1);
    for (std::size_t i = 0; i < state.size();) {
      if (const auto value = value_on_face(symmetric, state)) {
        EXPECT_LE(*value, static_cast<long double>(found.upper)) << seed;
      }
      for (i = 0; i < state.size() && state[i] == 1; ++i) state[i] = -1;
      if (i < state.size()) ++state[i];
    }
  }
}

TEST(MaximumOnCube, IsAtMostTheSumOfMagnitudes) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const MatrixXd h = random_symmetric(40, seed).cwiseAbs();
    EXPECT_LE(maximum_on_cube(h).upper, h.sum() * (1 + 2e-12));
  }
}

TEST(MaximumOnCube, IsThatOfAllSigns) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const MatrixXd a = random_matrix(13, 9, seed);
    const MatrixXd h = a * a.transpose();
    const BallMaximum found = maximum_on_cube(h);
    expect_closed(found, h, maximum_by_signs(h));
    EXPECT_EQ(found.direction.cwiseAbs(), VectorXd::Ones(13));
  }
}

TEST(MaximumOnCube, HasTheClosedFormsOfSpecialMatrices) {
  const VectorXd values = random_matrix(40, 1, 5);
  const MatrixXd diagonal = values.asDiagonal();
  expect_closed(maximum_on_cube(diagonal), diagonal, values.cwiseMax(0).sum());
  const MatrixXd outer = values * values.transpose();
  expect_closed(maximum_on_cube(outer), outer, std::pow(values.lpNorm<1>(), 2));
  const MatrixXd positive = random_symmetric(40, 6).cwiseAbs();
  const MatrixXd flipped =
      values.cwiseSign().asDiagonal() * positive * values.cwiseSign().asDiagonal();
  expect_closed(maximum_on_cube(flipped), flipped, positive.sum());  // sum |H_ij|
}

TEST(MaximumOnCube, HoldsTheMaximumBetweenItsBoundsWhereItStops) {
  const MatrixXd h = random_symmetric(24, 3);
  const BallMaximum all = maximum_on_cube(h);
  ASSERT_TRUE(all.is_closed);
  double before = kInfinity;
  for (const std::int64_t most : {0, 2, 20}) {
    const BallMaximum found = maximum_on_cube(h, {.max_subproblems = most});
    expect_consistent(found, h);
    EXPECT_FALSE(found.is_closed);
    EXPECT_LE(found.lower, all.lower + all.rounding);
    EXPECT_GE(found.upper, all.lower - all.rounding);
    EXPECT_LE(found.upper, before);
    before = found.upper;
    EXPECT_LE(found.num_subproblems, most + 3);
  }
  EXPECT_LT(before, h.cwiseAbs().sum());
}

TEST(MaximumOnCube, DoesNotDependOnSignsOrderOrPowersOfTwo) {
  const MatrixXd h = random_symmetric(16, 11);
  const double expected = maximum_on_cube(h).lower;
  const VectorXd signs = random_matrix(16, 1, 2).cwiseSign();
  const MatrixXd flipped = signs.asDiagonal() * h * signs.asDiagonal();
  expect_closed(maximum_on_cube(flipped), flipped, expected);
  expect_closed(maximum_on_cube(h.reverse()), h.reverse(), expected);
  for (const int exponent : {-900, 900}) {
    const MatrixXd scaled = std::ldexp(1.0, exponent) * h;
    EXPECT_EQ(maximum_on_cube(scaled).lower, std::ldexp(expected, exponent));
  }
}

}  // namespace
}  // namespace hesscope
