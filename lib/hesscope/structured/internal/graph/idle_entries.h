// SPDX-License-Identifier: BSD-3-Clause
//
// Entries of a graph that no derivative of its output goes through, as the graph alone says: what
// is a constant, what only such entries take, and what is multiplied by zeros. A mask of causal
// attention is such a statement: scores of later tokens are -inf, and softmax is zero there.
#pragma once

#include <span>
#include <vector>

#include <hesscope/structured/internal/graph/entry_numbers.h>

namespace hesscope::detail {

class IdleEntries {
 public:
  /// @param varies  of each node: whether it carries tangents.
  IdleEntries(const Graph& graph, const EntryNumbers& entries, std::span<const char> varies);

  /// Whether the node has entries that are idle.
  bool has_any(int node) const { return !idle_[static_cast<std::size_t>(node)].empty(); }

  /// Whether neither the entry's tangent nor the tangent of its adjoint makes a difference,
  /// wherever the output is finite.
  bool is_idle(int node, int entry) const { return is_set(idle_, node, entry); }

  bool has_zeros(int node) const { return !zero_[static_cast<std::size_t>(node)].empty(); }

  /// Whether its value is 0 for all parameters and samples, wherever the output is finite.
  bool is_zero(int node, int entry) const { return is_set(zero_, node, entry); }

 private:
  using Marks = std::vector<std::vector<char>>;  // of each node, of each entry; or none

  static bool is_set(const Marks& marks, int node, int entry) {
    const std::vector<char>& own = marks[static_cast<std::size_t>(node)];
    return !own.empty() && own[static_cast<std::size_t>(entry)] != 0;
  }

  Marks idle_;
  Marks zero_;
};

}  // namespace hesscope::detail
