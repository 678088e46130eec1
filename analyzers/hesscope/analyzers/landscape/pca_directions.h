// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/landscape/directions.h>

namespace hesscope {

/// `pca`: the first two right singular vectors of the matrix whose rows are theta_t - theta_T,
/// theta_T being the last checkpoint, as unit vectors; the entry of largest magnitude is positive.
/// Rows are not centred: of all planes through theta_T this one leaves the checkpoints the least
/// sum of squared distances.
///
/// @source H. Li, Z. Xu, G. Taylor, C. Studer & T. Goldstein (2018), NeurIPS, section 7.2. Differs:
///         the code published with it subtracts the mean of the rows.
DirectionKind pca_directions();

}  // namespace hesscope
