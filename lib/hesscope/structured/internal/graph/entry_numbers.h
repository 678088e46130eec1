// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

/// Numbers for the entries of all nodes, one node's after the other's, row by row; a reshape has
/// those of its operand. Behind them those of one-hot rows that stand for lookups.
class EntryNumbers {
 public:
  explicit EntryNumbers(const Graph& graph);

  int first(int node) const { return first_[static_cast<std::size_t>(node)]; }

  /// The node, no reshape, with this entry; -1 for a one-hot row.
  int node_of(int entry) const;

  int size() const { return size_; }

  /// The node that this one is a reshape of, or itself.
  int root(int node) const { return root_[static_cast<std::size_t>(node)]; }

 private:
  std::vector<int> first_;
  std::vector<int> root_;
  std::vector<int> node_of_;
  int size_ = 0;
};

}  // namespace hesscope::detail
