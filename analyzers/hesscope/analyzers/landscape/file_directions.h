// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/landscape/directions.h>

namespace hesscope {

/// `file:PATH`: as a file of any known tensor format has them: arrays direction_1 and direction_2
/// of n numbers; or tensors direction_1.NAME and direction_2.NAME for every parameter NAME; or, for
/// a line, tensors named as the parameters, also under the checkpoints' key.
DirectionKind file_directions();

}  // namespace hesscope
