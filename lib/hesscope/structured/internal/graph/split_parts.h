// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <hesscope/structured/internal/graph/parameter_uses.h>
#include <hesscope/structured/internal/graph/sweep_graph.h>

namespace hesscope::detail {

/// For each node, whether it is one of the slices into which a row is split: each takes a run of
/// its entries, together they take all, and nothing else uses any of them, as with the gates of an
/// LSTM. The tangents of such a part are stored within those of the row, in both directions, and
/// need not be copied.
std::vector<char> find_split_parts(const SweepGraph& graph,
                                   const EntryNumbers& entries,
                                   const ParameterUses& uses);

/// The entry of the row at which a slice that is part of it begins.
int first_of_part(const SweepGraph& graph, int slice);

}  // namespace hesscope::detail
