// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <vector>

#include <hesscope/autodiff/internal/sweep_plan.h>
#include <hesscope/core/error.h>

namespace hesscope::detail {

double num_entries(const Graph& graph) {
  double entries = 0;
  for (const Graph::Node& node : graph.nodes()) entries += static_cast<double>(node.size());
  return entries;
}

namespace {

// Nodes through which a slope of the output or of the prediction passes. Excludes nodes used only
// by conditions: their adjoints of 0 would be multiplied by nonexistent slopes.
std::vector<bool> reached_nodes(const Graph& graph) {
  const auto nodes = graph.nodes();
  std::vector<bool> is_reached(nodes.size());
  for (const std::int32_t end : {graph.output(), graph.prediction()}) {
    if (end >= 0) is_reached[static_cast<std::size_t>(end)] = true;
  }
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!is_reached[i] || nodes[i].is_step()) continue;
    for (const std::int32_t operand : {nodes[i].a, nodes[i].b}) {
      if (operand >= 0) is_reached[static_cast<std::size_t>(operand)] = true;
    }
  }
  return is_reached;
}

}  // namespace

SweepPlan plan_sweep(const Graph& graph,
                     Eigen::Index first_seeded,
                     Eigen::Index end_seeded,
                     Eigen::Index first_needed,
                     Curvature curvature) {
  const bool is_hessian = curvature == Curvature::kHessian;
  if (!is_hessian && graph.prediction() < 0) {
    throw PreconditionError("Sweep: the Gauss-Newton matrix needs a graph with a prediction");
  }
  const auto nodes = graph.nodes();
  const auto prediction = static_cast<std::size_t>(graph.prediction());
  SweepPlan plan(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Graph::Node& node = nodes[i];
    if (node.op == Graph::Op::kParameter) {
      const Eigen::Index end = node.offset + node.size();
      plan[i].active = node.offset < end_seeded && end > first_seeded;
      plan[i].needed = end > first_needed;
    }
    plan[i].curved = is_hessian;
    for (const std::int32_t operand : {node.a, node.b}) {
      if (operand < 0) continue;
      const auto earlier = static_cast<std::size_t>(operand);
      if (plan[earlier].active) plan[i].active = true;
      if (plan[earlier].needed) plan[i].needed = true;
      if (plan[earlier].curved || earlier == prediction) plan[i].curved = true;
    }
    if (node.is_step()) plan[i].active = plan[i].needed = false;
  }
  const std::vector<bool> is_reached = reached_nodes(graph);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (is_reached[i] || nodes[i].op == Graph::Op::kParameter) continue;
    plan[i].active = plan[i].needed = false;
  }
  return plan;
}

SweepPlan plan_loss(const Graph& graph) {
  SweepPlan plan = plan_sweep(graph, 0, 0, 0, Curvature::kGaussNewton);
  for (NodePlan& node : plan) node.active = node.needed = node.curved;
  NodePlan& prediction = plan[static_cast<std::size_t>(graph.prediction())];
  prediction.active = prediction.needed = true;
  return plan;
}

void require_prediction(const Graph& graph) {
  if (graph.prediction() >= 0) return;
  throw PreconditionError("Sweep: predictions need a graph that declares its prediction");
}

}  // namespace hesscope::detail
