// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <utility>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/structured/internal/graph/graph_layout.h>
#include <hesscope/structured/internal/graph/split_parts.h>

namespace hesscope::detail {

GraphLayout::GraphLayout(const SweepGraph& graph,
                         const EntryNumbers& entries,
                         const ParameterUses& uses) {
  place_nodes(graph, entries, uses);
  place_tangents(graph, entries, uses);
  place_rows(entries, uses);
}

void GraphLayout::place_nodes(const SweepGraph& graph,
                              const EntryNumbers& entries,
                              const ParameterUses& uses) {
  const auto& nodes = graph.nodes;
  const auto varies = [&](int i) { return i >= 0 && graph.varies[at(i)]; };
  const std::vector<char>& is_common = graph.is_common;
  std::vector<char> is_read(nodes.size(), 0);         // in packs
  std::vector<char> is_read_common(nodes.size(), 0);  // by products
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Graph::Node& n = nodes[i];
    if (!varies(static_cast<int>(i))) continue;
    if (n.op == Graph::Op::kMatmul) {
      for (const int operand : {n.a, n.b}) {
        (is_common[at(operand)] ? is_read_common : is_read)[at(entries.root(operand))] = 1;
      }
    } else if (n.op == Graph::Op::kHadamard || n.op == Graph::Op::kSquaredDistances) {
      for (const int operand : {n.a, n.b}) is_read[at(entries.root(operand))] = 1;
    } else if (n.op == Graph::Op::kSoftmaxRows || n.op == Graph::Op::kStandardizeRows) {
      is_read[i] = 1;
    }
  }
  for (const ParameterUse& use : uses.uses) {
    for (const int x : use.x) {
      const int node = x == kUnitInput ? -1 : entries.node_of(x);
      if (node >= 0) is_read[at(node)] = 1;
    }
  }
  const auto take = [](int& count, int size) { return std::exchange(count, count + size); };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const int root = entries.root(static_cast<int>(i));
    SweepNode kept{.node = &nodes[i], .root = root, .derivatives = graph.derivatives[i]};
    const int size = size_of(nodes[i]);
    kept.is_common = is_common[i] != 0;
    common_first_.push_back(-1);
    if (root != static_cast<int>(i)) {
      const SweepNode& of_root = nodes_[at(root)];
      kept.value = of_root.value;
      kept.adjoint = of_root.adjoint;
      common_first_.back() = common_first_[at(root)];
    } else {
      if (is_read[i]) kept.value = take(num_values_, size);
      if (is_read_common[i]) common_first_.back() = take(common_size_, size);
      if (graph.varies[i]) {
        kept.adjoint = take(num_adjoints_, size);
        const int coefficients = detail::num_coefficients(nodes[i], graph.derivatives[i], nodes);
        if (coefficients > 0) kept.coefficient = take(num_coefficients_, coefficients);
      }
    }
    nodes_.push_back(kept);
  }
  const std::vector<char> is_part = find_split_parts(graph, entries, uses);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].is_part = is_part[i] != 0 || graph.is_shifted[i] != 0;
  }
  for (const ElementwiseChain& chain : graph.chains) {
    nodes_[at(chain.nodes.back())].is_chain = true;
  }
  for (const OneHotRows& rows : uses.one_hots) {
    const int size = rows.positions * rows.table_rows;
    one_hots_.push_back({rows.rows_node, rows.positions, rows.table_rows, take(num_values_, size)});
    for (int e = 0; e < size; ++e) one_hot_values_.push_back(one_hots_.back().value + e);
  }
}

