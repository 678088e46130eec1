// SPDX-License-Identifier: BSD-3-Clause
//
// Which entries tangents reach, one by one: the structural zeros of derivatives. Entries that have
// no effect according to idle_entries.h are not reached. Up to kMarkedSweeps sweeps are followed at
// once, each by one bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/structured/internal/graph/sweep_graph.h>

namespace hesscope::detail {

/// For one entry: a bit for each sweep in which its number may be nonzero.
using Marks = std::uint64_t;

inline constexpr int kMarkedSweeps = 64;

/// Indexed by EntryNumbers.
using EntryMarks = std::vector<Marks>;

/// Sweeps that reach any of these entries.
inline Marks any_of(const Marks* marks, int count) {
  return std::reduce(marks, marks + count, Marks{0}, std::bit_or<>());
}

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
  const Marks* marks_of(const EntryMarks& marks, int node) const {
    return marks.data() + entries_.first(node);
  }

  Marks any_of_node(const EntryMarks& marks, int node) const {
    return any_of(marks_of(marks, node), size_of(nodes_[static_cast<std::size_t>(node)]));
  }

  void forward_product(int i, const EntryMarks& tangents, Marks* out) const;
  void reverse_elementwise(int i,
                           const EntryMarks& tangents,
                           std::span<const char> takes,
                           EntryMarks& adjoints) const;
  template <typename Give>
  void reverse_rows(int i, const Marks* bar, const EntryMarks& tangents, Give give) const;
  template <typename Give>
  void reverse_product(int i,
                       const Marks* bar,
                       const EntryMarks& tangents,
                       std::span<const char> takes,
                       Give give) const;

  const SweepGraph& graph_;
  std::span<const Graph::Node> nodes_;
  const EntryNumbers& entries_;
};

}  // namespace hesscope::detail
