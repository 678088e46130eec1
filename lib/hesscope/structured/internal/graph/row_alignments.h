// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <hesscope/structured/internal/graph/entry_numbers.h>
#include <hesscope/structured/internal/graph/sweep_graph.h>

namespace hesscope::detail {

/// Of each root, of how many entries the runs are that intervals of it are made of: whole rows of
/// the shapes in which what takes or makes rows sees them. What goes entry by entry takes any
/// shape, and so exporters flatten it.
/// @param kept  of each node, whether it is a part: a slice is whole or not there, as is what it is
///              of.
std::vector<int> row_alignments(const SweepGraph& graph,
                                const EntryNumbers& entries,
                                std::span<const SweepNode> kept);

}  // namespace hesscope::detail
