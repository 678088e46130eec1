// SPDX-License-Identifier: BSD-3-Clause
//
// Nodes of a graph that are nothing but parameters, however reshaped, cut, set together and scaled.
#pragma once

#include <optional>
#include <vector>

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

/// A node whose entries are parameters, moved and scaled.
struct ParameterView {
  std::vector<int> theta;  ///< of each entry; -1 for a zero
  double factor = 1;       ///< of all entries
  std::vector<int> roots;  ///< the parameter nodes it is made of
};

/// Of each node what it is as such a view; nothing where it is none or not needed.
/// @param is_needed  of each node: whether the output depends on it.
/// @cost   linear in the entries of the views.
std::vector<std::optional<ParameterView>> parameter_views(const Graph& graph,
                                                          const std::vector<char>& is_needed);

}  // namespace hesscope::detail
