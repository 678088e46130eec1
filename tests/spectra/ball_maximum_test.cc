// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/spectra/ball_maximum.h>
#include <hesscope/spectra/spectrum.h>

#include "spectra/ball_checks.h"
#include "support/decompositions.h"
#include "support/matrices.h"
#include "support/maxima.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::expect_closed;
using test::expect_consistent;
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
    expect_closed(found, h, test::larger(0.0, dense_spectrum(h).largest.value));
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
    sum += test::larger(0.0, dense_spectrum(own).largest.value);
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
