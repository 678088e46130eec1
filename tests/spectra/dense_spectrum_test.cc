// SPDX-License-Identifier: BSD-3-Clause
//
// Closed forms, awkward inputs and the contract of dense_spectrum.
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include <Eigen/Core>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/spectra/counted_spectrum.h>
#include <hesscope/spectra/eigensystem.h>
#include <hesscope/spectra/extremes.h>
#include <hesscope/spectra/spectrum.h>

#include "support/matrices.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

void expect_counts(const Spectrum& spectrum, int negative, int zero, int positive) {
  EXPECT_EQ(spectrum.num_negative, negative);
  EXPECT_EQ(spectrum.num_zero, zero);
  EXPECT_EQ(spectrum.num_positive, positive);
}

void expect_nothing_reported(const Spectrum& spectrum) {
  EXPECT_EQ(spectrum.proof, Proof::kNone);
  EXPECT_EQ(spectrum.eigenvalues.size(), 0);
  for (const Eigenvalue& e : {spectrum.smallest, spectrum.median, spectrum.largest}) {
    EXPECT_TRUE(std::isnan(e.value));
    EXPECT_TRUE(std::isnan(e.residual));
  }
  EXPECT_TRUE(std::isnan(spectrum.rounding_band));
  expect_counts(spectrum, -1, -1, -1);
}

TEST(DenseSpectrum, MatchesClosedFormOfLaplacian) {
  for (const Eigen::Index n : {1, 2, 3, 5, 20, 300}) {
    SCOPED_TRACE(n);
    const Spectrum spectrum = dense_spectrum(test::laplacian(n));
    ASSERT_EQ(spectrum.status, Status::kOk);
    EXPECT_EQ(spectrum.proof, Proof::kDense);
    ASSERT_EQ(spectrum.eigenvalues.size(), n);
    for (Eigen::Index k = 0; k < n; ++k) {
      const double angle =
          static_cast<double>(k + 1) * std::numbers::pi / static_cast<double>(n + 1);
      EXPECT_NEAR(spectrum.eigenvalues[k], 2.0 - 2.0 * std::cos(angle), spectrum.rounding_band);
    }
    expect_counts(spectrum, 0, 0, static_cast<int>(n));
  }
}

TEST(DenseSpectrum, OfOneNumberIsThatNumber) {
  const Spectrum spectrum = dense_spectrum(MatrixXd::Constant(1, 1, -3.0));
  ASSERT_EQ(spectrum.status, Status::kOk);
  for (const Eigenvalue& e : {spectrum.smallest, spectrum.median, spectrum.largest}) {
    EXPECT_EQ(e.value, -3.0);
    EXPECT_EQ(e.residual, 0.0);
  }
  EXPECT_EQ(spectrum.rounding_band, (1 + 10) * 3.0 * std::numeric_limits<double>::epsilon());
  expect_counts(spectrum, 1, 0, 0);
  EXPECT_EQ(spectrum.num_dead, 0);
}

TEST(DenseSpectrum, MatchesClosedFormOfTwoByTwo) {
  MatrixXd h(2, 2);
  h << 1.0, 2.0, 2.0, -2.0;
  const Spectrum spectrum = dense_spectrum(h);
  EXPECT_NEAR(spectrum.smallest.value, -3.0, spectrum.rounding_band);
  EXPECT_NEAR(spectrum.largest.value, 2.0, spectrum.rounding_band);
  EXPECT_EQ(spectrum.median.value, spectrum.smallest.value);
  expect_counts(spectrum, 1, 0, 1);
}

TEST(DenseSpectrum, OfTheZeroMatrixIsZeroAndAllParametersAreDead) {
  const Spectrum spectrum = dense_spectrum(MatrixXd::Zero(7, 7));
  ASSERT_EQ(spectrum.status, Status::kOk);
  EXPECT_EQ(spectrum.proof, Proof::kDense);
  EXPECT_EQ(spectrum.eigenvalues, VectorXd::Zero(7));
  EXPECT_EQ(spectrum.median.residual, 0.0);
  EXPECT_EQ(spectrum.rounding_band, 0.0);
  expect_counts(spectrum, 0, 7, 0);
  EXPECT_EQ(spectrum.num_dead, 7);
}

