// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/autodiff/internal/moved_entries.h>
#include <hesscope/structured/internal/graph/row_alignments.h>

namespace hesscope::detail {
namespace {

// Whether entries of the node are functions of single entries, or moved entries.
bool is_by_entries(Graph::Op op) {
  switch (op) {
    case Graph::Op::kConstant:
    case Graph::Op::kInput:
    case Graph::Op::kParameter:
    case Graph::Op::kReshape:
    case Graph::Op::kSum:
      return true;
    default:
      return is_elementwise(op) || moves_entries(op);
  }
}

}  // namespace

std::vector<int> row_alignments(const SweepGraph& graph,
                                const EntryNumbers& entries,
                                std::span<const SweepNode> kept) {
  const auto& nodes = graph.nodes;
  std::vector<int> alignment(nodes.size(), 1);
  const auto align = [&](int node, int step) {
    int& own = alignment[at(entries.root(node))];
    const int size = size_of(nodes[at(node)]);
    own = std::min(size, std::lcm(own, step));
    if (size % own != 0) own = size;
  };
  const auto num_nodes = static_cast<int>(nodes.size());
  const auto is_slice = [&](int i) {
    return kept[at(i)].is_part && nodes[at(i)].op == Graph::Op::kSlice;
  };
  for (int i = 0; i < num_nodes; ++i) {
    const Graph::Node& n = nodes[at(i)];
    if (!graph.varies[at(i)] || (is_by_entries(n.op) && !is_slice(i))) continue;
    for (const int node : {i, n.a, n.b}) {
      if (node < 0) continue;
      align(node, is_slice(i) ? size_of(nodes[at(node)]) : static_cast<int>(nodes[at(node)].cols));
    }
  }
  return alignment;
}

}  // namespace hesscope::detail
