// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include <hesscope/autodiff/internal/graph_patterns.h>
#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/autodiff/internal/node_copy.h>
#include <hesscope/structured/internal/graph/common_nodes.h>
#include <hesscope/structured/internal/graph/computed_weights.h>

namespace hesscope::detail {
namespace {

using Op = Graph::Op;
using Node = Graph::Node;

class Finder {
 public:
  explicit Finder(const Graph& graph)
      : graph_(graph), nodes_(graph.nodes()), patterns_(graph), is_common_(common_nodes(nodes_)) {
    std::vector<char> is_needed(nodes_.size(), 0);
    mark(graph.output(), is_needed, {});
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& n = nodes_[i];
      bool varies = n.op == Op::kParameter;
      for (const std::int32_t operand : n.operands()) {
        if (operand < 0) continue;
        varies = varies || varies_[at(operand)];
      }
      varies_.push_back(varies && !n.is_step());
      if (is_common_[i] != 0 || is_needed[i] == 0) continue;
      for (const std::int32_t operand : {n.a, n.b}) {
        if (operand >= 0 && is_computed(operand)) add(patterns_.root(operand));
      }
    }
  }

  std::optional<ComputedWeights> run() const {
    if (weights_.empty()) return std::nullopt;
    ComputedWeights found{
        .outer = {}, .inner = {}, .num_parameters = graph_.num_parameters(), .kept = {}};
    std::vector<char> is_needed(nodes_.size(), 0);
    mark(graph_.output(), is_needed, weights_);
    found.kept = kept_parameters(is_needed);
    found.max_slopes = static_cast<double>(found.kept.size());
    for (const std::int32_t weight : weights_) {
      const Eigen::Index size = nodes_[at(weight)].size();
      found.num_computed += size;
      found.max_slopes += static_cast<double>(size) * num_parameters_of(weight);
    }
    found.outer = outer(is_needed, found.kept);
    found.inner = inner(found.num_computed);
    return found;
  }

 private:
  bool is_computed(std::int32_t i) const {
    return is_common_[at(i)] != 0 && varies_[at(i)] && !patterns_.is_of_parameters(i);
  }

  void add(std::int32_t weight) {
    if (std::ranges::find(weights_, weight) == weights_.end()) weights_.push_back(weight);
  }

  // Marks what a node depends on, but not through `ends`.
  void mark(std::int32_t node,
            std::vector<char>& marks,
            const std::vector<std::int32_t>& ends) const {
    marks[at(node)] = 1;
    for (std::size_t i = at(node) + 1; i-- > 0;) {
      const bool is_end = std::ranges::find(ends, static_cast<std::int32_t>(i)) != ends.end();
      if (marks[i] == 0 || is_end) continue;
      for (const std::int32_t operand : nodes_[i].operands()) {
        if (operand >= 0) marks[at(operand)] = 1;
      }
    }
  }

  // The number of parameters on which the node depends.
  double num_parameters_of(std::int32_t node) const {
    std::vector<char> is_needed(nodes_.size(), 0);
    mark(node, is_needed, {});
    double count = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (is_needed[i] != 0 && nodes_[i].op == Op::kParameter) {
        count += static_cast<double>(nodes_[i].size());
      }
    }
    return count;
  }

  std::vector<Eigen::Index> kept_parameters(const std::vector<char>& is_needed) const {
    std::vector<char> is_kept(at(graph_.num_parameters()), 0);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].op != Op::kParameter || is_needed[i] == 0) continue;
      std::fill_n(is_kept.begin() + nodes_[i].offset, nodes_[i].size(), 1);
    }
    std::vector<Eigen::Index> kept;
    for (std::size_t k = 0; k < is_kept.size(); ++k) {
      if (is_kept[k] != 0) kept.push_back(static_cast<Eigen::Index>(k));
    }
    return kept;
  }

  std::shared_ptr<const Graph> outer(const std::vector<char>& is_needed,
                                     const std::vector<Eigen::Index>& kept) const {
    auto graph = std::make_shared<Graph>();
    std::vector<std::int32_t> place(nodes_.size(), -1);
    auto computed = static_cast<Eigen::Index>(kept.size());
    std::vector<Eigen::Index> first_of_weight;
    for (const std::int32_t weight : weights_) {
      first_of_weight.push_back(computed);
      computed += nodes_[at(weight)].size();
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (is_needed[i] == 0) continue;
      Node node = nodes_[i];
      const auto weight = std::ranges::find(weights_, static_cast<std::int32_t>(i));
      if (weight != weights_.end()) {
        node = {.op = Op::kParameter,
                .rows = node.rows,
                .cols = node.cols,
                .offset = first_of_weight[at(weight - weights_.begin())]};
      } else if (node.op == Op::kParameter) {
        node.offset = std::ranges::lower_bound(kept, node.offset) - kept.begin();
      }
      const Var copy = copied_node(
          graph_, node, *graph, [&](std::int32_t operand) { return place[at(operand)]; });
      place[i] = copy.node();
      if (static_cast<std::int32_t>(i) == graph_.output()) graph->set_output(copy);
    }
    return graph;
  }

  std::shared_ptr<const Graph> inner(Eigen::Index num_computed) const {
    auto graph = std::make_shared<Graph>();
    std::vector<char> is_needed(nodes_.size(), 0);
    for (const std::int32_t weight : weights_) mark(weight, is_needed, {});
    std::vector<std::int32_t> place(nodes_.size(), -1);
    std::optional<Var> all;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (is_needed[i] == 0) continue;
      place[i] = copied_node(graph_, nodes_[i], *graph, [&](std::int32_t operand) {
                   return place[at(operand)];
                 }).node();
    }
    // As one column, one weight after the other.
    for (const std::int32_t weight : weights_) {
      const Node& n = nodes_[at(weight)];
      const Var column =
          graph->record({.op = Op::kReshape, .a = place[at(weight)], .rows = n.size(), .cols = 1});
      if (!all) {
        all = column;
        continue;
      }
      std::vector<std::int32_t> order(at(all->rows() + column.rows()));
      std::iota(order.begin(), order.end(), 0);
      all = gather(*all, column, order, std::ssize(order), 1);
    }
    graph->set_prediction(*all);
    graph->set_output(sum(hadamard(*all, graph->input(0, num_computed, 1))));
    return graph;
  }

  const Graph& graph_;
  std::span<const Node> nodes_;
  GraphPatterns patterns_;
  std::vector<char> is_common_;
  std::vector<bool> varies_;
  std::vector<std::int32_t> weights_;
};

}  // namespace

std::optional<ComputedWeights> find_computed_weights(const Graph& graph) {
  return Finder(graph).run();
}

}  // namespace hesscope::detail
