// SPDX-License-Identifier: BSD-3-Clause
//
// What the spectrum of a Hessian on several ranks takes, beforehand, from what one rank does in a
// second here. How ranks hinder each other has been measured on one machine only.
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/core/stopwatch.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

/// That of the largest square grid of num_ranks ranks.
int largest_grid(int num_ranks);

/// The grid that is used: the one wanted, or, for 0, the largest.
/// @throws ConfigError naming `grid` where the ranks are too few for it.
int grid_of(int num_ranks, int wanted);

/// ELPA fails where a process of the grid has no rows.
/// @throws ConfigError naming `grid` and the largest that has none such.
void require_grid_for_elpa(Eigen::Index n, int grid);

/// Memory that distributed_spectrum() takes on each rank of the grid: H and what is made of it, and
/// the columns that ranks exchange at a time, which are the more the more ranks there are beside
/// the grid.
/// @param grid          ranks along its side; 0 = largest_grid(num_ranks).
/// @param proves_fully  eigenvectors, too, and what it takes to find them.
double distributed_bytes(Eigen::Index n, int num_ranks, int grid = 0, bool proves_fully = false);

/// Whether `bytes` on each rank are enough, and the entries on each are not more than ScaLAPACK's
/// integers of 32 bits count.
bool ranks_suffice(
    Eigen::Index n, int num_ranks, int grid, double bytes, bool proves_fully = false);

/// The fewest ranks that suffice, a square number: as many as its grid has. 0 where the columns
/// alone need more.
int least_ranks(Eigen::Index n, double bytes, bool proves_fully = false);

/// Seconds of distributed_spectrum().
struct DistributedCost {
  double fill_seconds = 0;      ///< H
  double spectrum_seconds = 0;  ///< the reduction, the counts, the checks, vectors if any

  double seconds() const { return fill_seconds + spectrum_seconds; }
};

/// What a rank needs for a part of the work, in seconds: measured (measure_rank_rates) or known.
struct RankRates {
  double column_entry = 0;  ///< an entry of a column of H, of all samples
  double reduction = 0;     ///< an operation of the 4/3 n^3 of the reduction
  double factor = 0;        ///< an operation of the n^3 / 3 of a Cholesky factorisation
  double count = 0;         ///< a row and an eigenvalue of the n^2 of all
};

/// @cost a second or two.
RankRates measure_rank_rates(const Objective& objective,
                             const Eigen::VectorXd& theta,
                             SecondsClock clock = wall_seconds);

/// Each rank at these rates, and what it waits for messages of the reduction, at kLatencySeconds
/// and kBytesPerSecond: n log2(grid^2) times kMessages, and kWords n^2 / grid numbers, as were
/// counted on 4 ranks. Vectors take kVectorOperations n^3 at the rate of a factorisation.
/// @param grid, proves_fully  as of distributed_bytes().
DistributedCost distributed_cost(
    Eigen::Index n, int num_ranks, const RankRates& rates, int grid = 0, bool proves_fully = false);

/// Of an interconnect, assumed.
inline constexpr double kLatencySeconds = 2e-6;
inline constexpr double kBytesPerSecond = 1e9;  // of one rank, while all others send

/// distributed_cost() by measure_rank_rates().
DistributedCost estimate_distributed_cost(const Objective& objective,
                                          const Eigen::VectorXd& theta,
                                          int num_ranks,
                                          int grid = 0,
                                          bool proves_fully = false,
                                          SecondsClock clock = wall_seconds);

}  // namespace hesscope
