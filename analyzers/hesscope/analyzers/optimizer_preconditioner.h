// SPDX-License-Identifier: BSD-3-Clause
//
// What the optimiser of a checkpoint divides gradients by, and how its updates continue.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <hesscope/analyzers/linear_step.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/parameter_block.h>
#include <hesscope/objective/objective.h>
#include <hesscope/problem/optimizer_state.h>

namespace hesscope {

/// PyTorch's defaults.
inline constexpr double kDefaultBeta1 = 0.9;
inline constexpr double kDefaultBeta2 = 0.999;
inline constexpr double kDefaultEpsilon = 1e-8;

/// SGD's update with these settings. @return a plain step if there is no momentum.
LinearStep sgd_step(const OptimizerSettings& settings, const GivenSettings& given);

struct Preconditioner {
  /// P: n numbers > 0; infinity for parameters that the optimiser leaves as they are.
  Eigen::VectorXd diagonal = {};
  /// The largest learning rate of the groups. If a group has a smaller one, its part of P is larger
  /// by the quotient. Nothing if it is not known.
  std::optional<double> learning_rate = {};
  /// The update with P; nothing if it is not the same for all parameters.
  std::optional<LinearStep> step = {};
  std::string obstacle = {};  ///< why there is no step
};

/// P of the last update, corrections included, with v = state.second_moments after t updates:
///   SGD      1
///   Adam     (1 - beta1^t) (sqrt(v / (1 - beta2^t)) + epsilon); AMSGrad with its maximum for v
///   RAdam    (1 - beta1^t) (sqrt(v) + epsilon) / (r sqrt(1 - beta2^t)); 1 - beta1^t while it does
///            not adapt
///   NAdam    sqrt(v / (1 - beta2^t)) + epsilon
///   Adamax   (1 - beta1^t) v
///   RMSprop  sqrt(v) + epsilon, sqrt(v - m^2) + epsilon if centered
///   Adagrad  (sqrt(v) + epsilon) (1 + (t - 1) learning_rate_decay)
/// If t is not known, corrections are 1. Each group has settings of its own.
/// @param state   with second moments, except for SGD, and assigned to `blocks`.
/// @source torch/optim of PyTorch 1.13. J. Cohen et al. (2022), Adaptive gradient methods at the
///         edge of stability, arXiv 2207.14484: near the edge lambda_max(P^-1 H) of Adam hovers at
///         (2 + 2 beta1) / ((1 - beta1) learning_rate).
Preconditioner optimizer_preconditioner(const OptimizerState& state,
                                        const GivenSettings& given,
                                        std::span<const ParameterBlock> blocks);

/// The values at which Adam's second moments settle if the parameters stay at theta and every
/// gradient is that of `batch_size` newly drawn samples: v = g^2 + Var / batch_size entrywise,
/// where g is the mean and Var the variance (with n - 1 in the denominator) of the samples'
/// gradients. batch_size 0 means all samples, v = g^2.
/// @cost one pass of per-sample gradients, in blocks.
Eigen::VectorXd stationary_second_moments(const Objective& objective,
                                          const Eigen::VectorXd& theta,
                                          const Eigen::VectorXd& gradient,
                                          Eigen::Index batch_size);

}  // namespace hesscope
