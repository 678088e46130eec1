// SPDX-License-Identifier: BSD-3-Clause
//
// Estimates of what the spectrum of a Hessian takes on several ranks, from what one rank here does
// in a second. How ranks slow each other down has been measured on one machine only.
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

/// The side of the largest square grid of num_ranks ranks.
int largest_grid(int num_ranks);

/// The grid to use: `wanted` or, if that is 0, the largest.
/// @throws ConfigError naming `grid` if there are too few ranks for it.
int grid_of(int num_ranks, int wanted);

/// ELPA fails if a process of the grid has no rows.
/// @throws ConfigError naming `grid` and the largest one in which every process has rows.
void require_grid_for_elpa(Eigen::Index n, int grid);

/// Memory that distributed_spectrum() takes on each rank of the grid: H and derived matrices, and
/// the columns exchanged at a time, which increase with the number of ranks outside the grid.
/// @param grid          ranks along its side; 0 = largest_grid(num_ranks).
/// @param proves_fully  also includes eigenvectors, and what their computation takes.
double distributed_bytes(Eigen::Index n, int num_ranks, int grid = 0, bool proves_fully = false);

/// Whether `bytes` on each rank are enough, and the number of entries on each rank fits into
/// ScaLAPACK's 32-bit integers.
bool ranks_suffice(
    Eigen::Index n, int num_ranks, int grid, double bytes, bool proves_fully = false);

/// The smallest sufficient number of ranks, a square number: the size of its grid. 0 if the columns
/// alone take more than `bytes`.
int least_ranks(Eigen::Index n, double bytes, bool proves_fully = false);

/// Seconds of distributed_spectrum().
struct DistributedCost {
  double fill_seconds = 0;      ///< H
  double spectrum_seconds = 0;  ///< the reduction, the counts, the checks, vectors if any

  double seconds() const { return fill_seconds + spectrum_seconds; }
};

/// A rank's time for parts of the work, in seconds: measured (measure_rank_rates) or known.
struct RankRates {
  double column_entry = 0;  ///< per entry of a column of H, over all samples
  double reduction = 0;     ///< per operation of the 4/3 n^3 of the reduction
  double factor = 0;        ///< per operation of the n^3 / 3 of a Cholesky factorisation
  double count = 0;         ///< per row and eigenvalue, n^2 in total
};

/// @cost a second or two.
RankRates measure_rank_rates(const Objective& objective,
                             const Eigen::VectorXd& theta,
                             SecondsClock clock = wall_seconds);

/// The time of each rank at these rates, plus its waiting time for the messages of the reduction,
/// at kLatencySeconds and kBytesPerSecond: n log2(grid^2) times kMessages, and kWords n^2 / grid
/// numbers, as counted on 4 ranks. Vectors take kVectorOperations n^3 at the rate of a
/// factorisation.
/// @param grid, proves_fully  as for distributed_bytes().
DistributedCost distributed_cost(
    Eigen::Index n, int num_ranks, const RankRates& rates, int grid = 0, bool proves_fully = false);

/// Assumed interconnect.
inline constexpr double kLatencySeconds = 2e-6;
inline constexpr double kBytesPerSecond = 1e9;  // per rank, while all others send

/// distributed_cost() at the rates of measure_rank_rates().
DistributedCost estimate_distributed_cost(const Objective& objective,
                                          const Eigen::VectorXd& theta,
                                          int num_ranks,
                                          int grid = 0,
                                          bool proves_fully = false,
                                          SecondsClock clock = wall_seconds);

}  // namespace hesscope
