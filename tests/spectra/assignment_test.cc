// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/spectra/assignment.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

double cost_of(const MatrixXd& cost, const std::vector<Index>& columns) {
  double sum = 0;
  for (Index r = 0; r < cost.rows(); ++r) sum += cost(r, columns[static_cast<std::size_t>(r)]);
  return sum;
}

// The least over all choices of different columns.
double least_of_all(const MatrixXd& cost) {
  std::vector<Index> columns(static_cast<std::size_t>(cost.cols()));
  std::iota(columns.begin(), columns.end(), Index{0});
  double least = kInfinity;
  do {
    least = std::min(least, cost_of(cost, columns));
  } while (std::next_permutation(columns.begin(), columns.end()));
  return least;
}

void expect_different(std::vector<Index> columns, Index count) {
  std::sort(columns.begin(), columns.end());
  EXPECT_EQ(std::adjacent_find(columns.begin(), columns.end()), columns.end());
  EXPECT_GE(columns.front(), 0);
  EXPECT_LT(columns.back(), count);
}

TEST(LeastAssignment, IsTheLeastOfAllPermutations) {
  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal;
  for (const Index rows : {1, 2, 4, 6}) {
    for (const Index cols : {6, 7}) {
      for (int repetition = 0; repetition < 20; ++repetition) {
        const MatrixXd cost = MatrixXd::NullaryExpr(rows, cols, [&] { return normal(engine); });
        const std::vector<Index> found = least_assignment(cost);
        expect_different(found, cols);
        EXPECT_NEAR(cost_of(cost, found), least_of_all(cost), 1e-12) << rows << " x " << cols;
      }
    }
  }
}

// Sums of which no double is the value.
TEST(LeastAssignment, IsTheBestOfCostsNearTheLargestDouble) {
  std::mt19937_64 engine(8);
  std::uniform_real_distribution<double> part(-1.0, 1.0);
  for (int trial = 0; trial < 200; ++trial) {
    const MatrixXd cost = MatrixXd::NullaryExpr(3, 4, [&] { return part(engine); });
    EXPECT_EQ(least_assignment(1.7e308 * cost), least_assignment(cost));
  }
}

// Kuhn's and many others' trap: taking the cheapest of each row first costs 1 + 100.
TEST(LeastAssignment, IsNotGreedy) {
  MatrixXd cost(2, 2);
  cost << 1, 2, 1, 100;
  EXPECT_EQ(least_assignment(cost), (std::vector<Index>{1, 0}));
}

TEST(LeastAssignment, FindsAHiddenPermutation) {
  std::mt19937_64 engine(3);
  std::vector<Index> hidden(60);
  std::iota(hidden.begin(), hidden.end(), Index{0});
  std::shuffle(hidden.begin(), hidden.end(), engine);
  std::uniform_real_distribution<double> noise(0.5, 1.0);
  MatrixXd cost = MatrixXd::NullaryExpr(60, 60, [&] { return noise(engine); });
  for (Index r = 0; r < 60; ++r) cost(r, hidden[static_cast<std::size_t>(r)]) = 0.25;
  EXPECT_EQ(least_assignment(cost), hidden);
}

TEST(LeastAssignment, OfEqualCostsIsStillOne) {
  const std::vector<Index> found = least_assignment(MatrixXd::Constant(5, 5, 2.0));
  expect_different(found, 5);
}

TEST(LeastAssignment, OfNothingIsNothing) { EXPECT_TRUE(least_assignment(MatrixXd(0, 3)).empty()); }

TEST(LeastAssignment, RefusesWhatHasNoAnswer) {
  EXPECT_THROW(least_assignment(MatrixXd::Zero(3, 2)), PreconditionError);
  MatrixXd cost = MatrixXd::Zero(2, 2);
  cost(1, 0) = kNaN;
  EXPECT_THROW(least_assignment(cost), PreconditionError);
}

}  // namespace
}  // namespace hesscope
