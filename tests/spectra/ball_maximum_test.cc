// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <Eigen/LU>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/spectra/ball_maximum.h>
#include <hesscope/spectra/spectrum.h>

#include "support/decompositions.h"
#include "support/matrices.h"
#include "support/maxima.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::expect_refusal;
using test::random_matrix;
using test::random_symmetric;

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<ParameterBlock> blocks_of(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::vector<ParameterBlock> blocks;
  Index offset = 0;
  for (const auto& shape : shapes) {
    Index size = 1;
    for (const std::int64_t length : shape) size *= length;
    blocks.push_back({"b" + std::to_string(blocks.size()), shape, offset, size});
    offset += size;
  }
  return blocks;
}

RowMajor matrix_of(const VectorXd& d, const ParameterBlock& block) {
  const Index rows = block.shape.size() < 2 ? block.size : block.shape[0];
  return Eigen::Map<const RowMajor>(d.data() + block.offset, rows, block.size / rows);
}

double spectral_norm(const MatrixXd& a) { return test::singular_values(a)[0]; }

double nuclear_norm(const MatrixXd& a) { return test::singular_values(a).sum(); }

// lower is attained by the direction, and upper is not below it.
void expect_consistent(const BallMaximum& found, const MatrixXd& h) {
  ASSERT_EQ(found.status, Status::kOk);
  const double value = found.direction.dot(h * found.direction);
  EXPECT_LE(std::abs(value - found.lower), found.rounding);
  EXPECT_GE(found.lower, 0);
  EXPECT_GE(found.upper, found.lower);
  EXPECT_EQ(found.is_closed, found.upper - found.lower <= found.rounding);
  // About 1e-13 of the sum of magnitudes, which bounds every such form.
  EXPECT_LE(found.rounding, 1e-11 * h.cwiseAbs().sum());
}

void expect_closed(const BallMaximum& found, const MatrixXd& h, double expected) {
  expect_consistent(found, h);
  EXPECT_TRUE(found.is_closed) << found.upper - found.lower << " " << found.rounding;
  EXPECT_LE(std::abs(found.lower - expected), 2 * found.rounding) << expected;
}

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
    most = std::max(most, d.dot(h * d));
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
    most = std::max(most, d.dot(h * d));
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

// For two blocks the relaxation is tight, and its dual has one variable:
//   min over w in (0, 1) of the largest eigenvalue of W^-1/2 H W^-1/2, W = diag(w I, (1 - w) I).
TEST(MaximumOnBlockBalls, OfTwoBlocksIsTheBestOfWeightedEigenvalues) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const MatrixXd h = random_symmetric(9, seed);
    const auto weighted = [&](double w) {
      VectorXd scale(9);
      scale << VectorXd::Constant(4, 1 / std::sqrt(w)), VectorXd::Constant(5, 1 / std::sqrt(1 - w));
      return dense_spectrum(scale.asDiagonal() * h * scale.asDiagonal()).largest.value;
    };
    double low = 1e-3;
    double high = 1 - 1e-3;
    for (int i = 0; i < 200; ++i) {  // quasiconvex in w
      const double left = low + (high - low) / 3;
      const double right = high - (high - low) / 3;
      (weighted(left) < weighted(right) ? high : low) =
          weighted(left) < weighted(right) ? right : left;
    }
    const BallMaximum found = maximum_on_block_balls(h, blocks_of({{4}, {5}}));
    expect_consistent(found, h);
    // The search for w ends where differences are rounding: its square root in w.
    EXPECT_NEAR(found.lower, weighted(low), 1e-12 * h.norm());
    EXPECT_TRUE(found.is_closed);
  }
}

// With a single block, what remains of the gradient is rounding and must not be taken for a
// direction.
TEST(MaximumOnBlockBalls, OfOneBlockIsTheLargestEigenvalue) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto n = static_cast<Index>(2 + seed % 17);
    const MatrixXd h = random_symmetric(n, seed);
    const BallMaximum found = maximum_on_block_balls(h, blocks_of({{n}}));
    expect_closed(found, h, std::max(0.0, dense_spectrum(h).largest.value));
  }
}