// A tangent is needed from its node to the last node that uses it, or to the end if the backward
// pass uses it or a use has it as x. The tangent of an adjoint is needed, in the backward pass,
// from the last node that adds to it to its own node, or to the end if it belongs to a use's z.
void GraphLayout::place_tangents(const SweepGraph& graph,
                                 const EntryNumbers& entries,
                                 const ParameterUses& uses) {
  const auto num_nodes = static_cast<int>(nodes_.size());
  const auto varies = [&](int i) { return i >= 0 && graph.varies[at(i)]; };
  // In which node's place a node's tangents lie, and from which entry on.
  std::vector<int> home(nodes_.size());
  std::vector<int> first_at_home(nodes_.size(), 0);
  for (int i = 0; i < num_nodes; ++i) {
    const SweepNode& own = nodes_[at(i)];
    home[at(i)] = i;
    if (!own.is_part && own.node->op != Graph::Op::kReshape) continue;
    const int operand = own.node->a;
    home[at(i)] = home[at(operand)];
    first_at_home[at(i)] = first_at_home[at(operand)] + (own.is_part ? first_of_part(graph, i) : 0);
  }
  std::vector<int> last_taker(nodes_.size(), -1);  // for each home
  std::vector<char> is_kept(nodes_.size(), 0);
  std::vector<char> is_bar_kept(nodes_.size(), 0);
  for (int i = 0; i < num_nodes; ++i) {
    const Graph::Node& n = *nodes_[at(i)].node;
    if (!varies(i) || n.op == Graph::Op::kReshape) continue;
    last_taker[at(home[at(i)])] = std::max(last_taker[at(home[at(i)])], i);
    for (const int operand : {n.a, n.b}) {
      if (!varies(operand)) continue;
      const int place = home[at(operand)];
      last_taker[at(place)] = i;
      if (n.op != Graph::Op::kSoftmaxRows && is_read_back(graph, i, operand))
        is_kept[at(place)] = 1;
    }
    if (n.op == Graph::Op::kSoftmaxRows) is_kept[at(i)] = 1;
  }
  for (const ParameterUse& use : uses.uses) {
    for (const int z : use.z) is_bar_kept[at(home[at(entries.node_of(z))])] = 1;
    for (const int x : use.x) {
      const int node = x == kUnitInput ? -1 : entries.node_of(x);
      if (node >= 0) is_kept[at(home[at(node)])] = 1;
    }
  }
  const auto for_homes = [&](const Graph::Node& n, auto visit) {
    const int a = varies(n.a) ? home[at(n.a)] : -1;
    const int b = varies(n.b) ? home[at(n.b)] : -1;
    if (a >= 0) visit(a);
    if (b >= 0 && b != a) visit(b);
  };
  for (int i = 0; i < num_nodes; ++i) {
    const Graph::Node& n = *nodes_[at(i)].node;
    if (!varies(i) || n.op == Graph::Op::kReshape) continue;
    if (home[at(i)] == i) nodes_[at(i)].tangent = tangents_.take(size_of(n));
    const auto end = [&](int place) {
      if (last_taker[at(place)] != i || is_kept[at(place)]) return;
      tangents_.give_back(nodes_[at(place)].tangent, size_of(*nodes_[at(place)].node));
    };
    for_homes(n, end);
    if (home[at(i)] == i) end(i);
  }
  for (int i = num_nodes; i-- > 0;) {
    const Graph::Node& n = *nodes_[at(i)].node;
    if (!varies(i) || n.op == Graph::Op::kReshape) continue;
    const auto begin = [&](int place) {
      int& bar = nodes_[at(place)].tangent_bar;
      if (bar < 0) bar = tangent_bars_.take(size_of(*nodes_[at(place)].node));
    };
    begin(home[at(i)]);
    for_homes(n, begin);
    if (home[at(i)] == i && !is_bar_kept[at(i)]) {
      tangent_bars_.give_back(nodes_[at(i)].tangent_bar, size_of(n));
    }
  }
  for (int i = 0; i < num_nodes; ++i) {
    const SweepNode& whole = nodes_[at(home[at(i)])];
    nodes_[at(i)].tangent = whole.tangent + first_at_home[at(i)];
    nodes_[at(i)].tangent_bar = whole.tangent_bar + first_at_home[at(i)];
  }
}

void GraphLayout::place_rows(const EntryNumbers& entries, const ParameterUses& uses) {
  const auto source_of = [&](int entry) -> Source {
    if (entry == kUnitInput) return {entry, -1, -1};
    const int node = entries.node_of(entry);
    const int tangent = node < 0 ? -1 : nodes_[at(node)].tangent;
    return {
        entry, value_of(entries, entry), tangent < 0 ? -1 : tangent + entry - entries.first(node)};
  };
  std::map<std::pair<std::vector<int>, int>, UseRows> known;  // by x and its positions
  for (const ParameterUse& use : uses.uses) {
    UseRows rows;
    rows.z = {static_cast<int>(z_rows_.size()), use.positions, use.units};
    for (const int z : use.z) {
      const int node = entries.node_of(z);
      const int e = z - entries.first(node);
      z_rows_.push_back({z, nodes_[at(node)].adjoint + e, nodes_[at(node)].tangent_bar + e});
    }
    const auto [place, is_new] = known.try_emplace({use.x, use.positions});
    UseRows& shared = place->second;
    if (is_new) {
      const int width = use.is_per_unit ? use.units : use.inputs;
      shared.x = {static_cast<int>(value_rows_.size()), use.positions, width};
      bool varies = false;
      for (const int x : use.x) {
        value_rows_.push_back(source_of(x));
        varies = varies || value_rows_.back().tangent >= 0;
      }
      if (varies) {
        shared.tangents = static_cast<int>(tangent_blocks_.size());
        tangent_blocks_.push_back({static_cast<int>(tangent_rows_.size()), use.positions, width});
        for (const int x : use.x) tangent_rows_.push_back(source_of(x));
      }
    }
    rows.x = shared.x;
    rows.tangents = shared.tangents;
    rows_.push_back(rows);
  }
}

int GraphLayout::value_of(const EntryNumbers& entries, int entry) const {
  const int node = entries.node_of(entry);
  if (node < 0) return one_hot_values_[at(entry - entries.size())];
  return nodes_[at(node)].value + entry - entries.first(node);
}

std::vector<SweepNode> GraphLayout::with_common(std::span<const double> common) const {
  std::vector<SweepNode> nodes = nodes_;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (common_first_[i] >= 0) nodes[i].common = common.data() + common_first_[i];
  }
  return nodes;
}

void GraphLayout::read_common(PointSweep& point, std::span<double> common) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (common_first_[i] >= 0 && nodes_[i].node->op != Graph::Op::kReshape) {
      point.read_common(static_cast<int>(i), common.data() + common_first_[i]);
    }
  }
}

}  // namespace hesscope::detail
