// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/structured/internal/graph/parameter_uses.h>
#include <hesscope/structured/internal/graph/sweep_graph.h>

namespace hesscope::detail {

/// Of each node, whether it is one of the slices that a row is split into: each takes a run of its
/// entries, together they take all, and nothing else takes any, as the gates of an LSTM are.
/// Tangents of such a part lie in those of the row, both ways, and need not be copied.
std::vector<char> find_split_parts(const SweepGraph& graph,
                                   const EntryNumbers& entries,
                                   const ParameterUses& uses);

/// Which entry of the row that it is a part of a slice begins at.
int first_of_part(const SweepGraph& graph, int slice);

}  // namespace hesscope::detail
