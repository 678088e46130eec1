// SPDX-License-Identifier: BSD-3-Clause
//
// Entries of a graph's nodes have numbers of type int, as its indices do.
#pragma once

#include <algorithm>
#include <cstddef>

#include <hesscope/autodiff/graph.h>

namespace hesscope::detail {

inline std::size_t at(long i) { return static_cast<std::size_t>(i); }

inline int size_of(const Graph::Node& node) { return static_cast<int>(node.size()); }

}  // namespace hesscope::detail
