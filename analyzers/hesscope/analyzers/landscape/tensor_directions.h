// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/landscape/directions.h>

namespace hesscope {

/// `tensors:NAME1,NAME2`: normal numbers inside one tensor each, zero elsewhere, scaled by the
/// weights there.
DirectionKind tensor_directions();

}  // namespace hesscope