TEST(MaximumOnBlockBalls, HasTheClosedFormsOfSpecialMatrices) {
  const auto blocks = blocks_of({{2, 3}, {}, {4}});
  const MatrixXd h = random_symmetric(11, 4);
  expect_closed(maximum_on_block_balls(h, blocks_of({{11}})), h, dense_spectrum(h).largest.value);
  MatrixXd apart = MatrixXd::Zero(11, 11);
  double sum = 0;
  for (const ParameterBlock& block : blocks) {
    const MatrixXd own = h.block(block.offset, block.offset, block.size, block.size);
    apart.block(block.offset, block.offset, block.size, block.size) = own;
    sum += std::max(0.0, dense_spectrum(own).largest.value);
  }
  expect_closed(maximum_on_block_balls(apart, blocks), apart, sum);
  const VectorXd v = random_matrix(11, 1, 8);
  const double norms = v.head(6).norm() + std::abs(v[6]) + v.tail(4).norm();
  const MatrixXd outer = v * v.transpose();
  expect_closed(maximum_on_block_balls(outer, blocks), outer, norms * norms);
}

TEST(MaximumOnSpectralBalls, HasTheClosedFormsOfSpecialMatrices) {
  const auto blocks = blocks_of({{2, 3}, {4}, {3, 2}, {2, 2, 2}});
  const VectorXd v = random_matrix(24, 1, 8);
  double norms = 0;
  for (const ParameterBlock& block : blocks) norms += nuclear_norm(matrix_of(v, block));
  const MatrixXd outer = v * v.transpose();
  const BallMaximum found = maximum_on_spectral_balls(outer, blocks);
  expect_consistent(found, outer);
  EXPECT_NEAR(found.lower, norms * norms, 1e-12 * norms * norms);
  EXPECT_NEAR(found.upper, norms * norms, 1e-9 * norms * norms);
  const MatrixXd identity = MatrixXd::Identity(24, 24);
  const double ranks = 2 + 1 + 2 + 2;
  expect_closed(maximum_on_spectral_balls(identity, blocks), identity, ranks);
  const MatrixXd h = random_symmetric(5, 2);
  expect_closed(maximum_on_spectral_balls(h, blocks_of({{1, 3}, {2, 1}})),
                h,
                maximum_on_block_balls(h, blocks_of({{3}, {2}})).lower);
}

// A matrix of which only differences of rows matter, as for logits, except for weight decay w: over
// D, 3 x 4 with singular values 1, the mean of the rows adds w, and the rest the two largest
// eigenvalues of M.
TEST(MaximumOnSpectralBalls, FillsTheDirectionsOfWhichTheRestSaysNothing) {
  const double w = 0.25;
  const MatrixXd of_rows = MatrixXd::Identity(3, 3) - MatrixXd::Constant(3, 3, 1.0 / 3);
  const VectorXd m = Eigen::Vector4d(3, 1, 3, 0.5);
  for (const bool is_transposed : {false, true}) {
    const std::vector<std::int64_t> shape =
        is_transposed ? std::vector<std::int64_t>{4, 3} : std::vector<std::int64_t>{3, 4};
    MatrixXd h = w * MatrixXd::Identity(12, 12);
    for (Index a = 0; a < 12; ++a) {
      for (Index b = 0; b < 12; ++b) {
        const Index row_a = is_transposed ? a % 3 : a / 4;
        const Index row_b = is_transposed ? b % 3 : b / 4;
        const Index col_a = is_transposed ? a / 3 : a % 4;
        const Index col_b = is_transposed ? b / 3 : b % 4;
        if (col_a == col_b) h(a, b) += of_rows(row_a, row_b) * m[col_a];
      }
    }
    const BallMaximum found = maximum_on_spectral_balls(h, blocks_of({shape}));
    expect_consistent(found, h);
    EXPECT_NEAR(found.lower, 3 + 3 + 3 * w, 1e-12);
    EXPECT_NEAR(found.upper, 3 + 3 + 3 * w, 1e-6);
  }
}

