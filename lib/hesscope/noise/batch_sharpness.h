// SPDX-License-Identifier: BSD-3-Clause
//
// The curvature that minibatch gradients experience. With g_B and H_B the gradient and the Hessian
// of a minibatch of b of the N samples, drawn without replacement, the batch sharpness is
//     E[g_B^T H_B g_B] / E|g_B|^2,
// both expectations over all (N choose b) minibatches.
//
// They follow exactly from moments of the samples' gradients g_i and Hessians H_i. With g and H
// their means over all samples, s_i = g_i - g and <.> the mean over i,
//     E[g_B^T H_B g_B] = g^T H g + c2 (2 <g^T H_i s_i> + <s_i^T H s_i>)
//                                + c3 (<s_i^T H_i s_i> - <s_i^T H s_i>)
//     E|g_B|^2         = |g|^2   + c2 <|s_i|^2>
//     c2 = (N - b) / (b (N - 1)),   c3 = c2 (N - 2 b) / (b (N - 2)), 0 for N = 2:
// This follows from g_B = g + d and H_B = H + D, where d and D are means of b of the s_i and of the
// H_i - H. Terms of first order in them vanish, and c2 and c3 are the ratios of the second and
// third central moments of such means to those of one sample.
#pragma once

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/status.h>
#include <hesscope/objective/objective.h>
#include <hesscope/spectra/operators.h>
#include <hesscope/statistics/statistic.h>

namespace hesscope {

/// The moments above, all divided by the same power of 4: squares of gradients of the size 1e-200
/// or 1e200 are out of the range of double, but their quotients are not.
struct BatchMoments {
  Status status = Status::kNotComputed;  ///< kOk or kNonFinite; without kOk there are no moments
  Eigen::Index num_samples = 0;          ///< N
  int exponent = 0;                      ///< the moments are divided by 4^exponent
  double gradient_square = kNaN;         ///< |g|^2
  double variance = kNaN;                ///< <|s_i|^2>
  double gradient_curvature = kNaN;      ///< g^T H g
  double noise_curvature = kNaN;         ///< <s_i^T H s_i>
  double cross_curvature = kNaN;         ///< <g^T H_i s_i>
  double own_curvature = kNaN;           ///< <s_i^T H_i s_i>
};

/// @param  hessian  H over all samples of `objective` at `theta`.
/// @throws PreconditionError if theta or the operator does not fit the objective. Interrupted if
///         the callback asks to stop.
/// @cost   a gradient, two passes of per-sample gradients, one of per_sample_hessian_times(), and H
///         applied to N + 1 columns: N n^2 multiplications with a matrix, N + 1 products otherwise.
///         Memory: three blocks of at most 4096 vectors of n numbers, each at most 32 MiB or 64
///         vectors, whichever is more.
BatchMoments batch_moments(const Objective& objective,
                           const Eigen::Ref<const Eigen::VectorXd>& theta,
                           const SymmetricOperator& hessian,
                           const ProgressCallback& progress = {});

/// E[g_B^T H_B g_B] / E|g_B|^2 for minibatches of `batch_size` samples. For all samples it is the
/// curvature along the gradient, g^T H g / |g|^2; for single samples, <g_i^T H_i g_i> / <|g_i|^2>.
/// @param  rounding  the |g_B| up to which gradients are rounding errors, whatever the samples'
///                   gradients are; for example at parameters that fit the samples.
/// @return undefined (zero denominator) if E|g_B|^2 is zero within rounding: at most 256 eps^2
///         times that of single samples, or rounding^2. If the status of the moments is not kOk, it
///         is returned.
/// @throws PreconditionError unless 1 <= batch_size <= N.
/// @source A. Andreyev & P. Beneventano (2024), Edge of stochastic stability, arXiv:2412.20553:
/// under stochastic gradient descent it hovers at 2 / learning_rate, while the sharpness is
/// smaller.
Statistic batch_sharpness(const BatchMoments& moments,
                          Eigen::Index batch_size,
                          double rounding = 0);

}  // namespace hesscope
