// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/landscape/directions.h>

namespace hesscope {

/// `random`: independent normal numbers, scaled by the weights.
///
/// @source H. Li, Z. Xu, G. Taylor, C. Studer & T. Goldstein (2018), NeurIPS, section 4, the filter
///         normalisation. Differs: there, tensors of rank 1 are zero or the weights themselves.
DirectionKind random_directions();

}  // namespace hesscope
