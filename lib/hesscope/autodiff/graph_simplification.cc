// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <hesscope/autodiff/graph_simplification.h>
#include <hesscope/autodiff/internal/graph_patterns.h>
#include <hesscope/autodiff/internal/graph_trimming.h>
#include <hesscope/autodiff/internal/node_copy.h>

namespace hesscope {
namespace {

using Op = Graph::Op;
using Node = Graph::Node;

class Simplification {
 public:
  explicit Simplification(const Graph& graph)
      : graph_(graph),
        nodes_(graph.nodes().begin(), graph.nodes().end()),
        factor_(nodes_.size()),
        sources_(nodes_.size()),
        place_(nodes_.size()) {
    const detail::GraphPatterns patterns(graph);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto node = static_cast<std::int32_t>(i);
      if (auto found = patterns.standardized(node)) nodes_[i] = *found;
      if (auto found = patterns.gelu(node)) nodes_[i] = *found;
    }
    find_needed();
    find_scaled(patterns);
    find_masked(patterns);
    find_moved();
    find_needed();
  }

  std::shared_ptr<Graph> run() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (is_needed_[i] == 0) continue;
      place_[i] = kept_.size();
      kept_.push_back(copy_of(i));
    }
    if (graph_.prediction() >= 0) smaller_->set_prediction(kept(graph_.prediction()));
    if (graph_.output() >= 0) smaller_->set_output(kept(graph_.output()));
    return smaller_;
  }

 private:
  static std::size_t at(Eigen::Index i) { return static_cast<std::size_t>(i); }

  void find_needed() {
    is_needed_.assign(nodes_.size(), 0);
    for (const std::int32_t end : {graph_.output(), graph_.prediction()}) {
      if (end >= 0) is_needed_[at(end)] = 1;
    }
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (nodes_[i].op == Op::kParameter) is_needed_[i] = 1;
      if (is_needed_[i] == 0) continue;
      for (const std::int32_t operand : nodes_[i].operands()) {
        if (operand >= 0) is_needed_[at(operand)] = 1;
      }
    }
  }

  // The number of nodes that use each node.
  std::vector<int> count_takers() const {
    std::vector<int> num_takers(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (is_needed_[i] == 0) continue;
      for (const std::int32_t operand : nodes_[i].operands()) {
        if (operand >= 0) ++num_takers[at(operand)];
      }
    }
    for (const std::int32_t end : {graph_.output(), graph_.prediction()}) {
      if (end >= 0) ++num_takers[at(end)];
    }
    return num_takers;
  }

  // For each node, whether a step uses it, directly or through others.
  std::vector<char> find_before_steps() const {
    std::vector<char> is_before_step(nodes_.size());
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (is_needed_[i] == 0 || !(is_before_step[i] || nodes_[i].is_step())) continue;
      for (const std::int32_t operand : nodes_[i].operands()) {
        if (operand >= 0) is_before_step[at(operand)] = 1;
      }
    }
    return is_before_step;
  }

  // Products whose only use is a multiplication by a number become products with the smaller factor
  // scaled, unless one of the two consists of parameters: sweeps look for such products. In front
  // of a step, both are left unchanged to the last bit: 49 (1 / 49) is below 1, and its floor is 0.
  void find_scaled(const detail::GraphPatterns& patterns) {
    const std::vector<int> num_takers = count_takers();
    const std::vector<char> is_before_step = find_before_steps();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].op == Op::kDivide && is_before_step[i]) continue;
      const auto scaled = patterns.scaled(static_cast<std::int32_t>(i));
      const bool is_replaced = nodes_[i].op != graph_.nodes()[i].op;
      if (is_needed_[i] == 0 || is_replaced || !scaled) continue;
      Node of_operand{.op = Op::kScale,
                      .a = scaled->operand,
                      .rows = nodes_[i].rows,
                      .cols = nodes_[i].cols,
                      .factor = scaled->factor};
      std::int32_t product = scaled->operand;
      while (nodes_[at(product)].op == Op::kReshape && num_takers[at(product)] == 1) {
        product = nodes_[at(product)].a;
      }
      const Node& n = nodes_[at(product)];
      const bool is_smaller = !is_before_step[i] && n.op == Op::kMatmul &&
                              num_takers[at(product)] == 1 && !factor_[at(product)] &&
                              !patterns.is_of_parameters(n.a) && !patterns.is_of_parameters(n.b) &&
                              std::min(nodes_[at(n.a)].size(), nodes_[at(n.b)].size()) < n.size();
      if (is_smaller) {
        factor_[at(product)] = std::exchange(of_operand.factor, 1);
        of_operand.op = Op::kReshape;
      }
      nodes_[i] = of_operand;
    }
  }

  // Parameters times a mask of zeros and ones become moved parameters, some of which are left out.
  void find_masked(const detail::GraphPatterns& patterns) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto masked = patterns.masked_parameters(static_cast<std::int32_t>(i));
      if (is_needed_[i] == 0 || !masked) continue;
      for (std::size_t e = 0; e < masked->mask.size(); ++e) {
        sources_[i].push_back(masked->mask[e] == 0 ? -1 : static_cast<std::int32_t>(e));
      }
      nodes_[i] = {
          .op = Op::kGather, .a = masked->operand, .rows = nodes_[i].rows, .cols = nodes_[i].cols};
    }
  }

  // A node that moves entries of another one that also only moves them takes them from the origin.
  void find_moved() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (is_needed_[i] == 0) continue;
      if (nodes_[i].op == Op::kSlice) shorten_slice(nodes_[i]);
      if (nodes_[i].op == Op::kGather) shorten_gather(i);
    }
  }

  bool has_shape_of(const Node& n, std::int32_t operand) const {
    return n.rows == nodes_[at(operand)].rows && n.cols == nodes_[at(operand)].cols;
  }

  void shorten_slice(Node& n) const {
    const auto is_shown_whole = [&](std::int32_t operand) {
      const Node& o = nodes_[at(operand)];
      return o.op == Op::kReshape && has_shape_of(o, o.a) && operand != graph_.prediction();
    };
    while (is_shown_whole(n.a)) n.a = nodes_[at(n.a)].a;
    if (const Node& from = nodes_[at(n.a)]; from.op == Op::kSlice && n.a != graph_.prediction()) {
      n.row += from.row;
      n.col += from.col;
      n.a = from.a;
    }
    if (has_shape_of(n, n.a)) n = {.op = Op::kReshape, .a = n.a, .rows = n.rows, .cols = n.cols};
  }

  std::span<const std::int32_t> indices_of(std::int32_t i) const {
    if (!sources_[at(i)].empty()) return sources_[at(i)];
    const Node& n = nodes_[at(i)];
    return graph_.indices().subspan(at(n.offset), at(n.size()));
  }

  // An entry of a node; without a node, it is 0.
  struct Entry {
    std::int32_t node;
    Eigen::Index place;
  };

  // Stops at a node that does not move entries, or at the prediction, which a loss must not bypass.
  Entry source_of(Entry entry) const {
    while (entry.node >= 0 && entry.node != graph_.prediction()) {
      const Node& n = nodes_[at(entry.node)];
      if (n.op == Op::kReshape) {
        entry.node = n.a;
      } else if (n.op == Op::kSlice) {
        const Eigen::Index row = n.row + entry.place / n.cols;
        const Eigen::Index col = n.col + entry.place % n.cols;
        entry = {n.a, row * nodes_[at(n.a)].cols + col};
      } else if (n.op == Op::kGather) {
        entry = operand_of(n, indices_of(entry.node)[at(entry.place)]);
      } else {
        break;
      }
    }
    return entry;
  }

  // For a kGather node.
  Entry operand_of(const Node& n, std::int32_t index) const {
    if (index < 0) return {-1, 0};
    const Eigen::Index size = nodes_[at(n.a)].size();
    return index < size ? Entry{n.a, index} : Entry{n.b, index - size};
  }

  void shorten_gather(std::size_t i) {
    Node n = nodes_[i];
    std::vector<Entry> sources;
    std::int32_t a = -1;
    std::int32_t b = -1;
    for (const std::int32_t index : indices_of(static_cast<std::int32_t>(i))) {
      const Entry source = source_of(operand_of(n, index));
      sources.push_back(source);
      if (source.node < 0 || source.node == a || source.node == b) continue;
      if (b >= 0) return;  // a node has at most two operands
      (a < 0 ? a : b) = source.node;
    }
    if (a < 0 || (a == n.a && b == n.b)) return;
    std::vector<std::int32_t> indices;
    bool is_whole = b < 0 && nodes_[at(a)].size() == n.size();
    for (std::size_t e = 0; e < sources.size(); ++e) {
      const Entry& source = sources[e];
      const Eigen::Index before = source.node == b ? nodes_[at(a)].size() : 0;
      const Eigen::Index index = source.node < 0 ? -1 : before + source.place;
      is_whole = is_whole && index == static_cast<Eigen::Index>(e);
      indices.push_back(static_cast<std::int32_t>(index));
    }
    n.a = a;
    n.b = b;
    if (is_whole) {
      n.op = Op::kReshape;
    } else {
      sources_[i] = std::move(indices);
    }
    nodes_[i] = n;
  }

  Var kept(std::int32_t i) const { return kept_[place_[at(i)]]; }

  Var copy_of(std::size_t i) {
    const Node& node = nodes_[i];
    if (node.op == Op::kReshape) return reshape(kept(node.a), node.rows, node.cols);
    if (!sources_[i].empty()) {
      return node.b < 0 ? gather(kept(node.a), sources_[i], node.rows, node.cols)
                        : gather(kept(node.a), kept(node.b), sources_[i], node.rows, node.cols);
    }
    bool is_due = factor_[i].has_value();  // once, even if both factors are one node
    return detail::copied_node(graph_, node, *smaller_, [&](std::int32_t operand) {
      const bool is_scaled = is_due && operand == smaller_factor(node);
      if (is_scaled) is_due = false;
      if (node.op == Op::kElementary && !has_shape_of(node, operand)) {
        return reshape(kept(operand), node.rows, node.cols).node();
      }
      return (is_scaled ? *factor_[i] * kept(operand) : kept(operand)).node();
    });
  }

  std::int32_t smaller_factor(const Node& product) const {
    return nodes_[at(product.a)].size() <= nodes_[at(product.b)].size() ? product.a : product.b;
  }

  const Graph& graph_;
  std::vector<Node> nodes_;
  std::vector<char> is_needed_;
  std::vector<std::optional<double>> factor_;       // for a product: its factor
  std::vector<std::vector<std::int32_t>> sources_;  // for moved entries: one each, or -1
  std::shared_ptr<Graph> smaller_ = std::make_shared<Graph>();
  std::vector<Var> kept_;
  std::vector<std::size_t> place_;  // of a node among the kept ones
};

}  // namespace

std::shared_ptr<Graph> simplified(const Graph& graph) {
  std::shared_ptr<Graph> result = Simplification(graph).run();
  if (const auto smaller = detail::trimmed(*result)) result = Simplification(*smaller).run();
  return result;
}

}  // namespace hesscope
