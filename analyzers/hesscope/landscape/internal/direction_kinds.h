// SPDX-License-Identifier: BSD-3-Clause
//
// The kinds of directions, each in the file with its name.
#pragma once

#include <hesscope/landscape/directions.h>

namespace hesscope {

/// `random`: independent normal numbers, scaled by the weights.
///
/// @source H. Li, Z. Xu, G. Taylor, C. Studer & T. Goldstein (2018), NeurIPS, section 4, the filter
///         normalisation. Differs: there, tensors of rank 1 are zero or the weights themselves.
DirectionKind random_directions();

/// `eigen:K1,K2`: unit eigenvectors of the Hessian at the centre. K = 0, 1, ... counts from the
/// largest eigenvalue, K = -1, -2, ... from the smallest. The entry with the largest magnitude is
/// positive.
DirectionKind eigen_directions();

/// `pca`: the first two right singular vectors of the matrix with the rows theta_t - theta_T, where
/// theta_T is the last checkpoint, as unit vectors; the entry with the largest magnitude is
/// positive. Rows are not centred: among all planes through theta_T, this one has the least sum of
/// squared distances to the checkpoints.
///
/// @source H. Li, Z. Xu, G. Taylor, C. Studer & T. Goldstein (2018), NeurIPS, section 7.2. Differs:
///         the published code subtracts the mean of the rows.
DirectionKind pca_directions();

/// `between`: from the first checkpoint, the centre, to the second at alpha = 1. A second direction
/// is drawn orthogonal to it and has the same norm.
DirectionKind between_directions();

/// `update:RULE`: the unit vector along the step that an optimiser without memory takes at the
/// centre: -g for gradient, -sign(g) for sign. A second direction is drawn orthogonal to it.
DirectionKind update_directions();

/// `tensors:NAME1,NAME2`: normal numbers inside one tensor each, zero elsewhere, scaled by the
/// weights there.
DirectionKind tensor_directions();

/// `file:PATH`: those of another landscape of the same model; or, from a file in any known tensor
/// format, arrays direction_1 and direction_2 of n numbers, or tensors direction_1.NAME and
/// direction_2.NAME for every parameter, or, for a line, tensors with the names of the parameters,
/// also under the checkpoints' key. NAME is a name in the checkpoints, or ours.
DirectionKind file_directions();

}  // namespace hesscope
