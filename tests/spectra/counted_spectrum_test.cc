// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/spectra/counted_spectrum.h>
#include <hesscope/spectra/spectrum.h>

#include "support/matrices.h"

namespace hesscope {
namespace {

// Each is within a rounding band of the truth.
void expect_same(const Spectrum& counted, const Spectrum& dense) {
  ASSERT_EQ(counted.status, Status::kOk);
  EXPECT_EQ(counted.proof, Proof::kCounted);
  EXPECT_EQ(counted.eigenvalues.size(), 0);
  const double band = 2 * dense.rounding_band;
  EXPECT_LE(std::abs(counted.smallest.value - dense.smallest.value), band);
  EXPECT_LE(std::abs(counted.median.value - dense.median.value), band);
  EXPECT_LE(std::abs(counted.largest.value - dense.largest.value), band);
  EXPECT_LE(std::abs(counted.median_magnitude - dense.median_magnitude), band);
  EXPECT_EQ(counted.num_dead, dense.num_dead);
  EXPECT_EQ(counted.num_negative + counted.num_zero + counted.num_positive,
            dense.eigenvalues.size());
}

TEST(CountedSpectrum, IsTheDenseOneAtItsThreeRanks) {
  for (const Eigen::Index n : {1, 2, 3, 4, 5, 20, 61}) {
    for (const unsigned seed : {1U, 2U, 3U}) {
      const Eigen::MatrixXd h = test::random_symmetric(n, seed);
      const Spectrum counted = counted_spectrum(h);
      const Spectrum dense = dense_spectrum(h);
      expect_same(counted, dense);
      EXPECT_EQ(counted.num_negative, dense.num_negative);
      EXPECT_EQ(counted.num_zero, dense.num_zero);
    }
  }
}

TEST(CountedSpectrum, SeesZeroAndDeadDirections) {
  Eigen::MatrixXd h = Eigen::MatrixXd::Zero(7, 7);
  expect_same(counted_spectrum(h), dense_spectrum(h));
  EXPECT_EQ(counted_spectrum(h).num_zero, 7);
  h.topLeftCorner(2, 2) << 1, 2, 2, 1;  // eigenvalues -1 and 3
  const Spectrum counted = counted_spectrum(h);
  expect_same(counted, dense_spectrum(h));
  EXPECT_EQ(counted.num_dead, 5);
  EXPECT_EQ(counted.num_zero, 5);
  EXPECT_EQ(counted.num_negative, 1);
  EXPECT_EQ(counted.median_magnitude, 0.0);
}

// Down to where the numbers are subnormal.
TEST(CountedSpectrum, CountsTinyMatricesAsLargeOnes) {
  const Eigen::MatrixXd positive = Eigen::MatrixXd::Ones(5, 5) + Eigen::MatrixXd::Identity(5, 5);
  Eigen::MatrixXd mixed = positive;
  mixed.row(4) *= -1;
  mixed.col(4) *= -1;
  mixed(4, 4) = -7;
  for (const double scale : {1e-300, 1e-306, 1e-307, 2.3e-308, 1e-310}) {
    SCOPED_TRACE(scale);
    const Spectrum counted = counted_spectrum(scale * positive);
    ASSERT_EQ(counted.status, Status::kOk);
    EXPECT_EQ(counted.num_negative, 0);
    EXPECT_EQ(counted.num_zero, 0);
    EXPECT_EQ(counted.num_positive, 5);
    EXPECT_NEAR(counted.median_magnitude / scale, 1.0, 1e-12);
    EXPECT_LT(counted.rounding_band, 1e-12 * scale);
    EXPECT_EQ(counted_spectrum(scale * mixed).num_negative, 1);
    EXPECT_EQ(counted_spectrum(scale * mixed).num_positive, 4);
    const Spectrum flat = counted_spectrum(scale * Eigen::MatrixXd::Ones(5, 5));
    EXPECT_EQ(flat.num_negative, 0);
    EXPECT_EQ(flat.num_zero, 4);
    EXPECT_EQ(flat.num_positive, 1);
    EXPECT_LE(flat.median_magnitude, flat.rounding_band);
  }
}

TEST(CountedSpectrum, RefusesWhatIsNotFiniteOrNotSquare) {
  Eigen::MatrixXd h = Eigen::MatrixXd::Identity(3, 3);
  h(2, 1) = kNaN;
  const Spectrum counted = counted_spectrum(h);
  EXPECT_EQ(counted.status, Status::kNonFinite);
  EXPECT_EQ(counted.proof, Proof::kNone);
  EXPECT_TRUE(std::isnan(counted.largest.value));
  EXPECT_THROW(counted_spectrum(Eigen::MatrixXd(2, 3)), PreconditionError);
}

}  // namespace
}  // namespace hesscope
