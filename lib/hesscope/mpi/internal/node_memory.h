// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/team.h>

namespace hesscope::detail {

/// A call of all ranks: whether each node has free what its ranks want to take together.
/// @param bytes  of this rank.
/// @throws OutputError naming the node, what its ranks need and what it has, and what to do.
void require_node_memory(Team& team, double bytes);

}  // namespace hesscope::detail
