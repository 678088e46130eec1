// SPDX-License-Identifier: BSD-3-Clause
//
// Which entries tangents reach, one by one: the structural zeros of derivatives. Entries that have
// no effect according to idle_entries.h are not reached.
#pragma once

#include <span>
#include <vector>

#include <hesscope/structured/internal/graph/sweep_graph.h>

namespace hesscope::detail {

/// Indexed by EntryNumbers: 1 if a number may be nonzero.
using EntryMarks = std::vector<char>;

class SweepSupport {
 public:
  SweepSupport(const SweepGraph& graph, const EntryNumbers& entries)
      : graph_(graph), nodes_(graph.nodes), entries_(entries) {}

  /// Marks entries of node i that are reached from those of its operands.
  void forward(int i, EntryMarks& tangents) const;

  /// Marks entries of the operands' adjoints that are reached from the tangents of node i's
  /// adjoint, or from the tangents of its operands if the node is nonlinear.
  /// @param takes  for each node: whether its adjoint is needed.
  void reverse(int i,
               const EntryMarks& tangents,
               std::span<const char> takes,
               EntryMarks& adjoints) const;

 private:
  const char* marks_of(const EntryMarks& marks, int node) const {
    return marks.data() + entries_.first(node);
  }

  void forward_product(int i, const EntryMarks& tangents, char* out) const;
  void reverse_elementwise(int i,
                           const EntryMarks& tangents,
                           std::span<const char> takes,
                           EntryMarks& adjoints) const;
  template <typename Give>
  void reverse_rows(int i, const char* bar, const EntryMarks& tangents, Give give) const;
  template <typename Give>
  void reverse_product(int i,
                       const char* bar,
                       const EntryMarks& tangents,
                       std::span<const char> takes,
                       Give give) const;

  const SweepGraph& graph_;
  std::span<const Graph::Node> nodes_;
  const EntryNumbers& entries_;
};

}  // namespace hesscope::detail
