// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/landscape/directions.h>

namespace hesscope {

/// `update:RULE`: the unit vector along the step that an optimiser without memory takes at the
/// centre: -g for gradient, -sign(g) for sign. A second direction is drawn orthogonal to it.
DirectionKind update_directions();

}  // namespace hesscope
