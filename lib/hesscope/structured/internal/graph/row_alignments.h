// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <hesscope/structured/internal/graph/entry_numbers.h>
#include <hesscope/structured/internal/graph/sweep_graph.h>

namespace hesscope::detail {

/// For each root: the length, in entries, of the runs of which its intervals consist. Runs are
/// whole rows of the shapes in which nodes that use or produce rows see them. Entrywise operations
/// accept any shape, so exporters flatten their operands.
/// @param kept  for each node, whether it is a part: a slice is either complete or empty, like the
///              node it is cut from.
std::vector<int> row_alignments(const SweepGraph& graph,
                                const EntryNumbers& entries,
                                std::span<const SweepNode> kept);

}  // namespace hesscope::detail
