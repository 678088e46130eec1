// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/spectra/distributed_cost.h>

#include "support/matrices.h"
#include "support/quadratic_objective.h"

namespace hesscope {
namespace {

TEST(DistributedCost, GridsAreTheLargestSquares) {
  for (int num_ranks = 1; num_ranks < 5000; ++num_ranks) {
    const int grid = largest_grid(num_ranks);
    ASSERT_LE(grid * grid, num_ranks);
    ASSERT_GT((grid + 1) * (grid + 1), num_ranks);
  }
}

TEST(DistributedCost, IsMadeOfWhatOneRankDoes) {
  // One at a time: n^2 / 2 entries, 4/3 n^3 and 4 n^3 / 3 operations, n^2 counts.
  const double n = 6000;
  const auto alone = [](const RankRates& rates) { return distributed_cost(6000, 1, rates); };
  EXPECT_DOUBLE_EQ(alone({.column_entry = 1e-6}).fill_seconds, 0.5e-6 * n * n);
  EXPECT_DOUBLE_EQ(alone({.reduction = 1e-10}).spectrum_seconds, 4.0 / 3.0 * 1e-10 * n * n * n);
  EXPECT_DOUBLE_EQ(alone({.factor = 1e-10}).spectrum_seconds, 4.0 / 3.0 * 1e-10 * n * n * n);
  EXPECT_DOUBLE_EQ(alone({.count = 1e-8}).seconds(), 1e-8 * n * n);

  // Ranks beyond the grid fill and count; messages are waited for.
  const RankRates rates = {1e-6, 1e-10, 5e-11, 1e-8};
  const DistributedCost four = distributed_cost(6000, 4, rates);
  const DistributedCost five = distributed_cost(6000, 5, rates);
  EXPECT_DOUBLE_EQ(four.fill_seconds, alone(rates).fill_seconds / 4);
  EXPECT_DOUBLE_EQ(five.fill_seconds, alone(rates).fill_seconds / 5);
  EXPECT_GT(four.spectrum_seconds, alone(rates).spectrum_seconds / 4);
  EXPECT_NEAR(five.spectrum_seconds, four.spectrum_seconds - 1e-8 * n * n * (0.25 - 0.2), 1e-9);
}

TEST(DistributedCost, MemoryIsThatOfTwoMatricesOverTheGrid) {
  const double n = 20000;
  EXPECT_DOUBLE_EQ(distributed_bytes(20000, 1), 16 * n * n + 8 * 192 * n);
  // In blocks of 64: of 312 and a half, the first of 4 processes on a side has 78 and the half.
  const double side = 78 * 64 + 32;
  const double columns =
      2 * 64 * n + 5 * 64 * side;  // 17 tasks of a block, 5 for the first process
  EXPECT_DOUBLE_EQ(distributed_bytes(20000, 17), 8 * (2 * side * side + columns));
}

TEST(DistributedCost, MemoryIsThatOfColumnsOfRanksBesideTheGrid) {
  // All ranks compute a block of columns, and one of them receives all.
  const double n = 20000;
  EXPECT_DOUBLE_EQ(distributed_bytes(20000, 3), 8 * (2 * n * n + 2 * 64 * n + 3 * 64 * n));
  EXPECT_DOUBLE_EQ(distributed_bytes(20000, 30, 1), 8 * (2 * n * n + 2 * 64 * n + 30 * 64 * n));
  // Not more than there are.
  EXPECT_DOUBLE_EQ(distributed_bytes(20000, 5000, 1), 8 * (2 * n * n + 2 * 8 * n + n * n));
}

TEST(DistributedCost, OfAFullProofIsThatOfVectors) {
  const double n = 20000;
  EXPECT_DOUBLE_EQ(distributed_bytes(20000, 1, 0, true), 40 * n * n + 8 * 192 * n);
  EXPECT_GT(least_ranks(20000, 2e9, true), least_ranks(20000, 2e9));
  // pdstedc's workspace is of twice the entries: 100,000^2 / 3^2 of them are counted once.
  EXPECT_TRUE(ranks_suffice(100000, 9, 0, 1e15));
  EXPECT_FALSE(ranks_suffice(100000, 9, 0, 1e15, true));
  EXPECT_TRUE(ranks_suffice(100000, 16, 0, 1e15, true));
  const RankRates rates = {.factor = 1e-9};
  EXPECT_DOUBLE_EQ(distributed_cost(3000, 4, rates, 0, true).spectrum_seconds -
                       distributed_cost(3000, 4, rates).spectrum_seconds,
                   19.0 / 3.0 * 2.7e10 * 1e-9 / 4);
}

TEST(DistributedCost, WantsRowsOnEveryRankForElpa) {
  EXPECT_NO_THROW(require_grid_for_elpa(1, 1));
  EXPECT_NO_THROW(require_grid_for_elpa(64, 1));
  EXPECT_NO_THROW(require_grid_for_elpa(65, 2));
  EXPECT_THROW(require_grid_for_elpa(64, 2), ConfigError);
  EXPECT_THROW(require_grid_for_elpa(128, 3), ConfigError);
}

TEST(DistributedCost, SaysHowManyRanksAreNeeded) {
  for (const double bytes : {20e6, 300e6, 7e9}) {
    const int least = least_ranks(20000, bytes);
    const int grid = largest_grid(least);
    ASSERT_EQ(grid * grid, least);
    EXPECT_TRUE(ranks_suffice(20000, least, 0, bytes));
    EXPECT_LE(distributed_bytes(20000, least), bytes);
    for (int fewer = 1; fewer < least; ++fewer) {
      ASSERT_FALSE(ranks_suffice(20000, fewer, 0, bytes)) << bytes << " " << fewer;
    }
  }
  EXPECT_EQ(least_ranks(20000, 7e9), 1);
  // ScaLAPACK's integers, whatever memory there is: 200,000^2 / 4^2 entries.
  EXPECT_FALSE(ranks_suffice(200000, 16, 0, 1e15));
  EXPECT_EQ(least_ranks(200000, 1e15), 25);
  // Columns of all rows are on every rank.
  EXPECT_EQ(least_ranks(20000, 1e6), 0);
}

TEST(DistributedCost, RefusesGridsOfMoreRanksThanThereAre) {
  EXPECT_EQ(grid_of(17, 0), 4);
  EXPECT_EQ(grid_of(17, 3), 3);
  EXPECT_THROW(grid_of(17, 5), ConfigError);
}

TEST(DistributedCost, RatesAreMeasured) {
  const test::QuadraticObjective objective({test::random_symmetric(300, 1)});
  const RankRates rates =
      measure_rank_rates(objective, Eigen::VectorXd::Zero(300), processor_seconds);
  // From a machine far slower to one far faster than there are.
  EXPECT_GT(rates.column_entry, 1e-11);
  EXPECT_LT(rates.column_entry, 1e-3);
  for (const double each : {rates.reduction, rates.factor}) {
    EXPECT_GT(each, 1e-13);
    EXPECT_LT(each, 1e-7);
  }
  EXPECT_GT(rates.count, 1e-9);
  EXPECT_LT(rates.count, 1e-4);
}

}  // namespace
}  // namespace hesscope
