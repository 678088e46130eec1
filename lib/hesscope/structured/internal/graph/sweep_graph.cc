// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <utility>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/autodiff/internal/moved_entries.h>
#include <hesscope/structured/internal/graph/common_nodes.h>
#include <hesscope/structured/internal/graph/sweep_graph.h>

namespace hesscope::detail {

bool is_read_back(const SweepGraph& graph, int node, int operand) {
  const Graph::Node& n = graph.nodes[at(node)];
  const auto varies = [&](int i) { return i >= 0 && graph.varies[at(i)] != 0; };
  switch (n.op) {
    case Graph::Op::kSoftmaxRows:
    case Graph::Op::kStandardizeRows:
    case Graph::Op::kLogSumExpRows:
    case Graph::Op::kCrossEntropyRows:
    case Graph::Op::kSquaredDistances:
      return true;
    case Graph::Op::kMatmul:
      return n.a == n.b || varies(operand == n.a ? n.b : n.a);
    default: {
      const Derivatives& own = graph.derivatives[at(node)];
      const auto bends = [&](int which) {
        return own.has[second_derivative(which, 0)] || own.has[second_derivative(which, 1)];
      };
      return (operand == n.a && bends(0)) || (operand == n.b && bends(1));
    }
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
    std::vector<int> operands;  // one or two, in the order of use
    std::vector<int> nodes;
  };

  /// The longest chain that ends there and has one operand, or else two: of at least two nodes, or
  /// of a single one that uses its operand twice.
  std::optional<Chain> chain_to(int last) const {
    if (!is_elementwise(nodes_[at(last)].op) || !has_shape_of(last, last)) return std::nullopt;
    std::vector<int> inside{last};
    std::vector<int> bottoms;  // operands outside, one for each root
    add_operands(last, bottoms);
    std::vector<int> closed;  // roots of operands that cannot be inside
    std::optional<Chain> of_one;
    std::optional<Chain> of_two;
    while (true) {
      if (bottoms.size() == 1) of_one = Chain{bottoms, inside};
      if (bottoms.size() == 2) of_two = Chain{bottoms, inside};
      int next = -1;
      for (const int bottom : bottoms) {
        const int root = entries_.root(bottom);
        if (std::ranges::find(closed, root) == closed.end()) next = std::max(next, root);
      }
      if (next < 0 || inside.size() >= kMostNodes) break;
      if (!may_enter(next, last, inside)) {
        closed.push_back(next);
        continue;
      }
      inside.push_back(next);
      std::erase_if(bottoms, [&](int bottom) { return entries_.root(bottom) == next; });
      add_operands(next, bottoms);
    }
    const Graph::Node& n = nodes_[at(last)];
    const bool takes_twice = varies(n.a) && varies(n.b);
    const auto is_chain = [&](const std::optional<Chain>& chain) {
      return chain && (chain->nodes.size() > 1 || (chain->operands.size() == 1 && takes_twice));
    };
    std::optional<Chain>& found = is_chain(of_one) ? of_one : of_two;
    if (!is_chain(found)) return std::nullopt;
    std::ranges::sort(found->nodes);
    return found;
  }

  /// For each node of a chain, by the chain's operands.
  std::vector<Derivatives> derivatives(const Chain& chain) const {
    std::vector<Derivatives> found;
    const auto of_operand = [&](int operand) -> Derivatives {
      if (!varies(operand)) return {};
      const int root = entries_.root(operand);
      for (std::size_t which = 0; which < chain.operands.size(); ++which) {
        if (root == entries_.root(chain.operands[which])) return of_input(static_cast<int>(which));
      }
      const auto place = std::ranges::find(chain.nodes, root);
      return found[static_cast<std::size_t>(place - chain.nodes.begin())];
    };
    for (const int i : chain.nodes) {
      const Graph::Node& n = nodes_[at(i)];
      found.push_back(derivatives_of(n, of_operand(n.a), of_operand(n.b)));
    }
    return found;
  }

  /// For an elementwise node, by its own operands.
  Derivatives derivatives(int i) const {
    const Graph::Node& n = nodes_[at(i)];
    if (!is_elementwise(n.op)) return {};
    return derivatives_of(
        n, varies(n.a) ? of_input(0) : Derivatives{}, varies(n.b) ? of_input(1) : Derivatives{});
  }

 private:
  // No function spelled out by anybody has more nodes.
  static constexpr std::size_t kMostNodes = 64;

  bool varies(int i) const { return i >= 0 && varies_[at(i)] != 0; }

  static Derivatives of_input(int which) {
    Derivatives own;
    own.has[which] = true;
    return own;
  }

  // For f(a, b), where a and b have derivatives themselves.
  static Derivatives derivatives_of(const Graph::Node& node,
                                    const Derivatives& a,
                                    const Derivatives& b) {
    Derivatives all;
    for (int kind = 0; kind < kNumDerivatives; ++kind) all.has[kind] = a.has[kind] || b.has[kind];
    const auto add_products = [&](const Derivatives& x, const Derivatives& y) {
      for (const int u : {0, 1}) {
        for (const int v : {0, 1}) {
          if (x.has[u] && y.has[v]) all.has[second_derivative(u, v)] = true;
        }
      }
    };
    switch (node.op) {
      case Graph::Op::kElementary:
        if (!is_piecewise_linear(node.function)) add_products(a, a);
        break;
      case Graph::Op::kHadamard:
        add_products(a, b);
        break;
      case Graph::Op::kDivide:
        add_products(a, b);
        add_products(b, b);
        break;
      default:
        break;
    }
    return all;
  }

  // The operands of node i that vary, one for each root.
  void add_operands(int i, std::vector<int>& operands) const {
    for (const int operand : {nodes_[at(i)].a, nodes_[at(i)].b}) {
      if (!varies(operand)) continue;
      const auto is_same = [&](int other) {
        return entries_.root(other) == entries_.root(operand);
      };
      if (std::ranges::none_of(operands, is_same)) operands.push_back(operand);
    }
  }

  bool has_shape_of(int i, int last) const {
    const Graph::Node& n = nodes_[at(i)];
    return is_same_shape(i, last) && (!varies(n.a) || is_same_shape(n.a, last)) &&
           (!varies(n.b) || is_same_shape(n.b, last));
  }

  bool may_enter(int i, int last, const std::vector<int>& inside) const {
    return is_elementwise(nodes_[at(i)].op) && !is_fixed_[at(i)] && has_shape_of(i, last) &&
           std::ranges::all_of(takers_[at(i)], [&](int taker) {
             return std::ranges::find(inside, taker) != inside.end();
           });
  }

  bool is_same_shape(int i, int j) const {
    return nodes_[at(i)].rows == nodes_[at(j)].rows && nodes_[at(i)].cols == nodes_[at(j)].cols;
  }

  std::span<const Graph::Node> nodes_;
  const EntryNumbers& entries_;
  std::span<const char> varies_;
  std::vector<std::vector<int>> takers_;  // for each root
  std::span<const char> is_fixed_;        // for each root
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
      is_common(common_nodes(nodes)),
      indices(graph.indices().begin(), graph.indices().end()),
      idle(graph, entries, uses.varies),
      num_parameters(static_cast<int>(graph.num_parameters())) {
  const std::vector<char> is_fixed = fixed_roots(entries, uses);
  const ChainFinder finder(graph, entries, uses, is_fixed);
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    derivatives.push_back(finder.derivatives(i));
  }
  join_chains(finder);
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
    last.op = chain->operands.size() == 1 ? Graph::Op::kElementary : Graph::Op::kDivide;
    last.a = chain->operands.front();
    last.b = chain->operands.size() == 1 ? -1 : chain->operands.back();
    last.choice = -1;
    derivatives_of_chains_.push_back(finder.derivatives(*chain));
    derivatives[at(i)] = derivatives_of_chains_.back().back();
    nodes_of_chains_.push_back(std::move(chain->nodes));
    chains.push_back({last.a, last.b, nodes_of_chains_.back(), derivatives_of_chains_.back()});
  }
}

// A node that only moves entries that were only moved takes them from their origin.
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
  std::vector<int> num_takers(nodes.size(), 0);  // for each root
  for_takers(nodes, varies, entries, [&](int root, int) { ++num_takers[at(root)]; });
  is_shifted.assign(nodes.size(), 0);
  // Whether the backward pass reads the tangents stored with those of a root, as softmax does with
  // its own.
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
