// SPDX-License-Identifier: BSD-3-Clause
//
// Finds entries of a graph through which no derivative of its output passes, judging by the graph
// alone: constants, entries used only by such entries, and entries multiplied by zeros. An example
// is the mask of causal attention: scores of later tokens are -inf, so softmax is zero there.
#pragma once

#include <span>
#include <vector>

#include <hesscope/structured/internal/graph/entry_numbers.h>

namespace hesscope::detail {

class IdleEntries {
 public:
  /// @param varies  for each node: whether it carries tangents.
  IdleEntries(const Graph& graph, const EntryNumbers& entries, std::span<const char> varies);

  /// Whether the node has idle entries.
  bool has_any(int node) const { return !idle_[static_cast<std::size_t>(node)].empty(); }

  /// Whether neither the entry's tangent nor the tangent of its adjoint has any effect, provided
  /// that the output is finite.
  bool is_idle(int node, int entry) const { return is_set(idle_, node, entry); }

  bool has_zeros(int node) const { return !zero_[static_cast<std::size_t>(node)].empty(); }

  /// Whether its value is 0 for all parameters and samples, provided that the output is finite.
  bool is_zero(int node, int entry) const { return is_set(zero_, node, entry); }

 private:
  using Marks = std::vector<std::vector<char>>;  // for each node and entry; or none

  static bool is_set(const Marks& marks, int node, int entry) {
    const std::vector<char>& own = marks[static_cast<std::size_t>(node)];
    return !own.empty() && own[static_cast<std::size_t>(entry)] != 0;
  }

  Marks idle_;
  Marks zero_;
};

}  // namespace hesscope::detail
