// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <utility>

#include <hesscope/structured/internal/graph/indexing.h>
#include <hesscope/structured/internal/graph/sweep_graph.h>

namespace hesscope::detail {

bool is_elementwise(Graph::Op op) {
  switch (op) {
    case Graph::Op::kAdd:
    case Graph::Op::kSubtract:
    case Graph::Op::kScale:
    case Graph::Op::kHadamard:
    case Graph::Op::kDivide:
    case Graph::Op::kElementary:
    case Graph::Op::kSelect:
      return true;
    default:
      return false;
  }
}

namespace {

class ChainFinder {
 public:
  ChainFinder(const Graph& graph,
              const EntryNumbers& entries,
              const ParameterUses& uses,
              std::span<const char> is_fixed)
      : nodes_(graph.nodes()),
        entries_(entries),
        varies_(uses.varies),
        takers_(nodes_.size()),
        is_fixed_(is_fixed) {
    for_takers(nodes_, varies_, entries, [&](int root, int i) { takers_[at(root)].push_back(i); });
  }

  struct Chain {
    int x;
    std::vector<int> nodes;
  };

  /// The longest chain that ends there, of two nodes at least or of one that takes x twice.
  std::optional<Chain> chain_to(int last) const {
    std::vector<int> inside;
    std::vector<int> bottoms;  // operands that are not inside, as they are taken
    const auto enter = [&](int i) {
      inside.push_back(i);
      bool fits = true;
      for_operands(i, [&](int operand) {
        fits = fits && is_same_shape(operand, last);
        bottoms.push_back(operand);
      });
      return fits;
    };
    if (!is_elementwise(nodes_[at(last)].op) || !enter(last)) return std::nullopt;
    std::optional<Chain> found;
    while (!bottoms.empty() && inside.size() < kMostNodes) {
      const auto root_of = [&](int operand) { return entries_.root(operand); };
      const int next = root_of(*std::ranges::max_element(bottoms, {}, root_of));
      const bool is_one = std::ranges::all_of(bottoms, [&](int o) { return root_of(o) == next; });
      if (is_one) found = Chain{bottoms.front(), inside};
      const bool may_enter = is_elementwise(nodes_[at(next)].op) && !is_fixed_[at(next)] &&
                             is_same_shape(next, last) &&
                             std::ranges::all_of(takers_[at(next)], [&](int taker) {
                               return std::ranges::find(inside, taker) != inside.end();
                             });
      if (!may_enter) break;
      std::erase_if(bottoms, [&](int operand) { return root_of(operand) == next; });
      if (!enter(next)) break;
    }
    if (!found) return std::nullopt;
    const Graph::Node& n = nodes_[at(last)];
    const bool takes_twice = varies(n.a) && varies(n.b);
    if (found->nodes.size() == 1 && !takes_twice) return std::nullopt;
    std::ranges::sort(found->nodes);
    return found;
  }

  /// Whether nothing in a chain bends tangents.
  bool is_linear(const Chain& chain) const {
    return std::ranges::all_of(chain.nodes, [&](int i) { return is_linear(i); });
  }

 private:
  // Of more nodes is no function that anybody spells out.
  static constexpr std::size_t kMostNodes = 64;

  bool varies(int i) const { return i >= 0 && varies_[at(i)] != 0; }

  bool is_linear(int i) const {
    const Graph::Node& n = nodes_[at(i)];
    switch (n.op) {
      case Graph::Op::kElementary:
        return false;
      case Graph::Op::kHadamard:
        return !varies(n.a) || !varies(n.b);
      case Graph::Op::kDivide:
        return !varies(n.b);
      default:
        return true;
    }
  }

  template <typename F>
  void for_operands(int i, F visit) const {
    for (const int operand : {nodes_[at(i)].a, nodes_[at(i)].b}) {
      if (varies(operand)) visit(operand);
    }
  }

  bool is_same_shape(int i, int j) const {
    return nodes_[at(i)].rows == nodes_[at(j)].rows && nodes_[at(i)].cols == nodes_[at(j)].cols;
  }

  std::span<const Graph::Node> nodes_;
  const EntryNumbers& entries_;
  std::span<const char> varies_;
  std::vector<std::vector<int>> takers_;  // of each root
  std::span<const char> is_fixed_;        // of each root
};

// Roots at which uses seed or read tangents.
std::vector<char> fixed_roots(const EntryNumbers& entries, const ParameterUses& uses) {
  std::vector<char> is_fixed(uses.varies.size(), 0);
  for (const ParameterUse& use : uses.uses) {
    for (const int z : use.z) is_fixed[at(entries.node_of(z))] = 1;
    for (const int x : use.x) {
      const int node = x == kUnitInput ? -1 : entries.node_of(x);
      if (node >= 0) is_fixed[at(node)] = 1;
    }
  }
  return is_fixed;
}

}  // namespace

SweepGraph::SweepGraph(const Graph& graph, const EntryNumbers& entries, const ParameterUses& uses)
    : nodes(graph.nodes().begin(), graph.nodes().end()),
      varies(uses.varies),
      indices(graph.indices().begin(), graph.indices().end()),
      idle(graph, entries, uses.varies),
      num_parameters(static_cast<int>(graph.num_parameters())) {
  for (const Graph::Node& n : nodes) {
    const auto common = [&](int operand) { return operand < 0 || is_common[at(operand)]; };
    is_common.push_back(n.op != Graph::Op::kInput && common(n.a) && common(n.b) &&
                        common(n.choice));
  }
  const std::vector<char> is_fixed = fixed_roots(entries, uses);
  join_chains(ChainFinder(graph, entries, uses, is_fixed));
  join_gathers(entries, is_fixed);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].op == Graph::Op::kReshape)
      varies[i] = varies[at(entries.root(static_cast<int>(i)))];
  }
  find_shifted(entries, is_fixed);
}

