// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

/// Numbers the entries of all nodes, node by node, row by row; a reshape shares those of its
/// operand. They are followed by those of one-hot rows that represent lookups.
class EntryNumbers {
 public:
  explicit EntryNumbers(const Graph& graph);

  int first(int node) const { return first_[static_cast<std::size_t>(node)]; }

  /// The node (not a reshape) with this entry; -1 for a one-hot row.
  int node_of(int entry) const {
    return entry >= size_ ? -1 : node_of_[static_cast<std::size_t>(entry)];
  }

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