// D -> Q D R of a matrix leaves its ball as it is.
TEST(MaximumOnSpectralBalls, DoesNotDependOnRotations) {
  const auto blocks = blocks_of({{3, 4}});
  const MatrixXd h = random_symmetric(12, 7);
  const MatrixXd q = test::random_orthogonal(3, 1);
  const MatrixXd r = test::random_orthogonal(4, 2);
  MatrixXd map(12, 12);  // of rows: vec(Q D R) = map vec(D)
  for (Index k = 0; k < 12; ++k) {
    RowMajor unit = RowMajor::Zero(3, 4);
    unit(k / 4, k % 4) = 1;
    const RowMajor turned = q * unit * r;
    map.col(k) = Eigen::Map<const VectorXd>(turned.data(), 12);
  }
  const MatrixXd product = map * h * map.transpose();
  const MatrixXd rotated = 0.5 * (product + product.transpose());
  const BallMaximum one = maximum_on_spectral_balls(h, blocks);
  const BallMaximum other = maximum_on_spectral_balls(rotated, blocks);
  EXPECT_NEAR(one.lower, other.lower, 1e-9 * one.lower);
  EXPECT_NEAR(one.upper, other.upper, 1e-5 * one.upper);
}

TEST(MaximumOnBalls, NoPointInsideIsAboveTheBoundNorAreDirectionsOutside) {
  const auto blocks = blocks_of({{3, 2}, {4}, {2, 5}});
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const MatrixXd h = random_symmetric(20, seed);
    const BallMaximum cube = maximum_on_cube(h);
    const BallMaximum block = maximum_on_block_balls(h, blocks);
    const BallMaximum spectral = maximum_on_spectral_balls(h, blocks);
    for (const BallMaximum* found : {&cube, &block, &spectral}) expect_consistent(*found, h);
    // The Euclidean ball of a matrix is in the spectral one, that of an entry is between.
    EXPECT_LE(block.lower, spectral.upper);
    EXPECT_LE(block.lower, cube.upper);
    for (const ParameterBlock& each : blocks) {
      constexpr double kRounding = 1e-14;
      EXPECT_LE(matrix_of(block.direction, each).norm(), 1 + kRounding);
      EXPECT_LE(spectral_norm(matrix_of(spectral.direction, each)), 1 + kRounding);
    }
    for (std::uint64_t k = 0; k < 200; ++k) {
      const VectorXd g = h * random_matrix(20, 1, 1000 * seed + k);
      for (const auto& [d, found] : {std::pair(steepest_on_cube(g), &cube),
                                     std::pair(steepest_on_block_balls(g, blocks), &block),
                                     std::pair(steepest_on_spectral_balls(g, blocks), &spectral)}) {
        EXPECT_LE(d.dot(h * d), found->upper);
        EXPECT_LE(d.dot(h * d), found->lower + 1e-9 * found->lower);
      }
    }
  }
}

TEST(MaximumOnBalls, OfNegativeMatricesAndZeroIsZeroInTheMiddle) {
  const auto blocks = blocks_of({{2, 2}, {2}});
  const MatrixXd a = random_matrix(6, 6, 1);
  for (const MatrixXd& h : {MatrixXd(-(a * a.transpose())), MatrixXd(MatrixXd::Zero(6, 6))}) {
    for (const BallMaximum& found : {maximum_on_cube(h),
                                     maximum_on_block_balls(h, blocks),
                                     maximum_on_spectral_balls(h, blocks)}) {
      expect_closed(found, h, 0);
    }
  }
}

