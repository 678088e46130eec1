// SPDX-License-Identifier: BSD-3-Clause
//
// The graph as sweeps of tangents see it: a chain of nodes each entry of which depends on one entry
// of one or two other nodes alone, as GELU or SiLU are exported, or a gate times what passes it, is
// one elementwise function of these. Its derivatives are computed once at a point; what lies
// between them and its last node has no tangents.
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

/// Whether entries of the node are functions of one entry each of its operands.
bool is_elementwise(Graph::Op op);

/// Calls visit(root, i) for each operand's root that a node i takes tangents of.
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
  SweepGraph(const SweepGraph&) = delete;  // chains look at it
  SweepGraph& operator=(const SweepGraph&) = delete;

  /// Those of the graph, but the last of a chain is a kElementary node of its operand or a kDivide
  /// node of its two, which says nothing of the function, a kGather node takes none of another that
  /// nothing is seeded in, a shifted one has one operand, and what is left out has none.
  std::vector<Graph::Node> nodes;
  std::vector<char> varies;     ///< of each node: whether it carries tangents
  std::vector<char> is_common;  ///< of each node: whether its values are those of all samples
  std::vector<Derivatives> derivatives;  ///< of each elementwise node, by its operands
  std::vector<ElementwiseChain> chains;
  /// Of each node: whether it is its operand `a` plus what does not vary, of which nothing else
  /// takes any.
  std::vector<char> is_shifted;
  std::vector<std::int32_t> indices;  ///< Graph::indices(), and of gathers of gathers
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

/// Whether the node's derivatives, with respect to any of its operands, depend on `operand`, so
/// that its tangent is read on the way back; of softmax by its own.
bool is_read_back(const SweepGraph& graph, int node, int operand);

}  // namespace hesscope::detail
