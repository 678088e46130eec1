// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/noise/gradient_covariance.h>
#include <hesscope/noise/noise_alignment.h>

#include "noise/naive.h"
#include "support/matrices.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kAlignmentTolerance = 1e-13;

MatrixXd positive_definite(Index n, std::uint64_t seed) {
  return test::with_eigenvalues(VectorXd::LinSpaced(n, -5.0, 3.0).array().exp(), seed);
}

TEST(NoiseAlignment, OfNoiseLikeTheHessianIsPerfect) {
  const MatrixXd h = positive_definite(20, 1);
  for (const double factor : {1.0, 0x1p600, 0x1p-600}) {
    const NoiseAlignment found = noise_alignment(h, factor * h);
    EXPECT_NEAR(found.cosine.value, 1.0, kAlignmentTolerance);
    EXPECT_NEAR(found.commutator.value, 0.0, kAlignmentTolerance);
    EXPECT_NEAR(noise_alignment(-h, factor * h).cosine.value, -1.0, kAlignmentTolerance);
  }
}

// Powers of one matrix commute; p of H^p is what the fit must find, eigenvalues negative or not.
TEST(NoiseAlignment, FindsTheExponentOfNoiseThatIsAPowerOfTheHessian) {
  const MatrixXd h = positive_definite(20, 2);
  MatrixXd power = h;
  for (int p = 1; p <= 3; ++p, power = power * h) {
    SCOPED_TRACE(p);
    const MatrixXd s = 7.0 * power;
    EXPECT_NEAR(noise_alignment(h, s).commutator.value, 0.0, kAlignmentTolerance);
    for (const double sign : {1.0, -1.0}) {
      const NoiseSpectrum found = noise_spectrum(dense_eigensystem(sign * h), s);
      ASSERT_EQ(found.status, Status::kOk);
      EXPECT_EQ(found.num_fitted, 20);
      EXPECT_NEAR(found.power_law.slope.value, p, 1e-7);
      EXPECT_NEAR(found.power_law.intercept.value, std::log(7.0), 1e-6);
      EXPECT_NEAR(found.power_law.slope_standard_error.value, 0.0, 1e-7);
    }
  }
}

// H = diag(1, -1) and S = (1 1; 1 1): H S = (1 1; -1 -1), H S - S H = (0 2; -2 0).
TEST(NoiseAlignment, OfTwoByTwoIsTheClosedForm) {
  MatrixXd h = MatrixXd::Zero(2, 2);
  h.diagonal() << 1.0, -1.0;
  const MatrixXd s = MatrixXd::Ones(2, 2);
  const NoiseAlignment found = noise_alignment(h, s);
  EXPECT_NEAR(found.cosine.value, 0.0, kAlignmentTolerance);
  EXPECT_NEAR(
      found.commutator.value, std::sqrt(8.0) / (2.0 * std::sqrt(2.0) * 2.0), kAlignmentTolerance);
  const NoiseSpectrum spectrum = noise_spectrum(dense_eigensystem(h), s);
  EXPECT_NEAR(spectrum.noise[0], 1.0, kAlignmentTolerance);
  EXPECT_NEAR(spectrum.noise[1], 1.0, kAlignmentTolerance);
  // Both magnitudes are 1: no line goes through them.
  EXPECT_EQ(spectrum.num_fitted, 2);
  EXPECT_EQ(spectrum.power_law.slope.status, Status::kUndefinedZeroDenominator);
}

TEST(NoiseAlignment, IsTheFormulasOfAModel) {
  const test::FixturePoint point("mlp-spirals-gelu", "000200");
  const MatrixXd h = point.objective().hessian(point.theta);
  const MatrixXd s = gradient_covariance(point.objective(), point.theta).matrix;
  const MatrixXd hs = h * s;
  const MatrixXd sh = s * h;
  const NoiseAlignment found = noise_alignment(h, s);
  EXPECT_NEAR(found.cosine.value, hs.trace() / (h.norm() * s.norm()), kAlignmentTolerance);
  EXPECT_NEAR(
      found.commutator.value, (hs - sh).norm() / (2.0 * h.norm() * s.norm()), kAlignmentTolerance);
  EXPECT_GT(found.commutator.value, 1e-3);
  const Eigensystem eigensystem = dense_eigensystem(h);
  const NoiseSpectrum spectrum = noise_spectrum(eigensystem, s);
  ASSERT_EQ(spectrum.noise.size(), h.rows());
  EXPECT_NEAR(spectrum.noise.sum(), s.trace(), kAlignmentTolerance * s.trace());
  for (Index k = 0; k < h.rows(); ++k) {
    const VectorXd v = eigensystem.eigenvectors.col(k);
    EXPECT_NEAR(spectrum.noise[k], v.dot(s * v), kAlignmentTolerance * s.norm()) << k;
  }
  EXPECT_LE(spectrum.num_fitted, h.rows());
  EXPECT_GT(spectrum.num_fitted, 10);
}

