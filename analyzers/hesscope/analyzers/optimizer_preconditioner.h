// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <Eigen/Core>

#include <hesscope/objective/objective.h>
#include <hesscope/problem/adam_state.h>

namespace hesscope {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

/// The diagonal P that Adam divides its average of gradients by, corrections included:
///   P = (1 - beta1^t) (sqrt(v / (1 - beta2^t)) + epsilon)
/// for v after t updates; without t both corrections are 1. n positive numbers for epsilon > 0.
/// @source J. Cohen et al. (2022), Adaptive gradient methods at the edge of stability, arXiv
///         2207.14484: near the edge lambda_max(P^-1 H) hovers at (2 + 2 beta1) / ((1 - beta1)
///         eta).
Eigen::VectorXd adam_preconditioner(const AdamState& state, const AdamOptions& options);

/// What Adam's second moments settle at where the parameters stay at theta and every gradient is
/// that of `batch_size` samples drawn anew: v = g^2 + Var / batch_size entrywise, with the samples'
/// gradients' mean g and variance Var (n - 1 in the denominator). batch_size 0 means all samples,
/// v = g^2.
/// @cost one pass of per-sample gradients, in blocks.
AdamState stationary_adam_state(const Objective& objective,
                                const Eigen::VectorXd& theta,
                                const Eigen::VectorXd& gradient,
                                Eigen::Index batch_size);

}  // namespace hesscope
