// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <numbers>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/spectra/internal/sturm_counts.h>

#include "support/matrices.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

detail::Tridiagonal random_tridiagonal(Index n, std::uint64_t seed) {
  return {test::random_matrix(n, 1, seed), test::random_matrix(n - 1, 1, seed + 1)};
}

TEST(SturmCounts, EigenvaluesOfTheLaplacianAreKnown) {
  constexpr Index kSize = 101;
  const detail::SturmCounts counts(
      {VectorXd::Constant(kSize, 2.0), VectorXd::Constant(kSize - 1, -1.0)});
  const VectorXd values = counts.eigenvalues(0, kSize);
  for (Index k = 0; k < kSize; ++k) {
    const double angle = std::numbers::pi * static_cast<double>(k + 1) / (2.0 * (kSize + 1));
    EXPECT_NEAR(values[k], 4.0 * std::pow(std::sin(angle), 2), 1e-14);
  }
  EXPECT_NEAR(counts.norm(), 4.0, 1e-2);
}

TEST(SturmCounts, EigenvaluesAreThoseOfQr) {
  for (const Index n : {1, 2, 3, 60, 301}) {
    const detail::Tridiagonal t = random_tridiagonal(n, 3);
    const VectorXd expected = *detail::eigenvalues(t);
    const VectorXd found = detail::SturmCounts(t).eigenvalues(0, n);
    EXPECT_LE(test::largest_difference(found, expected), 1e-15 * static_cast<double>(n + 10));
  }
}

TEST(SturmCounts, EigenvaluesDoNotDependOnWhichAreAskedFor) {
  constexpr Index kSize = 97;
  detail::Tridiagonal t = random_tridiagonal(kSize, 5);
  t.diagonal.segment(30, 20).setZero();  // a cluster at zero
  t.off_diagonal.segment(29, 22).setZero();
  const detail::SturmCounts counts(t);
  const VectorXd all = counts.eigenvalues(0, kSize);
  EXPECT_GE((all.array() == 0.0).count(), 20);
  for (Index rank = 0; rank < kSize; ++rank) {
    EXPECT_EQ(counts.enclose(rank).value(), all[rank]);
  }
  for (const Index pieces : {2, 3, 5, 97}) {
    for (Index k = 0; k < pieces; ++k) {
      const Index begin = k * kSize / pieces;
      const Index end = (k + 1) * kSize / pieces;
      EXPECT_TRUE(counts.eigenvalues(begin, end) == all.segment(begin, end - begin));
    }
  }
  EXPECT_EQ(counts.eigenvalues(5, 5).size(), 0);
}

}  // namespace
}  // namespace hesscope
