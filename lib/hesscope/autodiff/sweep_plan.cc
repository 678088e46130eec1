// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/autodiff/sweep_plan.h>

namespace hesscope::detail {

SweepPlan plan_sweep(const Graph& graph,
                     Eigen::Index first_seeded,
                     Eigen::Index end_seeded,
                     Eigen::Index first_needed) {
  const auto nodes = graph.nodes();
  SweepPlan plan{std::vector<std::uint8_t>(nodes.size()), std::vector<std::uint8_t>(nodes.size())};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Graph::Node& node = nodes[i];
    if (node.op == Graph::Op::kParameter) {
      const Eigen::Index end = node.offset + node.size();
      plan.active[i] = node.offset < end_seeded && end > first_seeded;
      plan.needed[i] = end > first_needed;
    }
    for (const std::int32_t operand : {node.a, node.b}) {
      if (operand < 0) continue;
      plan.active[i] |= plan.active[static_cast<std::size_t>(operand)];
      plan.needed[i] |= plan.needed[static_cast<std::size_t>(operand)];
    }
  }
  return plan;
}

}  // namespace hesscope::detail