TEST(DenseSpectrum, OfADiagonalMatrixIsItsSortedDiagonal) {
  VectorXd diagonal(5);
  diagonal << 3.0, -1.0, 0.1, 1e-9, 2.0;
  const Spectrum spectrum = dense_spectrum(diagonal.asDiagonal().toDenseMatrix());
  VectorXd sorted(5);
  sorted << -1.0, 1e-9, 0.1, 2.0, 3.0;
  EXPECT_EQ(spectrum.eigenvalues, sorted);
  EXPECT_EQ(spectrum.smallest.value, -1.0);
  EXPECT_EQ(spectrum.median.value, 0.1);
  EXPECT_EQ(spectrum.largest.value, 3.0);
}

TEST(DenseSpectrum, MedianOfAnEvenNumberIsTheLowerOne) {
  VectorXd diagonal(4);
  diagonal << 4.0, 1.0, 3.0, 2.0;
  EXPECT_EQ(dense_spectrum(diagonal.asDiagonal().toDenseMatrix()).median.value, 2.0);
}

TEST(DenseSpectrum, FindsOneEigenvalueOfARankOneMatrix) {
  const Spectrum spectrum = dense_spectrum(MatrixXd::Ones(50, 50));
  EXPECT_NEAR(spectrum.largest.value, 50.0, spectrum.rounding_band);
  expect_counts(spectrum, 0, 49, 1);
  EXPECT_EQ(spectrum.num_dead, 0);
}

// The matrix on which restarted Lanczos reports a wrong smallest eigenvalue with a small residual.
TEST(DenseSpectrum, CountsTheRankOfAPositiveSemidefiniteMatrix) {
  const MatrixXd factor = test::random_matrix(100, 20, 7);
  const Spectrum spectrum = dense_spectrum(factor * factor.transpose());
  ASSERT_EQ(spectrum.status, Status::kOk);
  EXPECT_LE(std::abs(spectrum.smallest.value), spectrum.rounding_band);
  EXPECT_LE(std::abs(spectrum.median.value), spectrum.rounding_band);
  expect_counts(spectrum, 0, 80, 20);
}

TEST(DenseSpectrum, PairsEigenvaluesOfABipartiteMatrix) {
  const Eigen::Index n = 40;
  MatrixXd h = MatrixXd::Zero(n, n);
  h.bottomLeftCorner(n / 2, n / 2) = test::random_matrix(n / 2, n / 2, 11);
  h.topRightCorner(n / 2, n / 2) = h.bottomLeftCorner(n / 2, n / 2).transpose();
  const Spectrum spectrum = dense_spectrum(h);
  ASSERT_EQ(spectrum.status, Status::kOk);
  for (Eigen::Index k = 0; k < n; ++k) {
    EXPECT_NEAR(spectrum.eigenvalues[k], -spectrum.eigenvalues[n - 1 - k], spectrum.rounding_band);
  }
  expect_counts(spectrum, 20, 0, 20);
}

TEST(DenseSpectrum, RefusesAnAsymmetricMatrixAndSaysWhere) {
  for (const Eigen::Index n : {3, 70, 200}) {
    for (const double scale : {1e-300, 1.0, 1e300}) {
      const MatrixXd h = scale * test::random_symmetric(n, 13);
      MatrixXd bad = h;
      bad(n - 1, 1) += 0.25 * scale;
      bad(0, 2) += 0.125 * scale;  // smaller
      const std::string where =
          fmt::format("must be symmetric; entries ({}, 1) and (1, {}) are {} and {}",
                      n - 1,
                      n - 1,
                      bad(n - 1, 1),
                      bad(1, n - 1));
      test::expect_refusal([&] { dense_spectrum(bad); }, "dense_spectrum: hessian " + where);
      test::expect_refusal([&] { counted_spectrum(bad); }, where);
      test::expect_refusal([&] { dense_eigensystem(bad); }, where);
      test::expect_refusal([&] { extreme_eigenpairs(bad); }, where);
      test::expect_refusal(
          [&] { dense_spectrum(h.triangularView<Eigen::Lower>().toDenseMatrix()); },
          "(H + H^T) / 2");
      EXPECT_EQ(dense_spectrum((bad + bad.transpose()) / 2).status, Status::kOk);
    }
  }
}

