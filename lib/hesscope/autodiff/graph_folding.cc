// SPDX-License-Identifier: BSD-3-Clause
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

// Values of nodes that depend on constants only.
class Evaluation {
 public:
  explicit Evaluation(const Graph& graph) : graph_(graph) {}

  // Evaluates everything that a node depends on, then the node.
  std::span<const double> at(std::int32_t wanted) {
    std::vector<std::int32_t> open = {wanted};
    while (!open.empty()) {
      const std::int32_t id = open.back();
      const Node& node = graph_.nodes()[static_cast<std::size_t>(id)];
      bool is_ready = true;
      for (const std::int32_t operand : node.operands()) {
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
    for (const std::int32_t operand : nodes[i].operands()) {
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

}  // namespace hesscope
