// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <optional>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/linalg/positive_definite.h>

namespace hesscope {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// For A = L L^T with L = [2 0; 1 3], x = (1, -1) solves A x = (2, -8).
TEST(SolvePositiveDefinite, IsWhatPaperSays) {
  const MatrixXd a{{4, std::numeric_limits<double>::max()},
                   {2, 10}};  // the upper triangle is not read
  const std::optional<VectorXd> x = solve_positive_definite(a, VectorXd{{2, -8}});
  ASSERT_TRUE(x);
  EXPECT_EQ((*x)[0], 1);
  EXPECT_EQ((*x)[1], -1);
}

TEST(SolvePositiveDefinite, SolvesHilbertsMatrix) {
  MatrixXd a(6, 6);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) a(i, j) = 1.0 / (i + j + 1);
  }
  const VectorXd b = a * VectorXd::Ones(6);
  const std::optional<VectorXd> x = solve_positive_definite(a, b);
  ASSERT_TRUE(x);
  EXPECT_LT((a * *x - b).norm(), 1e-15);                      // backward stable
  EXPECT_LT((*x - VectorXd::Ones(6)).norm(), 1e-15 * 1.5e7);  // by its condition number
}

TEST(SolvePositiveDefinite, HasNoneOfOtherMatrices) {
  const VectorXd b = VectorXd::Ones(2);
  EXPECT_FALSE(solve_positive_definite(MatrixXd{{1, 2}, {2, 1}}, b));
  EXPECT_FALSE(solve_positive_definite(MatrixXd{{1, 1}, {1, 1}}, b));
  EXPECT_FALSE(
      solve_positive_definite(MatrixXd{{1, 0}, {std::numeric_limits<double>::quiet_NaN(), 1}}, b));
}

TEST(SolvePositiveDefinite, OfNothingIsNothing) {
  const std::optional<VectorXd> x = solve_positive_definite(MatrixXd(0, 0), VectorXd(0));
  ASSERT_TRUE(x);
  EXPECT_EQ(x->size(), 0);
}

TEST(SolvePositiveDefinite, RefusesOtherShapes) {
  EXPECT_THROW(solve_positive_definite(MatrixXd::Zero(2, 3), VectorXd(2)), PreconditionError);
  EXPECT_THROW(solve_positive_definite(MatrixXd::Identity(2, 2), VectorXd(3)), PreconditionError);
}

}  // namespace
}  // namespace hesscope
