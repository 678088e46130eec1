// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/landscape/directions.h>

namespace hesscope {

/// `between`: from the first checkpoint, the centre, to the second at alpha = 1. A second direction
/// is drawn orthogonal to it, of its norm.
DirectionKind between_directions();

}  // namespace hesscope
