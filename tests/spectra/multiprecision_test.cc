// SPDX-License-Identifier: BSD-3-Clause
//
// dense_spectrum against the same matrix diagonalised with 50 digits.
#include <cmath>
#include <cstdint>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/spectra/spectrum.h>

#include "support/eigenvalues_50.h"
#include "support/matrices.h"

namespace hesscope {
namespace {

using test::eigenvalues_50;
using test::Real50;
using test::Vector50;

// Full rank, rank deficient, graded, and clustered matrices of 1 to 8 rows take turns, then a few
// larger ones.
constexpr std::uint64_t kNumSmall = 1024;
constexpr std::uint64_t kNumCases = kNumSmall + 16;
constexpr int kNumEigenvalues = 1024 / 8 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8) + 16 * 30;

Eigen::MatrixXd nth_matrix(std::uint64_t index) {
  const auto n = index < kNumSmall ? static_cast<Eigen::Index>(1 + index / 4 % 8) : 30;
  switch (index % 4) {
    case 0:
      return test::random_symmetric(n, index);
    case 1: {
      const Eigen::MatrixXd factor = test::random_matrix(n, (n + 1) / 2, index);
      return factor * factor.transpose();
    }
    case 2: {
      const Eigen::VectorXd scale =
          (-20.0 * test::random_matrix(n, 1, index + 1).array().abs()).exp();
      return scale.asDiagonal() * test::random_symmetric(n, index) * scale.asDiagonal();
    }
    default:
      return test::with_eigenvalues(
          (1.0 + 1e-14 * test::random_matrix(n, 1, index).array()).matrix(), index);
  }
}

TEST(Multiprecision, SolverHasFiftyDigits) {
  const Eigen::Index n = 6;
  const Vector50 values = eigenvalues_50(test::laplacian(n));
  const Real50 pi = boost::multiprecision::acos(Real50(-1));
  for (Eigen::Index k = 0; k < n; ++k) {
    const Real50 exact = 2 - 2 * boost::multiprecision::cos(Real50(k + 1) * pi / Real50(n + 1));
    EXPECT_LT(boost::multiprecision::abs(values[k] - exact), Real50("1e-47"));
  }
}

TEST(DenseSpectrum, LiesWithinItsRoundingBandOfTheExactEigenvalues) {
  int num_outside = 0;
  int num_eigenvalues = 0;
  for (std::uint64_t index = 0; index < kNumCases; ++index) {
    const Eigen::MatrixXd h = nth_matrix(index);
    const Spectrum spectrum = dense_spectrum(h);
    ASSERT_EQ(spectrum.status, Status::kOk) << "case " << index;
    const Vector50 exact = eigenvalues_50(h);
    for (Eigen::Index k = 0; k < h.rows(); ++k) {
      const auto error = static_cast<double>(Real50(spectrum.eigenvalues[k]) - exact[k]);
      ++num_eigenvalues;
      if (!(std::abs(error) <= spectrum.rounding_band)) ++num_outside;
    }
  }
  EXPECT_EQ(num_outside, 0);
  EXPECT_EQ(num_eigenvalues, kNumEigenvalues);
}

TEST(DenseSpectrum, HasAnExactEigenvalueWithinEachResidual) {
  for (std::uint64_t index = 0; index < kNumCases; ++index) {
    const Eigen::MatrixXd h = nth_matrix(index);
    const Spectrum spectrum = dense_spectrum(h);
    const Vector50 exact = eigenvalues_50(h);
    for (const Eigenvalue& e : {spectrum.smallest, spectrum.median, spectrum.largest}) {
      const Real50 value(e.value);
      const auto distance =
          static_cast<double>((exact.array() - value).abs().minCoeff<Eigen::PropagateNaN>());
      EXPECT_LE(distance, e.residual + spectrum.rounding_band) << "case " << index;
    }
  }
}

}  // namespace
}  // namespace hesscope
