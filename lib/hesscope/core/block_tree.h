// SPDX-License-Identifier: BSD-3-Clause
//
// The order in which sums over blocks of samples are made: part of the definition of a result's
// last bits, and a function of the number of blocks alone. The sum over a range of blocks is that
// over its left half plus that over its right half; threads and processes share out the ranges and
// leave the order as it is.
#pragma once

#include <hesscope/core/eigen.h>

namespace hesscope {

/// A node of the tree: blocks [begin, end).
struct BlockRange {
  Eigen::Index begin = 0;
  Eigen::Index end = 0;

  Eigen::Index size() const { return end - begin; }

  /// Of one block, or of none.
  bool is_leaf() const { return size() <= 1; }

  /// Where the left half ends; of an odd number of blocks it has one less.
  Eigen::Index middle() const { return begin + size() / 2; }

  BlockRange left() const { return {begin, middle()}; }

  BlockRange right() const { return {middle(), end}; }
};

}  // namespace hesscope
