// SPDX-License-Identifier: BSD-3-Clause
//
// The graph as used by sweeps of tangents. A chain of nodes each of whose entries depends on one
// entry of only one or two other nodes, as exported for GELU or SiLU, or for a gate times its
// input, is one elementwise function of these. Its derivatives are computed once at a point; the
// nodes between these and the chain's last node have no tangents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/structured/internal/graph/entry_numbers.h>
#include <hesscope/structured/internal/graph/idle_entries.h>
#include <hesscope/structured/internal/graph/parameter_uses.h>
#include <hesscope/structured/internal/graph/tangent_sweep.h>

namespace hesscope::detail {

/// Calls visit(root, i) for the root of each operand from which a node i takes tangents.
template <typename F>
void for_takers(std::span<const Graph::Node> nodes,
                std::span<const char> varies,
                const EntryNumbers& entries,
                F visit) {
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    const Graph::Node& n = nodes[static_cast<std::size_t>(i)];
    if (!varies[static_cast<std::size_t>(i)] || n.op == Graph::Op::kReshape) continue;
    for (const int operand : {n.a, n.b}) {
      if (operand >= 0 && varies[static_cast<std::size_t>(operand)])
        visit(entries.root(operand), i);
    }
  }
}

struct SweepGraph {
  SweepGraph(const Graph& graph, const EntryNumbers& entries, const ParameterUses& uses);
  SweepGraph(const SweepGraph&) = delete;  // chains refer to it
  SweepGraph& operator=(const SweepGraph&) = delete;

  /// The nodes of the graph, with these changes: the last node of a chain is a kElementary node of
  /// its operand or a kDivide node of its two operands, whatever the function is; a kGather node
  /// does not use another one in which nothing is seeded; a shifted node has one operand; omitted
  /// nodes have none.
  std::vector<Graph::Node> nodes;
  std::vector<char> varies;              ///< for each node: whether it carries tangents
  std::vector<char> is_common;           ///< for each node: whether all samples share its values
  std::vector<Derivatives> derivatives;  ///< for each elementwise node, by its operands
  std::vector<ElementwiseChain> chains;
  /// For each node: whether it is its operand `a` plus something that does not vary, where no other
  /// node uses `a`.
  std::vector<char> is_shifted;
  std::vector<std::int32_t> indices;  ///< Graph::indices(), and those of gathers of gathers
  IdleEntries idle;
  int num_parameters = 0;

 private:
  template <typename Finder>
  void join_chains(const Finder& finder);
  void join_gathers(const EntryNumbers& entries, std::span<const char> is_fixed);
  void find_shifted(const EntryNumbers& entries, std::span<const char> is_fixed);
  void drop(int i);

  std::vector<std::vector<int>> nodes_of_chains_;
  std::vector<std::vector<Derivatives>> derivatives_of_chains_;
};

/// Whether any of the node's derivatives depends on `operand`, so that the backward pass reads its
/// tangent; for softmax, on the node itself.
bool is_read_back(const SweepGraph& graph, int node, int operand);

}  // namespace hesscope::detail
