// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/objective/objective.h>

namespace hesscope {

/// What objective.hessian(theta) will take.
struct HessianCost {
  double seconds;       ///< wall, on the objective's threads
  double memory_bytes;  ///< at its peak: the matrix, the data and the workspaces
};

/// Times Hessian-vector products on a part of the samples and extrapolates to the n / 2 the full
/// Hessian costs by symmetry. Within a factor of about two.
/// @cost 8 Hessian-vector products over at most 1024 samples.
HessianCost estimate_hessian_cost(const Objective& objective,
                                  const Objective::ConstVectorRef& theta);

}  // namespace hesscope
