// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/objective/internal/sample_probe.h>
#include <hesscope/spectra/decomposition_cost.h>
#include <hesscope/spectra/distributed_cost.h>
#include <hesscope/spectra/internal/cost_probes.h>
#include <hesscope/spectra/internal/distributed_layout.h>
#include <hesscope/spectra/internal/sturm_counts.h>

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// For pdsytrd, per rank: messages per column and doubling of the ranks, and transmitted numbers per
// n^2 / grid. Counted for n = 1,003 on 2 x 2 ranks, where it sent 19,700 messages, in total 36 MB.
constexpr double kMessages = 2.5;
constexpr double kWords = 2.25;

// Ranks along the side, more than any cluster has.
constexpr int kLargestGrid = 4096;

// Cholesky factorisations for the checks.
constexpr double kFactorisations = 4;

// Multiples of n^3 for a full proof: eigenvectors of T by divide and conquer, at most 4/3, their
// transformation by Q, 2, H times them, 2, and their products with each other, 1.
constexpr double kVectorOperations = 19.0 / 3.0;

// Measured on the first columns.
double measure_column_entry(const Objective& objective, const VectorXd& theta, SecondsClock clock) {
  constexpr double kEnoughSeconds = 0.05;
  const Index n = theta.size();
  const Index width = std::min(n, Objective::kColumnGroup);
  const double seconds =
      detail::seconds_on_all(objective, clock, kEnoughSeconds, [&](SampleRange some) {
        objective.hessian_columns(theta, some, 0, width);
      });
  return seconds / static_cast<double>(n * width);
}

}  // namespace

int largest_grid(int num_ranks) {
  int grid = 1;
  while ((grid + 1) <= num_ranks / (grid + 1)) ++grid;
  return grid;
}

int grid_of(int num_ranks, int wanted) {
  if (wanted == 0) return largest_grid(num_ranks);
  if (wanted < 0 || wanted > num_ranks / wanted) {
    throw ConfigError(fmt::format("`grid` {0} has {0} x {0} = {1} ranks, and there are {2}",
                                  wanted,
                                  static_cast<long>(wanted) * wanted,
                                  num_ranks));
  }
  return wanted;
}

void require_grid_for_elpa(Index n, int grid) {
  const Index largest = detail::ceil_div(n, detail::kDistributedBlock);
  if (grid <= largest) return;
  throw ConfigError(fmt::format(
      "`engine` elpa wants rows on every rank of its grid, and a Hessian of {} "
      "parameters has {} blocks of {} of them, for {} x {} ranks; give a `grid` of at most {}",
      n,
      largest,
      detail::kDistributedBlock,
      grid,
      grid,
      largest));
}

double distributed_bytes(Index n, int num_ranks, int grid, bool proves_fully) {
  const int used = grid > 0 ? grid : largest_grid(num_ranks);
  const auto side = static_cast<double>(detail::most_local_rows(n, used));
  return (detail::num_distributed_matrices(proves_fully) * side * side +
          detail::exchanged_numbers(n, num_ranks, used, true)) *
         sizeof(double);
}

bool ranks_suffice(Index n, int num_ranks, int grid, double bytes, bool proves_fully) {
  const int used = grid > 0 ? grid : largest_grid(num_ranks);
  const auto side = static_cast<double>(detail::most_local_rows(n, used));
  return side * side <= detail::most_entries(n, proves_fully) &&
         distributed_bytes(n, num_ranks, used, proves_fully) <= bytes;
}

int least_ranks(Index n, double bytes, bool proves_fully) {
  for (int grid = 1; grid <= kLargestGrid; ++grid) {
    if (ranks_suffice(n, grid * grid, grid, bytes, proves_fully)) return grid * grid;
    if (grid * detail::kDistributedBlock >= n)
      break;  // one block on each: cannot be divided further
  }
  return 0;
}

RankRates measure_rank_rates(const Objective& objective,
                             const VectorXd& theta,
                             SecondsClock clock) {
  constexpr Index kSize = 1024;
  constexpr auto kRows = static_cast<double>(kSize);
  RankRates rates;
  rates.column_entry = measure_column_entry(objective, theta, clock);
  rates.reduction = detail::seconds_of_reduction_operation(clock);
  const detail::SingleThreadedBlas one_thread;
  MatrixXd a = detail::some_matrix(kSize);
  rates.factor =
      detail::seconds_of(clock, [&] { detail::factor_ldlt(a); }) / (kRows * kRows * kRows / 3.0);
  const detail::Tridiagonal t = detail::tridiagonalize(a).t;
  const detail::SturmCounts counts(t);
  rates.count = detail::seconds_of(clock, [&] { counts.eigenvalues(0, kSize); }) / (kRows * kRows);
  return rates;
}

DistributedCost distributed_cost(
    Index n, int num_ranks, const RankRates& rates, int chosen_grid, bool proves_fully) {
  const auto size = static_cast<double>(n);
  const auto ranks = static_cast<double>(num_ranks);
  const auto grid = static_cast<double>(chosen_grid > 0 ? chosen_grid : largest_grid(num_ranks));
  const double cube = size * size * size / (grid * grid);  // on ranks of the grid
  const double messages = kMessages * size * std::log2(grid * grid);
  const double words = grid > 1 ? kWords * size * size / grid : 0.0;
  DistributedCost cost;
  cost.fill_seconds = 0.5 * size * size * rates.column_entry / ranks;
  cost.spectrum_seconds = 4.0 / 3.0 * cube * rates.reduction +
                          kFactorisations / 3.0 * cube * rates.factor +
                          size * size * rates.count / ranks + messages * kLatencySeconds +
                          words * sizeof(double) / kBytesPerSecond;
  if (proves_fully) cost.spectrum_seconds += kVectorOperations * cube * rates.factor;
  return cost;
}

DistributedCost estimate_distributed_cost(const Objective& objective,
                                          const VectorXd& theta,
                                          int num_ranks,
                                          int grid,
                                          bool proves_fully,
                                          SecondsClock clock) {
  return distributed_cost(
      theta.size(), num_ranks, measure_rank_rates(objective, theta, clock), grid, proves_fully);
}

}  // namespace hesscope
