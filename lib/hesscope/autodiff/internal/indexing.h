// SPDX-License-Identifier: BSD-3-Clause
//
// The numbers of a graph's entries have type int, like its indices.
#pragma once

#include <algorithm>
#include <cstddef>

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

inline std::size_t at(long i) { return static_cast<std::size_t>(i); }

inline int size_of(const Graph::Node& node) { return static_cast<int>(node.size()); }

}  // namespace hesscope::detail