TEST(MaximumOnBalls, SaysWhatIsNotFinite) {
  MatrixXd h = random_symmetric(4, 1);
  h(2, 1) = h(1, 2) = kNaN;
  EXPECT_EQ(maximum_on_cube(h).status, Status::kNonFinite);
  EXPECT_EQ(maximum_on_spectral_balls(h, blocks_of({{2, 2}})).status, Status::kNonFinite);
  const MatrixXd huge = MatrixXd::Constant(4, 4, 1e308);
  EXPECT_EQ(maximum_on_cube(huge).status, Status::kNonFinite);  // 16e308
  const double largest =
      maximum_on_block_balls(MatrixXd::Constant(1, 1, 1e308), blocks_of({{1}})).upper;
  EXPECT_NEAR(largest / 1e308, 1, 1e-14);
}

TEST(MaximumOnBalls, RefusesWhatDoesNotFit) {
  const MatrixXd h = random_symmetric(4, 1);
  expect_refusal([&] { maximum_on_cube(h.leftCols(3)); }, "must be square");
  expect_refusal([&] { maximum_on_block_balls(h, blocks_of({{3}})); },
                 "parameter blocks hold 3 parameters, expected 4");
  auto gap = blocks_of({{2}, {2}});
  gap[1].offset = 3;
  expect_refusal([&] { maximum_on_spectral_balls(h, gap); },
                 "parameter block 'b1' has the offset 3, expected 2");
  expect_refusal([&] { maximum_on_cube(h, {.num_starts = 0}); }, "num_starts must be at least 1");
  MatrixXd asymmetric = h;
  asymmetric(0, 1) += 1;
  expect_refusal([&] { maximum_on_cube(asymmetric); }, "must be symmetric");
}

TEST(SteepestOnBalls, HasTheDualNorm) {
  const auto blocks = blocks_of({{3, 2}, {4}, {2, 5}});
  const VectorXd g = random_matrix(20, 1, 3);
  double euclidean = 0;
  double nuclear = 0;
  for (const ParameterBlock& block : blocks) {
    euclidean += matrix_of(g, block).norm();
    nuclear += nuclear_norm(matrix_of(g, block));
  }
  EXPECT_NEAR(g.dot(steepest_on_cube(g)), g.lpNorm<1>(), 1e-13);
  EXPECT_NEAR(g.dot(steepest_on_block_balls(g, blocks)), euclidean, 1e-13);
  EXPECT_NEAR(g.dot(steepest_on_spectral_balls(g, blocks)), nuclear, 1e-13);
  const VectorXd zero = VectorXd::Zero(20);
  EXPECT_EQ(steepest_on_spectral_balls(zero, blocks), zero);
  // For a matrix of rank one, the product of its singular vectors.
  const VectorXd ones = VectorXd::Ones(4);
  EXPECT_LE((steepest_on_spectral_balls(1e-200 * ones, blocks_of({{2, 2}})) - ones / 2).norm(),
            1e-15);
}

// What rounding has left of a singular value has no direction, in the block that it is of.
TEST(SteepestDirection, LeavesOutSingularValuesThatAreRounding) {
  const auto blocks = blocks_of({{2, 2}, {0}, {2, 2}});
  VectorXd g(8);
  g << 1, 1, 1, 1 + 1e-9, 1, 1, 1, 1 + 1e-9;
  const VectorXd sharp = steepest_on_spectral_balls(g, blocks);
  EXPECT_LE((sharp.head(4) - sharp.tail(4)).norm(), 1e-15);
  EXPECT_NEAR(sharp.head(4).norm(), std::sqrt(2), 1e-6);  // both singular values count
  const VectorXd direction = steepest_on_spectral_balls(g, blocks, Eigen::Vector3d(1e-8, 0, 0));
  EXPECT_LE((direction.head(4) - VectorXd::Constant(4, 0.5)).norm(), 1e-8);
  EXPECT_EQ(direction.tail(4), sharp.tail(4));
  EXPECT_THROW(steepest_on_spectral_balls(g, blocks, Eigen::Vector2d(0, 0)), PreconditionError);
}

}  // namespace
}  // namespace hesscope