// By rounding alone, entries of P^-1/2 H P^-1/2 differ; those below the diagonal count.
TEST(DenseSpectrum, TakesWhatRoundingMadeOfASymmetricMatrix) {
  for (const double scale : {5e-324, 1e-310, 1e-300, 1.0, 1e300}) {
    const MatrixXd h = scale * test::random_symmetric(40, 17);
    const VectorXd d = test::random_matrix(40, 1, 19).cwiseAbs().array() + 0.1;
    const MatrixXd product = d.asDiagonal() * h * d.asDiagonal();
    const MatrixXd lower = product.selfadjointView<Eigen::Lower>();
    const Spectrum spectrum = dense_spectrum(product);
    ASSERT_EQ(spectrum.status, Status::kOk);
    EXPECT_EQ(spectrum.eigenvalues, dense_spectrum(lower).eigenvalues);
  }
}

TEST(DenseSpectrum, ReadsBothTrianglesForWhatIsNotFinite) {
  for (const double bad : {kNaN, kInfinity}) {
    MatrixXd h = test::random_symmetric(30, 13);
    h(4, 20) = bad;
    EXPECT_EQ(dense_spectrum(h).status, Status::kNonFinite);
    EXPECT_EQ(dense_eigensystem(h).status, Status::kNonFinite);
    EXPECT_EQ(counted_spectrum(h).status, Status::kNonFinite);
  }
}

TEST(DenseSpectrum, ReportsTheResidualItMeasured) {
  const Spectrum spectrum = dense_spectrum(test::random_symmetric(60, 17));
  for (const Eigenvalue& e : {spectrum.smallest, spectrum.median, spectrum.largest}) {
    EXPECT_GT(e.residual, 0.0);
    EXPECT_LT(e.residual, spectrum.rounding_band);
  }
}

TEST(DenseSpectrum, ReportsNothingOfANonFiniteMatrix) {
  for (const double bad : {kNaN, kInfinity, -kInfinity}) {
    for (const Eigen::Index row : {1, 4}) {
      MatrixXd h = test::random_symmetric(5, 19);
      h(row, 1) = bad;
      const Spectrum spectrum = dense_spectrum(h);
      EXPECT_EQ(spectrum.status, Status::kNonFinite);
      EXPECT_EQ(spectrum.num_dead, -1);
      expect_nothing_reported(spectrum);
    }
  }
}

TEST(DenseSpectrum, SaysNonFiniteWhenAnEigenvalueOverflows) {
  const Spectrum spectrum = dense_spectrum(MatrixXd::Constant(4, 4, 1e308));
  EXPECT_EQ(spectrum.status, Status::kNonFinite);
  expect_nothing_reported(spectrum);
}

TEST(DenseSpectrum, HasTheSameDigitsAtEveryPowerOfTwo) {
  const MatrixXd h = test::random_symmetric(25, 23);
  const Spectrum reference = dense_spectrum(h);
  for (const int exponent : {-900, -500, -1, 1, 500, 1000}) {
    SCOPED_TRACE(exponent);
    const double factor = std::ldexp(1.0, exponent);
    const Spectrum spectrum = dense_spectrum(h * factor);
    ASSERT_EQ(spectrum.status, Status::kOk);
    EXPECT_EQ(spectrum.eigenvalues, reference.eigenvalues * factor);
    EXPECT_EQ(spectrum.smallest.residual, reference.smallest.residual * factor);
    EXPECT_EQ(spectrum.rounding_band, reference.rounding_band * factor);
    EXPECT_EQ(spectrum.num_negative, reference.num_negative);
  }
}

TEST(DenseSpectrum, IsRightAtTheEndsOfTheRangeOfDouble) {
  for (const double magnitude : {1e-310, 1e-300, 1e300, 8e307}) {
    SCOPED_TRACE(magnitude);
    MatrixXd h(3, 3);  // eigenvalues 2 - sqrt 2, 2, 2 + sqrt 2, times 1/2
    h = 0.5 * magnitude * test::laplacian(3);
    const Spectrum spectrum = dense_spectrum(h);
    ASSERT_EQ(spectrum.status, Status::kOk);
    const double tolerance = spectrum.rounding_band + 2.0 * kSmallest;
    EXPECT_NEAR(spectrum.smallest.value, (1.0 - std::numbers::sqrt2 / 2) * magnitude, tolerance);
    EXPECT_NEAR(spectrum.median.value, magnitude, tolerance);
    EXPECT_NEAR(spectrum.largest.value, (1.0 + std::numbers::sqrt2 / 2) * magnitude, tolerance);
    EXPECT_LE(spectrum.largest.residual, spectrum.rounding_band);
    expect_counts(spectrum, 0, 0, 3);
  }
}

