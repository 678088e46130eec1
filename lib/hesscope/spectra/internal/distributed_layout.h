// SPDX-License-Identifier: BSD-3-Clause
//
// How a matrix of n rows is distributed on a square grid of ranks, and how many of its columns a
// rank computes at a time. The memory is calculated from this, both in advance and when it is
// allocated.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

#include <Eigen/Core>

namespace hesscope::detail {

/// Rows and columns are dealt out to those of the grid in blocks of this size (block-cyclic).
inline constexpr Eigen::Index kDistributedBlock = 64;

/// The number of rows (columns) of the first process along a side of the grid; none has more.
inline Eigen::Index most_local_rows(Eigen::Index n, int grid) {
  const Eigen::Index whole_round = kDistributedBlock * grid;
  return n / whole_round * kDistributedBlock + std::min(n % whole_round, kDistributedBlock);
}

/// Number of n x n matrices stored on the grid: H and the matrix to which it is reduced; with
/// eigenvectors also these, and two more while they are computed.
inline double num_distributed_matrices(bool with_vectors) { return with_vectors ? 5.0 : 2.0; }

/// The maximal number of entries of each matrix, with n rows, on a rank: 32-bit integers must count
/// them, and the workspace for vectors, which has twice as many plus some vectors.
inline double most_entries(Eigen::Index n, bool with_vectors) {
  constexpr double kMost = std::numeric_limits<int>::max();
  return with_vectors ? (kMost - 6.0 * static_cast<double>(n)) / 2.0 : kMost;
}

/// Columns of a rank's task: a part of a block, so few that every rank has several tasks.
inline Eigen::Index width_of_column_task(Eigen::Index n, int num_ranks) {
  constexpr Eigen::Index kLeast = 8;
  const auto width = static_cast<std::size_t>(
      std::clamp<Eigen::Index>(n / (Eigen::Index{4} * num_ranks), kLeast, kDistributedBlock));
  return static_cast<Eigen::Index>(std::bit_floor(width));
}

/// Numbers that a rank holds while columns are exchanged: its own task as computed and as sent, and
/// what a process of the grid receives of the tasks of all ranks.
inline double exchanged_numbers(Eigen::Index n, int num_ranks, int grid, bool is_in_grid) {
  const Eigen::Index width = width_of_column_task(n, num_ranks);
  const auto own = 2.0 * static_cast<double>(n) * static_cast<double>(width);
  if (!is_in_grid) return own;
  const Eigen::Index columns = std::min(n, width * num_ranks);
  return own + static_cast<double>(most_local_rows(n, grid)) *
                   static_cast<double>(most_local_rows(columns, grid));
}

}  // namespace hesscope::detail
