// SPDX-License-Identifier: BSD-3-Clause
//
// Gradient noise scales: the batch size beyond which more samples hardly help. With g the gradient
// and H the Hessian over all N samples and S the covariance of per-sample gradients,
//
//     simple   tr(S) / |g|^2,          hessian   tr(H S) / (g^T H g).
//
// Source: S. McCandlish, J. Kaplan, D. Amodei et al. (2018), arXiv:1812.06162, equations 2.8, 2.9.
// There g and H are those of the population; |g|^2 over N samples is larger in the mean by tr(S) /
// N, so the simple scale comes out too small where it is not far below N.
//
// Standard errors and biases are those of the delete-one-block jackknife over blocks of consecutive
// samples, g, S and H all without the block, divided by what the other samples weigh; see
// sampling_error.h for what it takes for granted.
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/noise/gradient_covariance.h>
#include <hesscope/objective/objective.h>
#include <hesscope/statistics/statistic.h>

namespace hesscope {

/// In samples; negative where the curvature along the gradient and that of the noise differ in
/// sign.
struct NoiseScale {
  /// Undefined (zero denominator) where the denominator is zero within rounding: |g| at most 16 eps
  /// sqrt(tr S + |g|^2), of both scales, or |g^T H g| at most (n + 10) eps ||H||_F |g|^2.
  Statistic value;
  /// Estimate of E[value] - the population's, by which `value` is not corrected.
  Statistic bias;
  /// Undefined as well if the denominator without one of the blocks is zero or has the other sign,
  /// and (too few points) if no two samples are left without a block.
  Statistic standard_error;
};

struct NoiseScales {
  NoiseScale simple;
  NoiseScale hessian;  ///< not computed without H
};

struct NoiseScaleOptions {
  Eigen::Index num_blocks = 32;  ///< 2 or more, of which at most N are used
  int num_threads = 0;           ///< as of Executor. No result depends on it.
};

/// The simple scale.
/// @param  covariance  that of `objective` at `theta`; without kOk every number has its status.
/// @throws PreconditionError if theta or the covariance do not fit the objective, or an option is
///         out of its range. Interrupted if the callback says so.
/// @cost   a pass of per-sample gradients; for a block that holds nearly all of tr S, of which
///         there are two at most, another one, over the others alone.
NoiseScales noise_scales(const Objective& objective,
                         const Eigen::Ref<const Eigen::VectorXd>& theta,
                         const GradientCovariance& covariance,
                         const NoiseScaleOptions& options = {},
                         const ProgressCallback& progress = {});

/// Both scales.
/// @param  covariance  with its matrix.
/// @param  hessian  that over all samples, n x n, both triangles. If it is not finite the scale by
///                  it has the status kNonFinite.
/// @cost   also the Hessians of the blocks, in all one over all samples, and N n^2 operations; as
///         much again for a block that holds nearly all of tr S. Two n x n matrices besides the
///         arguments and the objective's workspace, three for such a block.
NoiseScales noise_scales(const Objective& objective,
                         const Eigen::Ref<const Eigen::VectorXd>& theta,
                         const GradientCovariance& covariance,
                         const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                         const NoiseScaleOptions& options = {},
                         const ProgressCallback& progress = {});

}  // namespace hesscope
