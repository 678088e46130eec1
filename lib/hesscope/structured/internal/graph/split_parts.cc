// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/structured/internal/graph/split_parts.h>

namespace hesscope::detail {
namespace {

// Whether slices of the node, which are its only users, cover it contiguously from its first to its
// last entry.
bool are_all_of_it(const SweepGraph& graph, std::vector<int>& takers, int size) {
  const auto& nodes = graph.nodes;
  const auto is_run = [&](int i) {
    const Graph::Node& n = nodes[at(i)];
    return n.op == Graph::Op::kSlice && (n.rows == 1 || n.cols == nodes[at(n.a)].cols);
  };
  if (!std::ranges::all_of(takers, is_run)) return false;
  std::ranges::sort(takers, {}, [&](int i) { return first_of_part(graph, i); });
  int end = 0;
  for (const int i : takers) {
    if (first_of_part(graph, i) != end) return false;
    end += size_of(nodes[at(i)]);
  }
  return end == size;
}

}  // namespace

std::vector<char> find_split_parts(const SweepGraph& graph,
                                   const EntryNumbers& entries,
                                   const ParameterUses& uses) {
  const auto& nodes = graph.nodes;
  std::vector<std::vector<int>> takers(nodes.size());  // for each root
  for_takers(nodes, graph.varies, entries, [&](int root, int i) { takers[at(root)].push_back(i); });
  // Matrices that products use as x are read in place, with tangents seeded only there.
  std::vector<char> is_x(nodes.size(), 0);
  for (const ParameterUse& use : uses.uses) {
    for (const int x : use.x) {
      const int node = x == kUnitInput ? -1 : entries.node_of(x);
      if (node >= 0) is_x[at(node)] = 1;
    }
  }
  std::vector<char> is_part(nodes.size(), 0);
  for (std::size_t root = 0; root < nodes.size(); ++root) {
    const bool is_row = nodes[root].rows == 1 && takers[root].size() > 1;
    if (!is_row || is_x[root]) continue;
    if (!are_all_of_it(graph, takers[root], size_of(nodes[root]))) continue;
    for (const int i : takers[root]) is_part[at(i)] = 1;
  }
  return is_part;
}

int first_of_part(const SweepGraph& graph, int slice) {
  const Graph::Node& n = graph.nodes[at(slice)];
  return static_cast<int>(n.row * graph.nodes[at(n.a)].cols + n.col);
}

}  // namespace hesscope::detail
