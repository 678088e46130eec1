// SPDX-License-Identifier: BSD-3-Clause
//
// Nodes of a graph that consist only of parameters, however reshaped, cut, joined and scaled.
#pragma once

#include <optional>
#include <vector>

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

/// A node whose entries are parameters, moved and scaled.
struct ParameterView {
  std::vector<int> theta;  ///< for each entry; -1 for a zero
  double factor = 1;       ///< of all entries
  std::vector<int> roots;  ///< the parameter nodes from which it is made
};

/// For each node, its representation as such a view; nothing if it has none or is not needed.
/// @param is_needed  for each node: whether the output depends on it.
/// @cost   linear in the entries of the views.
std::vector<std::optional<ParameterView>> parameter_views(const Graph& graph,
                                                          const std::vector<char>& is_needed);

}  // namespace hesscope::detail
