// SPDX-License-Identifier: BSD-3-Clause
//
// Where tangents with given seeds may be nonzero: an interval of entries for each node. Nothing is
// computed outside. Intervals consist of whole rows where matrix products, or other operations by
// rows, use or produce them.
#pragma once

#include <span>
#include <vector>

#include <hesscope/structured/internal/graph/parameter_uses.h>
#include <hesscope/structured/internal/graph/sweep_graph.h>
#include <hesscope/structured/internal/graph/sweep_support.h>
#include <hesscope/structured/internal/graph/tangent_sweep.h>

namespace hesscope::detail {

/// For each node.
using SweepPlanOfNodes = std::vector<NodeSweep>;

class SweepIntervals {
 public:
  /// @param group_of_use  later groups have higher numbers.
  /// @param kept          for each node, whether it is a part; must outlive this.
  SweepIntervals(const SweepGraph& graph,
                 const EntryNumbers& entries,
                 const ParameterUses& uses,
                 std::span<const int> group_of_use,
                 std::span<const SweepNode> kept);

  /// For each sweep, given by its seeds. Adjoints are needed for the entries of this group and of
  /// later ones.
  /// @param reads_whole  whether the interval of nodes with entries z or x comprises all of them,
  ///                     if any.
  std::vector<SweepPlanOfNodes> plans(std::span<const std::span<const Seed>> seeds,
                                      int group,
                                      bool reads_whole) const;

  /// Whether entry `entry` of the graph is in the interval of its node.
  bool is_in(const SweepPlanOfNodes& plan, int entry, bool is_adjoint) const {
    const int node = entries_.node_of(entry);
    if (node < 0) return false;
    const NodeSweep& sweep = plan[static_cast<std::size_t>(node)];
    const Interval own = is_adjoint ? sweep.adjoint : sweep.tangent;
    const int e = entry - entries_.first(node);
    return e >= own.begin && e < own.end;
  }

  /// Per direction and sample: exact for matrix products, one for each other entry and pass.
  double multiply_adds(const SweepPlanOfNodes& plan) const;

 private:
  // The plans of up to kMarkedSweeps sweeps in the making, and the entries that they reach.
  struct Planning;

  void find_needs(std::span<const int> group_of_use);
  void plan_together(std::span<const std::span<const Seed>> seeds,
                     std::span<const char> takes,
                     bool reads_whole,
                     std::span<SweepPlanOfNodes> plans) const;
  void sweep_forwards(std::span<const std::span<const Seed>> seeds, Planning& planning) const;
  void sweep_backwards(std::span<const char> takes, Planning& planning) const;
  bool is_reshape(int i) const;
  // From the first to the last entry that a sweep marks, aligned.
  bool set_intervals(int node,
                     const EntryMarks& marks,
                     Interval NodeSweep::*part,
                     Planning& planning) const;

  const SweepGraph& graph_;
  std::span<const Graph::Node> nodes_;
  const EntryNumbers& entries_;
  const ParameterUses& uses_;
  std::span<const SweepNode> kept_;
  std::vector<int> alignment_;  // for each root, in entries
  SweepSupport support_;
  std::vector<int> last_group_;      // for each node: the last one it depends on; -1
  std::vector<char> needs_tangent_;  // for each node: whether it is needed
  std::vector<char> is_read_;        // for each node: whether it has entries z or x
};

}  // namespace hesscope::detail
