// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

/// For each node: whether all samples share its values.
inline std::vector<char> common_nodes(std::span<const Graph::Node> nodes) {
  std::vector<char> is_common;
  is_common.reserve(nodes.size());
  for (const Graph::Node& n : nodes) {
    const auto operands = n.operands();
    is_common.push_back(n.op != Graph::Op::kInput &&
                        std::ranges::all_of(operands, [&](std::int32_t operand) {
                          return operand < 0 || is_common[static_cast<std::size_t>(operand)] != 0;
                        }));
  }
  return is_common;
}

}  // namespace hesscope::detail
