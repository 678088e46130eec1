// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/landscape/directions.h>

namespace hesscope {

/// `eigen:K1,K2`: unit eigenvectors of the Hessian at the centre. K counts from the largest
/// eigenvalue, 0; a negative one from the smallest, -1. The entry of largest magnitude is positive.
DirectionKind eigen_directions();

}  // namespace hesscope
