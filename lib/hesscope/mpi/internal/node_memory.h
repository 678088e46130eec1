// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/team.h>

namespace hesscope::detail {

/// A call of all ranks: checks that each node has the memory free that its ranks want to take
/// together.
/// @param bytes  for this rank.
/// @throws OutputError naming the node, what its ranks need and what it has, and a remedy.
void require_node_memory(Team& team, double bytes);

}  // namespace hesscope::detail