// Eigenvectors of one eigenvalue are any basis of a space. Of H = diag(2, 2, 5, 0, 0, 0) and S, the
// noise is the mean of S_kk over each space, and the line goes through two points.
TEST(NoiseSpectrum, OfEigenvaluesThatCoincideIsTheSameInAnyBasis) {
  VectorXd eigenvalues(6);
  eigenvalues << 0.0, 0.0, 0.0, 2.0, 2.0, 5.0;
  const MatrixXd s = positive_definite(6, 3);
  Eigensystem eigensystem = dense_eigensystem(MatrixXd(eigenvalues.asDiagonal()));
  ASSERT_EQ(eigensystem.status, Status::kOk);
  VectorXd expected(6);
  expected.head(3).setConstant(s.diagonal().head(3).mean());
  expected.segment(3, 2).setConstant(s.diagonal().segment(3, 2).mean());
  expected[5] = s(5, 5);
  const double slope = std::log(expected[5] / expected[3]) / std::log(5.0 / 2.0);
  const Eigen::Rotation2Dd rotation(0.7);
  for (const bool is_turned : {false, true}) {
    SCOPED_TRACE(is_turned);
    if (is_turned) {
      for (const Index first : {0, 1, 3}) {
        eigensystem.eigenvectors.middleCols(first, 2) *= rotation.toRotationMatrix();
      }
    }
    const NoiseSpectrum found = noise_spectrum(eigensystem, s);
    ASSERT_EQ(found.status, Status::kOk);
    EXPECT_LE((found.noise - expected).norm(), kAlignmentTolerance * s.norm());
    EXPECT_EQ(found.num_fitted, 2);
    EXPECT_NEAR(found.power_law.slope.value, slope, kAlignmentTolerance);
  }
}

// Eigenvalues and noise within rounding of zero have no logarithm that means something.
TEST(NoiseSpectrum, FitsWhatIsAboveRounding) {
  VectorXd eigenvalues = VectorXd::Zero(8);
  eigenvalues.tail(5) << 1.0, 2.0, 4.0, 8.0, 16.0;
  VectorXd noise = eigenvalues.array().square();
  noise[1] = 5.0;  // along a direction without curvature
  noise[3] = 0.0;
  const MatrixXd h = eigenvalues.asDiagonal();
  const MatrixXd s = noise.asDiagonal();
  const NoiseSpectrum found = noise_spectrum(dense_eigensystem(h), s);
  EXPECT_EQ(found.num_fitted, 4);
  EXPECT_NEAR(found.power_law.slope.value, 2.0, kAlignmentTolerance);
  const NoiseSpectrum none = noise_spectrum(dense_eigensystem(h), MatrixXd::Zero(8, 8));
  EXPECT_EQ(none.status, Status::kOk);
  EXPECT_EQ(none.noise, VectorXd::Zero(8));
  EXPECT_EQ(none.num_fitted, 0);
  EXPECT_EQ(none.power_law.slope.status, Status::kUndefinedZeroDenominator);
}

TEST(NoiseAlignment, ReadsOnlyLowerTriangles) {
  const MatrixXd h = positive_definite(5, 1);
  const MatrixXd s = positive_definite(5, 2);
  const auto lower = [](MatrixXd a) {
    a.triangularView<Eigen::StrictlyUpper>().setConstant(std::log(-1.0));
    return a;
  };
  EXPECT_EQ(noise_alignment(lower(h), lower(s)).cosine.value, noise_alignment(h, s).cosine.value);
  EXPECT_EQ(noise_spectrum(dense_eigensystem(h), lower(s)).noise,
            noise_spectrum(dense_eigensystem(h), s).noise);
}

TEST(NoiseAlignment, SaysWhatIsUndefined) {
  const MatrixXd h = positive_definite(5, 1);
  const MatrixXd zero = MatrixXd::Zero(5, 5);
  const MatrixXd bad = MatrixXd::Constant(5, 5, kInfinity);
  EXPECT_EQ(noise_alignment(h, zero).cosine.status, Status::kUndefinedZeroDenominator);
  EXPECT_EQ(noise_alignment(zero, h).commutator.status, Status::kUndefinedZeroDenominator);
  EXPECT_EQ(noise_alignment(h, bad).cosine.status, Status::kNonFinite);
  EXPECT_EQ(noise_spectrum(dense_eigensystem(bad), h).status, Status::kNonFinite);
  EXPECT_EQ(noise_spectrum(dense_eigensystem(h), bad).status, Status::kNonFinite);
  test::expect_refusal([&] { noise_alignment(h, MatrixXd::Ones(4, 4)); },
                       "covariance must be 5 x 5, got 4 x 4");
  test::expect_refusal([&] { noise_alignment(MatrixXd::Ones(2, 3), h); }, "noise_alignment");
  test::expect_refusal([&] { noise_spectrum(dense_eigensystem(h), MatrixXd::Ones(4, 4)); },
                       "noise_spectrum: covariance must be 5 x 5");
}

}  // namespace
}  // namespace hesscope
