// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/team.h>

namespace hesscope {

/// On the first rank of a team that has nothing to compute, because the result already exists or
/// was refused: releases the other ranks, which wait to serve.
void decline(Team& team);

}  // namespace hesscope
