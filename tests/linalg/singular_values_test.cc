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

// A third row that is the sum of the other two, for many matrices: what a decomposition leaves of
// the smallest singular value is mostly not 0.
TEST(SingularEnds, OfARowThatDependsOnOthersIsZero) {
  int num_left = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    MatrixXd a = test::random_matrix(3, 40, seed);
    a.row(2) = a.row(0) + a.row(1);
    num_left += thin_svd(a).values[2] > 0 ? 1 : 0;
    for (const MatrixXd& each : {a, MatrixXd(0x1p-500 * a), MatrixXd(a.leftCols(3))}) {
      const SingularEnds ends = singular_ends(each);
      ASSERT_EQ(ends.status, Status::kOk);
      EXPECT_EQ(ends.smallest, 0);
      EXPECT_NEAR(ends.largest / thin_svd(each).values[0], 1, 1e-13);
    }
  }
  EXPECT_GT(num_left, 0);
}

TEST(SingularEnds, KeepsWhatIsSmallButNotRounding) {
  MatrixXd a = MatrixXd::Zero(2, 5);
  a(0, 0) = 1;
  for (const double small : {1e-3, 1e-14}) {
    a(1, 1) = small;
    EXPECT_NEAR(singular_ends(a).smallest / small, 1, 1e-12);
  }
  a(1, 1) = 1e-15;  // below 15 eps
  EXPECT_EQ(singular_ends(a).smallest, 0);
  EXPECT_EQ(singular_ends(MatrixXd::Ones(4, 2)).smallest, 0);
  EXPECT_EQ(singular_ends(MatrixXd::Zero(2, 4)).smallest, 0);
}

}  // namespace
}  // namespace hesscope