void SweepGraph::drop(int i) {
  Graph::Node& node = nodes[at(i)];
  node.op = Graph::Op::kInput;
  node.a = node.b = node.choice = -1;
  varies[at(i)] = 0;
}

template <typename Finder>
void SweepGraph::join_chains(const Finder& finder) {
  std::vector<char> is_inside(nodes.size(), 0);
  for (int i = static_cast<int>(nodes.size()); i-- > 0;) {
    if (!varies[at(i)] || is_inside[at(i)]) continue;
    auto chain = finder.chain_to(i);
    if (!chain) continue;
    for (const int inner : chain->nodes) {
      is_inside[at(inner)] = 1;
      if (inner != i) drop(inner);
    }
    Graph::Node& last = nodes[at(i)];
    last.op = Graph::Op::kElementary;
    last.a = chain->x;
    last.b = last.choice = -1;
    const bool is_linear = finder.is_linear(*chain);
    nodes_of_chains_.push_back(std::move(chain->nodes));
    chains.push_back({chain->x, nodes_of_chains_.back(), is_linear});
  }
}

// What only moves entries that were only moved takes them from where they were.
void SweepGraph::join_gathers(const EntryNumbers& entries, std::span<const char> is_fixed) {
  const auto is_gather = [&](int i) {
    const Graph::Node& n = nodes[at(i)];
    return varies[at(i)] && n.op == Graph::Op::kGather && n.b < 0;
  };
  std::vector<int> taken_before(nodes.size(), 0);
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    if (!is_gather(i)) continue;
    const int inner = entries.root(nodes[at(i)].a);
    if (!is_gather(inner) || is_fixed[at(inner)]) continue;
    taken_before[at(inner)] = 1;
    Graph::Node& node = nodes[at(i)];
    const auto first = static_cast<Eigen::Index>(indices.size());
    for (Eigen::Index e = 0; e < node.size(); ++e) {
      const std::int32_t index = indices[static_cast<std::size_t>(node.offset + e)];
      indices.push_back(
          index < 0 ? index : indices[static_cast<std::size_t>(nodes[at(inner)].offset + index)]);
    }
    node.offset = first;
    node.a = nodes[at(inner)].a;
  }
  std::vector<char> is_taken(nodes.size(), 0);
  for_takers(nodes, varies, entries, [&](int root, int) { is_taken[at(root)] = 1; });
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    if (taken_before[at(i)] && !is_taken[at(i)]) drop(i);
  }
}

void SweepGraph::find_shifted(const EntryNumbers& entries, std::span<const char> is_fixed) {
  const auto is_varying = [&](int i) { return i >= 0 && varies[at(i)] != 0; };
  std::vector<int> num_takers(nodes.size(), 0);  // of each root
  for_takers(nodes, varies, entries, [&](int root, int) { ++num_takers[at(root)]; });
  is_shifted.assign(nodes.size(), 0);
  // Whether the way back reads the tangents that lie where those of a root do, as softmax does its own.
  const auto are_read_back = [&](int root) {
    while (nodes[at(root)].op == Graph::Op::kSlice || is_shifted[at(root)]) {
      root = entries.root(nodes[at(root)].a);
    }
    return nodes[at(root)].op == Graph::Op::kSoftmaxRows;
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Graph::Node& n = nodes[i];
    const bool is_sum = n.op == Graph::Op::kAdd && is_varying(n.a) != is_varying(n.b);
    const bool is_difference = n.op == Graph::Op::kSubtract && is_varying(n.a) && !is_varying(n.b);
    if (!varies[i] || !(is_sum || is_difference)) continue;
    const int operand = is_varying(n.a) ? n.a : n.b;
    const Graph::Node& from = nodes[at(operand)];
    const int root = entries.root(operand);
    if (from.rows != n.rows || from.cols != n.cols) continue;
    if (is_fixed[at(root)] || num_takers[at(root)] > 1) continue;
    if (is_fixed[i] && are_read_back(root)) continue;
    is_shifted[i] = 1;
    n.op = Graph::Op::kAdd;
    n.a = operand;
    n.b = -1;
  }
}

}  // namespace hesscope::detail
