// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/linalg/singular_values.h>
#include <hesscope/spectra/spectrum.h>

#include "support/matrices.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

TEST(ThinSvd, IsADecompositionOfAnyShape) {
  const std::pair<Index, Index> shapes[] = {{1, 1}, {7, 1}, {1, 7}, {5, 5}, {40, 12}, {12, 40}};
  for (const auto& [m, n] : shapes) {
    const MatrixXd a = test::random_matrix(m, n, 3);
    const SingularValues svd = thin_svd(a);
    const Index k = std::min(m, n);
    ASSERT_EQ(svd.status, Status::kOk);
    ASSERT_EQ(svd.values.size(), k);
    const double tolerance = 50 * kEpsilon * static_cast<double>(m + n);
    const MatrixXd product = svd.left * svd.values.asDiagonal() * svd.right.transpose();
    EXPECT_LE((product - a).norm(), tolerance * a.norm());
    EXPECT_LE((svd.left.transpose() * svd.left - MatrixXd::Identity(k, k)).norm(), tolerance);
    EXPECT_LE((svd.right.transpose() * svd.right - MatrixXd::Identity(k, k)).norm(), tolerance);
    for (Index i = 0; i < k; ++i) {
      EXPECT_GE(svd.values[i], i + 1 < k ? svd.values[i + 1] : 0.0);
    }
  }
}

TEST(ThinSvd, HasTheRootsOfTheGramMatrixsEigenvalues) {
  const MatrixXd a = test::random_matrix(30, 8, 5);
  const Spectrum gram = dense_spectrum(a.transpose() * a);
  const SingularValues svd = thin_svd(a);
  EXPECT_LE(test::largest_difference(svd.values.reverse().cwiseAbs2(), gram.eigenvalues),
            gram.rounding_band);
}

TEST(ThinSvd, OfTheZeroMatrixIsZeroWithOrthonormalVectors) {
  const SingularValues svd = thin_svd(MatrixXd::Zero(6, 3));
  ASSERT_EQ(svd.status, Status::kOk);
  EXPECT_EQ(svd.values, Eigen::VectorXd::Zero(3));
  EXPECT_EQ((svd.right.transpose() * svd.right).eval(), MatrixXd::Identity(3, 3));
}

TEST(ThinSvd, SaysNonFiniteAndRefusesNothingness) {
  MatrixXd a = MatrixXd::Ones(3, 2);
  a(1, 1) = std::nan("");
  EXPECT_EQ(thin_svd(a).status, Status::kNonFinite);
  EXPECT_THROW(thin_svd(MatrixXd(0, 3)), PreconditionError);
  EXPECT_THROW(thin_svd(MatrixXd(3, 0)), PreconditionError);
}

}  // namespace
}  // namespace hesscope
