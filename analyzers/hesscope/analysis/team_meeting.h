// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/team.h>

namespace hesscope {

/// On the first rank of a team that never came to work, because what was asked for is there
/// already, or was refused: lets the others go, who wait to serve.
void decline(Team& team);

}  // namespace hesscope
