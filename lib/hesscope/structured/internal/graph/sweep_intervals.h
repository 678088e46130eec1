// SPDX-License-Identifier: BSD-3-Clause
//
// Where tangents of given seeds may differ from zero, node by node: an interval of entries each.
// What is outside is not computed. Intervals are of whole rows where products of matrices, or what
// else goes by rows, take them or make them.
#pragma once

#include <span>
#include <vector>

#include <hesscope/structured/internal/graph/parameter_uses.h>
#include <hesscope/structured/internal/graph/sweep_graph.h>
#include <hesscope/structured/internal/graph/sweep_support.h>
#include <hesscope/structured/internal/graph/tangent_sweep.h>

namespace hesscope::detail {

/// Of each node.
using SweepPlanOfNodes = std::vector<NodeSweep>;

class SweepIntervals {
 public:
  /// @param group_of_use  later groups have higher numbers.
  /// @param kept          of each node, whether it is a part; must outlive this.
  SweepIntervals(const SweepGraph& graph,
                 const EntryNumbers& entries,
                 const ParameterUses& uses,
                 std::span<const int> group_of_use,
                 std::span<const SweepNode> kept);

  /// Of seeds in order of nodes. Adjoints are wanted of the entries of this group and of later
  /// ones.
  /// @param reads_whole  whether nodes with entries z or x have all of them in the interval, if
  ///                     any.
  SweepPlanOfNodes plan(std::span<const Seed> seeds, int group, bool reads_whole) const;

  /// Whether entry `entry` of the graph is in the interval of its node.
  bool is_in(const SweepPlanOfNodes& plan, int entry, bool is_adjoint) const;

  /// Of one direction and one sample: products of matrices exactly, other entries once each way.
  double multiply_adds(const SweepPlanOfNodes& plan) const;

 private:
  void find_needs(std::span<const int> group_of_use);
  Interval marked(int node, const EntryMarks& marks) const;
  Interval aligned(int node, Interval entries) const;

  const SweepGraph& graph_;
  std::span<const Graph::Node> nodes_;
  const EntryNumbers& entries_;
  const ParameterUses& uses_;
  std::span<const SweepNode> kept_;
  std::vector<int> alignment_;  // of each root, in entries
  SweepSupport support_;
  std::vector<int> last_group_;      // of each node: the last one it depends on; -1
  std::vector<char> needs_tangent_;  // of each node: whether anything asks for it
  std::vector<char> is_read_;        // of each node: whether it has entries z or x
};

}  // namespace hesscope::detail
