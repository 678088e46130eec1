// SPDX-License-Identifier: BSD-3-Clause
//
// The order in which sums over blocks of samples are made. It determines the last bits of a result
// and depends on the number of blocks alone. The sum over a range of blocks is the sum over its
// left half plus the sum over its right half; threads and processes divide the ranges among
// themselves without changing this order.
#pragma once

#include <hesscope/core/eigen.h>

namespace hesscope {

/// A node of the tree: blocks [begin, end).
struct BlockRange {
  Eigen::Index begin = 0;
  Eigen::Index end = 0;

  Eigen::Index size() const { return end - begin; }

  /// Whether the range holds at most one block.
  bool is_leaf() const { return size() <= 1; }

  /// Where the left half ends. If the number of blocks is odd, the left half is the shorter one.
  Eigen::Index middle() const { return begin + size() / 2; }

  BlockRange left() const { return {begin, middle()}; }

  BlockRange right() const { return {middle(), end}; }
};

}  // namespace hesscope
