// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace hesscope::detail {

/// Elements 0 to n - 1 in sets, initially one set each (union-find with path halving).
class DisjointSets {
 public:
  explicit DisjointSets(std::ptrdiff_t n) : parent_(static_cast<std::size_t>(n)) {
    std::iota(parent_.begin(), parent_.end(), std::ptrdiff_t{0});
  }

  /// The representative of the set of i.
  std::ptrdiff_t find(std::ptrdiff_t i) {
    while (parent(i) != i) i = parent(i) = parent(parent(i));
    return i;
  }

  /// Merges the sets of i and j; the representative of j's set represents the result.
  void join(std::ptrdiff_t i, std::ptrdiff_t j) { parent(find(i)) = find(j); }

 private:
  std::ptrdiff_t& parent(std::ptrdiff_t i) { return parent_[static_cast<std::size_t>(i)]; }

  std::vector<std::ptrdiff_t> parent_;
};

}  // namespace hesscope::detail
