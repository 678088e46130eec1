// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <vector>

#include <hesscope/autodiff/graph_simplification.h>
#include <hesscope/autodiff/internal/graph_patterns.h>

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
        place_(nodes_.size()) {
    const detail::GraphPatterns patterns(graph);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (auto found = patterns.standardized(static_cast<std::int32_t>(i))) nodes_[i] = *found;
    }
    find_needed();
    find_scaled_products(patterns);
  }

  std::shared_ptr<Graph> run() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (is_needed_[i] == 0) continue;
      place_[i] = kept_.size();
      kept_.push_back(copy_of(nodes_[i], factor_[i]));
    }
    if (graph_.prediction() >= 0) smaller_->set_prediction(kept(graph_.prediction()));
    if (graph_.output() >= 0) smaller_->set_output(kept(graph_.output()));
    return smaller_;
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

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

  // Products that a number alone takes become products of a smaller factor that is scaled, if none of
  // the two is parameters: of these the products are what sweeps look for.
  void find_scaled_products(const detail::GraphPatterns& patterns) {
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
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto scaled = patterns.scaled(static_cast<std::int32_t>(i));
      if (is_needed_[i] == 0 || !scaled) continue;
      std::int32_t product = scaled->operand;
      while (nodes_[at(product)].op == Op::kReshape && num_takers[at(product)] == 1) {
        product = nodes_[at(product)].a;
      }
      const Node& n = nodes_[at(product)];
      if (n.op != Op::kMatmul || num_takers[at(product)] != 1 || factor_[at(product)]) continue;
      if (patterns.is_of_parameters(n.a) || patterns.is_of_parameters(n.b)) continue;
      if (std::min(nodes_[at(n.a)].size(), nodes_[at(n.b)].size()) >= n.size()) continue;
      factor_[at(product)] = scaled->factor;
      nodes_[i] = {
          .op = Op::kReshape, .a = scaled->operand, .rows = nodes_[i].rows, .cols = nodes_[i].cols};
    }
    find_needed();
  }

  Var kept(std::int32_t i) const { return kept_[place_[at(i)]]; }

  std::int32_t moved(std::int32_t operand) const {
    return operand < 0 ? operand : kept(operand).node();
  }

  Var copy_of(Node node, std::optional<double> factor) {
    const auto offset = static_cast<std::size_t>(node.offset);
    const auto size = static_cast<std::size_t>(node.size());
    switch (node.op) {
      case Op::kParameter:
        return smaller_->parameter(node.offset, node.rows, node.cols);
      case Op::kInput:
        return smaller_->input(node.offset, node.rows, node.cols);
      case Op::kConstant:
        return smaller_->constant(graph_.constants().subspan(offset, size), node.rows, node.cols);
      case Op::kReshape:
        return reshape(kept(node.a), node.rows, node.cols);
      case Op::kGather:
        node.offset = smaller_->keep_indices(graph_.indices().subspan(offset, size));
        break;
      default:
        break;
    }
    node.a = moved(node.a);
    node.b = moved(node.b);
    node.choice = moved(node.choice);
    if (factor) {
      const auto size_of = [&](std::int32_t i) { return smaller_->nodes()[at(i)].size(); };
      std::int32_t& smaller = size_of(node.a) <= size_of(node.b) ? node.a : node.b;
      const Node& operand = smaller_->nodes()[at(smaller)];
      smaller = smaller_
                    ->record({.op = Op::kScale,
                              .a = smaller,
                              .rows = operand.rows,
                              .cols = operand.cols,
                              .factor = *factor})
                    .node();
    }
    return smaller_->record(node);
  }

  const Graph& graph_;
  std::vector<Node> nodes_;
  std::vector<char> is_needed_;
  std::vector<std::optional<double>> factor_;  // of a product: what scales it
  std::shared_ptr<Graph> smaller_ = std::make_shared<Graph>();
  std::vector<Var> kept_;
  std::vector<std::size_t> place_;  // of a node among those kept
};

}  // namespace

std::shared_ptr<Graph> simplified(const Graph& graph) { return Simplification(graph).run(); }

}  // namespace hesscope
