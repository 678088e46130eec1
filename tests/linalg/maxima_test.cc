// SPDX-License-Identifier: BSD-3-Clause
#include "support/maxima.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <Eigen/Core>
#include <gtest/gtest.h>

namespace hesscope::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(LargestMagnitude, IsThatOfAnyEntry) {
  const MatrixXd a = (MatrixXd(2, 3) << 1, -4, 0, 3, 2, -0.0).finished();
  EXPECT_EQ(largest_magnitude(a), 4);
  EXPECT_EQ(largest_magnitude(a.row(1)), 3);
  EXPECT_EQ(largest_magnitude(Eigen::Vector2d(1, -kInfinite)), kInfinite);
}

TEST(LargestMagnitude, IsNaNIfAnyEntryIs) {
  for (Index n = 1; n <= 47; ++n) {
    for (Index i = 0; i < n; ++i) {
      VectorXd a = VectorXd::LinSpaced(n, -1, 2);
      a[i] = std::nan("");
      EXPECT_TRUE(std::isnan(largest_magnitude(a))) << i << " of " << n;
      EXPECT_TRUE(std::isnan(a.maxCoeff<Eigen::PropagateNaN>())) << i << " of " << n;
      EXPECT_TRUE(std::isnan(a.minCoeff<Eigen::PropagateNaN>())) << i << " of " << n;
    }
  }
  EXPECT_TRUE(std::isnan(largest_magnitude(Eigen::Vector2d(kInfinite, std::nan("")))));
}

TEST(LargestMagnitude, OfNothingIsNaN) {
  EXPECT_TRUE(std::isnan(largest_magnitude(VectorXd())));
  EXPECT_TRUE(std::isnan(largest_magnitude(MatrixXd(3, 0))));
  EXPECT_TRUE(std::isnan(largest_difference(MatrixXd(0, 3), MatrixXd(0, 3))));
}

TEST(LargestDifference, IsThatOfAnyEntryOrNaN) {
  const Eigen::Vector3d a(1, -4, 2);
  EXPECT_EQ(largest_difference(a, Eigen::Vector3d(1, -4, 2)), 0);
  EXPECT_EQ(largest_difference(a, Eigen::Vector3d(1.5, -6, 2)), 2);
  EXPECT_EQ(largest_difference(a, Eigen::Vector3d(1, -4, kInfinite)), kInfinite);
  const Eigen::Vector3d infinite(1, kInfinite, 2);
  EXPECT_TRUE(std::isnan(largest_difference(infinite, infinite)));
  EXPECT_TRUE(std::isnan(largest_difference(a, Eigen::Vector3d(std::nan(""), -4, 9))));
}

TEST(LargestDifference, OfDifferentShapesIsRefused) {
  const VectorXd a = VectorXd::Ones(3);
  EXPECT_THROW(largest_difference(a, VectorXd::Ones(4)), std::invalid_argument);
  EXPECT_THROW(largest_difference(a, a.transpose()), std::invalid_argument);
}

}  // namespace
}  // namespace hesscope::test
