// SPDX-License-Identifier: BSD-3-Clause
//
// Gradient noise scales: the batch size beyond which more samples hardly help. With g the gradient
// and H the Hessian over all N samples and S the covariance of per-sample gradients,
//
//     simple   tr(S) / |g|^2,          hessian   tr(H S) / (g^T H g).
//
// Source: S. McCandlish, J. Kaplan, D. Amodei et al. (2018), arXiv:1812.06162, equations 2.8, 2.9.
// There g and H are those of the population. |g|^2 over N samples is larger in the mean by tr(S) /
// N, so the simple scale is underestimated unless it is far below N.
//
// Standard errors and biases are estimated by the delete-one-block jackknife over blocks of
// consecutive samples: g, S and H are all computed without the block, and divided by the weight of
// the remaining samples. See sampling_error.h for the assumptions.
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/noise/gradient_covariance.h>
#include <hesscope/objective/objective.h>
#include <hesscope/statistics/statistic.h>

namespace hesscope {

/// In samples; negative if the curvatures along the gradient and along the noise differ in sign.
struct NoiseScale {
  /// Undefined (zero denominator) if the denominator is zero within rounding: for both scales if
  /// |g| is at most 16 eps sqrt(tr S + |g|^2), for the second also if |g^T H g| is at most (n + 10)
  /// eps ||H||_F |g|^2.
  Statistic value;
  /// Estimate of E[value] minus the population's value; `value` is not corrected by it.
  Statistic bias;
  /// Also undefined if the denominator without one of the blocks is zero or has the other sign, and
  /// (too few points) if fewer than two samples are left without a block.
  Statistic standard_error;
};

struct NoiseScales {
  NoiseScale simple;
  NoiseScale hessian;  ///< not computed without H
};

struct NoiseScaleOptions {
  Eigen::Index num_blocks = 32;  ///< at least 2; at most N of them are used
  int num_threads = 0;           ///< as for Executor. Does not affect results.
};

/// The simple scale.
/// @param  covariance  that of `objective` at `theta`; without kOk, all results have its status.
/// @throws PreconditionError if theta or the covariance does not fit the objective, or an option is
///         out of its range. Interrupted if the callback asks to stop.
/// @cost   a pass of per-sample gradients; for each block that holds nearly all of tr S, of which
///         there are at most two, another pass over the other samples.
NoiseScales noise_scales(const Objective& objective,
                         const Eigen::Ref<const Eigen::VectorXd>& theta,
                         const GradientCovariance& covariance,
                         const NoiseScaleOptions& options = {},
                         const ProgressCallback& progress = {});

/// Both scales.
/// @param  covariance  with its matrix.
/// @param  hessian  that over all samples, n x n, both triangles. If it is not finite, the scale
///                  that uses it has the status kNonFinite.
/// @cost   also the Hessians of the blocks, which together are one over all samples, and N n^2
///         operations; the same again for a block that holds nearly all of tr S. Memory: two n x n
///         matrices, three with such a block, in addition to the arguments and the objective's
///         workspace.
NoiseScales noise_scales(const Objective& objective,
                         const Eigen::Ref<const Eigen::VectorXd>& theta,
                         const GradientCovariance& covariance,
                         const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                         const NoiseScaleOptions& options = {},
                         const ProgressCallback& progress = {});

}  // namespace hesscope
