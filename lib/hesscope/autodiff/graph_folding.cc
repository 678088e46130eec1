// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <unordered_map>
#include <utility>

#include <hesscope/autodiff/graph_folding.h>
#include <hesscope/autodiff/internal/node_forward.h>

namespace hesscope {
namespace detail {

template <>
struct BaseConstants<double> {
  static double inverse_root_two_pi() { return 0.398942280401432677939946059934; }

  static double two_over_root_pi() { return 1.12837916709551257389615890312; }

  static double root_half() { return 0.707106781186547524400844362105; }
};

}  // namespace detail

namespace {

using Op = Graph::Op;
using Node = Graph::Node;

std::array<std::int32_t, 3> operands_of(const Node& node) { return {node.a, node.b, node.choice}; }

// Values of nodes that depend on constants alone.
class Evaluation {
 public:
  explicit Evaluation(const Graph& graph) : graph_(graph) {}

  // Of a node and all that it depends on, the latter first.
  std::span<const double> at(std::int32_t wanted) {
    std::vector<std::int32_t> open = {wanted};
    while (!open.empty()) {
      const std::int32_t id = open.back();
      const Node& node = graph_.nodes()[static_cast<std::size_t>(id)];
      bool is_ready = true;
      for (const std::int32_t operand : operands_of(node)) {
        if (operand < 0 || is_known(operand)) continue;
        open.push_back(operand);
        is_ready = false;
      }
      if (!is_ready) continue;
      open.pop_back();
      if (!is_known(id)) compute(id, node);
    }
    return view_of(wanted);
  }

 private:
  bool is_known(std::int32_t id) const {
    return graph_.nodes()[static_cast<std::size_t>(id)].op == Op::kConstant ||
           computed_.contains(id);
  }

  std::span<const double> view_of(std::int32_t id) const {
    const Node& node = graph_.nodes()[static_cast<std::size_t>(id)];
    if (node.op == Op::kConstant) {
      return graph_.constants().subspan(static_cast<std::size_t>(node.offset),
                                        static_cast<std::size_t>(node.size()));
    }
    return computed_.at(id);
  }

  detail::View<const double> matrix(std::int32_t id) const {
    if (id < 0) return {};
    const Node& node = graph_.nodes()[static_cast<std::size_t>(id)];
    return {view_of(id).data(), node.rows, node.cols, node.cols, 1};
  }

  void compute(std::int32_t id, const Node& node) {
    std::vector<double> result(static_cast<std::size_t>(node.size()));
    const detail::View<double> out{result.data(), node.rows, node.cols, node.cols, 1};
    const detail::NodeData<double> own{
        .choice = matrix(node.choice),
        .indices = node.op == Op::kGather ? graph_.indices().data() + node.offset : nullptr};
    if (node.op == Op::kReshape) {
      const auto same = view_of(node.a);
      result.assign(same.begin(), same.end());
    } else if (node.b < 0) {
      detail::forward_unary(node, own, out, matrix(node.a));
    } else {
      detail::forward_binary(node, own, out, matrix(node.a), matrix(node.b));
    }
    computed_.emplace(id, std::move(result));
  }

  const Graph& graph_;
  std::unordered_map<std::int32_t, std::vector<double>> computed_;
};

}  // namespace

bool ConstantFolder::is_constant(Var a) {
  const auto nodes = graph_->nodes();
  for (std::size_t i = is_constant_.size(); i < nodes.size(); ++i) {
    bool constant = nodes[i].op != Op::kParameter && nodes[i].op != Op::kInput;
    for (const std::int32_t operand : operands_of(nodes[i])) {
      if (operand >= 0 && is_constant_[static_cast<std::size_t>(operand)] == 0) constant = false;
    }
    is_constant_.push_back(constant ? 1 : 0);
  }
  return is_constant_[static_cast<std::size_t>(a.node())] != 0;
}

Var ConstantFolder::folded(Var a) {
  if (!is_constant(a) || !graph_->constant_value(a).empty()) return a;
  Evaluation evaluation(*graph_);
  const auto value = evaluation.at(a.node());
  return graph_->constant(value, a.rows(), a.cols());
}

std::shared_ptr<Graph> pruned(const Graph& graph) {
  const auto nodes = graph.nodes();
  std::vector<char> is_needed(nodes.size());
  for (const std::int32_t end : {graph.output(), graph.prediction()}) {
    if (end >= 0) is_needed[static_cast<std::size_t>(end)] = 1;
  }
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].op == Op::kParameter) is_needed[i] = 1;
    if (is_needed[i] == 0) continue;
    for (const std::int32_t operand : operands_of(nodes[i])) {
      if (operand >= 0) is_needed[static_cast<std::size_t>(operand)] = 1;
    }
  }
  auto smaller = std::make_shared<Graph>();
  std::vector<Var> kept;
  std::vector<std::size_t> place(nodes.size());
  const auto moved = [&](std::int32_t operand) {
    return operand < 0 ? operand : kept[place[static_cast<std::size_t>(operand)]].node();
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (is_needed[i] == 0) continue;
    Node node = nodes[i];
    place[i] = kept.size();
    const auto offset = static_cast<std::size_t>(node.offset);
    const auto size = static_cast<std::size_t>(node.size());
    switch (node.op) {
      case Op::kParameter:
        kept.push_back(smaller->parameter(node.offset, node.rows, node.cols));
        continue;
      case Op::kInput:
        kept.push_back(smaller->input(node.offset, node.rows, node.cols));
        continue;
      case Op::kConstant:
        kept.push_back(
            smaller->constant(graph.constants().subspan(offset, size), node.rows, node.cols));
        continue;
      case Op::kGather:
        node.offset = smaller->keep_indices(graph.indices().subspan(offset, size));
        break;
      default:
        break;
    }
    node.a = moved(node.a);
    node.b = moved(node.b);
    node.choice = moved(node.choice);
    kept.push_back(smaller->record(node));
  }
  const auto var_at = [&](std::int32_t node) {
    return kept[place[static_cast<std::size_t>(node)]];
  };
  if (graph.prediction() >= 0) smaller->set_prediction(var_at(graph.prediction()));
  if (graph.output() >= 0) smaller->set_output(var_at(graph.output()));
  return smaller;
}

}  // namespace hesscope
