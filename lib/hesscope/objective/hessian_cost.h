// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/objective/objective.h>

namespace hesscope {

/// What objective.hessian(theta) will take.
struct HessianCost {
  double seconds;       ///< wall, on the objective's threads
  double memory_bytes;  ///< at its peak: the matrix, the data and the workspaces
};

/// Up to 2,000 parameters, times Hessians over a few samples and extrapolates to all; beyond, times
/// Hessian-vector products and extrapolates to the n / 2 that the full Hessian costs the generic
/// engine, which a StructuredHessian may undercut ten times and more. Otherwise within a factor of
/// about two.
/// @cost about 50 ms, or what 16 samples take; 8 Hessian-vector products over at most 1024 samples
/// for large models.
HessianCost estimate_hessian_cost(const Objective& objective,
                                  const Objective::ConstVectorRef& theta);

}  // namespace hesscope