TEST(DenseSpectrum, IsExactForTheSmallestNumbersThereAre) {
  MatrixXd h(2, 2);
  h << 2.0 * kSmallest, kSmallest, kSmallest, 2.0 * kSmallest;
  const Spectrum spectrum = dense_spectrum(h);
  ASSERT_EQ(spectrum.status, Status::kOk);
  EXPECT_EQ(spectrum.smallest.value, kSmallest);
  EXPECT_EQ(spectrum.largest.value, 3.0 * kSmallest);
  EXPECT_EQ(spectrum.num_dead, 0);
  expect_counts(spectrum, 0, 0, 2);
}

TEST(DenseSpectrum, CountsIdenticallyZeroRowsAsDead) {
  MatrixXd h = test::random_symmetric(8, 29);
  for (const Eigen::Index dead : {0, 3, 7}) {
    h.row(dead).setZero();
    h.col(dead).setConstant(-0.0);
  }
  const Spectrum spectrum = dense_spectrum(h);
  EXPECT_EQ(spectrum.num_dead, 3);
  EXPECT_EQ(spectrum.num_zero, 3);
}

TEST(DenseSpectrum, ARowWithOneEntryOffTheDiagonalIsAlive) {
  MatrixXd h = MatrixXd::Zero(4, 4);
  h(3, 1) = h(1, 3) = 1e-200;
  EXPECT_EQ(dense_spectrum(h).num_dead, 2);
}

// A parameter too weak to be distinguished from zero is numerically zero, not dead.
TEST(DenseSpectrum, TellsDeadParametersFromNumericalZeros) {
  VectorXd diagonal(4);
  diagonal << 1.0, 1e-20, 1e-300, 0.0;
  const Spectrum spectrum = dense_spectrum(diagonal.asDiagonal().toDenseMatrix());
  EXPECT_EQ(spectrum.num_dead, 1);
  expect_counts(spectrum, 0, 3, 1);
}

TEST(DenseSpectrum, AcceptsAWindowOfALargerMatrix) {
  const MatrixXd large = test::random_symmetric(40, 31);
  const Spectrum spectrum = dense_spectrum(large.block(3, 3, 21, 21));
  EXPECT_EQ(spectrum.eigenvalues, dense_spectrum(MatrixXd(large.block(3, 3, 21, 21))).eigenvalues);
}

TEST(DenseSpectrum, RefusesWhatIsNotSquare) {
  EXPECT_THROW(dense_spectrum(MatrixXd(0, 0)), PreconditionError);
  try {
    dense_spectrum(MatrixXd::Zero(2, 3));
    FAIL() << "accepted";
  } catch (const PreconditionError& error) {
    EXPECT_NE(std::string(error.what()).find("got 2x3"), std::string::npos) << error.what();
  }
}

TEST(DenseSpectrum, RefusesMoreRowsThanLapackCanCountBeforeReadingAny) {
  const Eigen::Index too_many = Eigen::Index{1} << 31;
  const double nothing = 0.0;
  EXPECT_THROW(dense_spectrum(Eigen::Map<const MatrixXd>(&nothing, too_many, too_many)),
               PreconditionError);
}

TEST(LowerMedian, IsTheOrderStatisticOfTheLowerMiddle) {
  EXPECT_EQ(lower_median(Eigen::Vector3d(3.0, 1.0, 2.0)), 2.0);
  EXPECT_EQ(lower_median(Eigen::Vector4d(4.0, 1.0, 3.0, 2.0)), 2.0);
  EXPECT_EQ(lower_median(Eigen::Vector2d(5.0, -5.0)), -5.0);
  EXPECT_EQ(lower_median(VectorXd::Constant(1, 7.0)), 7.0);
}

TEST(LowerMedian, OfNothingOrOfNonFiniteValuesIsNaN) {
  EXPECT_TRUE(std::isnan(lower_median(VectorXd())));
  EXPECT_TRUE(std::isnan(lower_median(Eigen::Vector3d(1.0, kNaN, 2.0))));
  EXPECT_TRUE(std::isnan(lower_median(Eigen::Vector3d(1.0, kInfinity, 2.0))));
}

TEST(LowerMedian, LeavesItsArgumentAsItIs) {
  const Eigen::Vector3d values(3.0, 1.0, 2.0);
  EXPECT_EQ(lower_median(values), 2.0);
  EXPECT_EQ(values, Eigen::Vector3d(3.0, 1.0, 2.0));
}

}  // namespace
}  // namespace hesscope
