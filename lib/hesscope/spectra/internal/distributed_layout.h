// SPDX-License-Identifier: BSD-3-Clause
//
// How a matrix of n rows lies on a square grid of ranks, and how many of its columns a rank
// computes at a time: what its memory is counted by, beforehand and when it is taken.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

#include <Eigen/Core>

namespace hesscope::detail {

/// Rows and columns are dealt to the grid's in blocks of so many (block-cyclic).
inline constexpr Eigen::Index kDistributedBlock = 64;

/// Rows (columns) of the first process of a side of the grid: none has more.
inline Eigen::Index most_local_rows(Eigen::Index n, int grid) {
  const Eigen::Index whole_round = kDistributedBlock * grid;
  return n / whole_round * kDistributedBlock + std::min(n % whole_round, kDistributedBlock);
}

/// Matrices of n x n numbers that the grid holds: H, and what it is made; with eigenvectors these,
/// too, and twice as many while they are found.
inline double num_distributed_matrices(bool with_vectors) { return with_vectors ? 5.0 : 2.0; }

/// Entries of each matrix that a rank may have at most, of so many rows: integers of 32 bits count
/// them, and the workspace for vectors, which is of twice as many and some vectors.
inline double most_entries(Eigen::Index n, bool with_vectors) {
  constexpr double kMost = std::numeric_limits<int>::max();
  return with_vectors ? (kMost - 6.0 * static_cast<double>(n)) / 2.0 : kMost;
}

/// Columns of a rank's task: few enough that all ranks have several, a part of a block.
inline Eigen::Index width_of_column_task(Eigen::Index n, int num_ranks) {
  constexpr Eigen::Index kLeast = 8;
  const auto width = static_cast<std::size_t>(
      std::clamp<Eigen::Index>(n / (4 * num_ranks), kLeast, kDistributedBlock));
  return static_cast<Eigen::Index>(std::bit_floor(width));
}

/// Numbers that a rank holds while columns are exchanged: its own task as it was computed and as it
/// is sent, and what a process of the grid receives of the tasks of all ranks.
inline double exchanged_numbers(Eigen::Index n, int num_ranks, int grid, bool is_in_grid) {
  const Eigen::Index width = width_of_column_task(n, num_ranks);
  const auto own = 2.0 * static_cast<double>(n) * static_cast<double>(width);
  if (!is_in_grid) return own;
  const Eigen::Index columns = std::min(n, width * num_ranks);
  return own + static_cast<double>(most_local_rows(n, grid)) *
                   static_cast<double>(most_local_rows(columns, grid));
}

}  // namespace hesscope::detail
