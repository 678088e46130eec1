// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/stopwatch.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

/// What objective.hessian(theta) will take.
struct HessianCost {
  double seconds;       ///< on the objective's threads
  double memory_bytes;  ///< at its peak: the matrix, the data and the workspaces
};

/// From a Hessian over some samples, or from the first part of one: seconds go with n^2 and with
/// the number of samples, or by whatever rule the objective's way to it has, as its progress tells.
/// Where the matrix would take more than half of the memory, from Hessian-vector products: then an
/// upper bound, which a StructuredHessian may undercut ten times and more.
/// @param clock     what seconds are meant.
/// @param patience  seconds: the more, the better the estimate.
/// @cost four times the patience and what comes before the first reports, or what 64 samples take
///       where the objective reports no progress.
HessianCost estimate_hessian_cost(const Objective& objective,
                                  const Objective::ConstVectorRef& theta,
                                  SecondsClock clock = wall_seconds,
                                  double patience = 0.25);

/// Seconds of objective.gauss_newton(theta), in the same way.
double estimate_gauss_newton_seconds(const Objective& objective,
                                     const Objective::ConstVectorRef& theta,
                                     SecondsClock clock = wall_seconds);

}  // namespace hesscope
