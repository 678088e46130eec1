// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/status.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

struct GradientCovarianceOptions {
  bool with_matrix = true;  ///< whether S itself is wanted, or only its trace
  int num_threads = 0;      ///< as for Executor. Does not affect results.
};

/// Mean and covariance of the N per-sample gradients s_i. The gradient of a minibatch of B samples
/// drawn with replacement has the covariance (N - 1) / N S / B.
///
/// Squares of gradients of the size 1e-200 or 1e200 are out of the range of double, but ratios of
/// such squares are not. S is therefore stored as 4^exponent `matrix`; the exponent is 0 as long as
/// tr S is between 2^-200 and 2^200 (1e-60 and 1e60).
struct GradientCovariance {
  Status status = Status::kNotComputed;
  Eigen::Index num_samples = 0;
  Eigen::VectorXd mean;    ///< g, n, the gradient over all samples
  double trace = kNaN;     ///< tr S / 4^exponent
  Eigen::MatrixXd matrix;  ///< S / 4^exponent, n x n, symmetric bit by bit; empty unless wanted
  int exponent = 0;
};

/// S = 1 / (N - 1) sum_i (s_i - g) (s_i - g)^T, streaming: per-sample gradients are held in blocks.
/// @return status kOk; kNonFinite if g or S are not finite; kUndefinedTooFewPoints for N = 1.
///         Without kOk there is no trace and no matrix.
/// @throws PreconditionError if theta does not fit the objective or an option is out of its range.
///         Interrupted if the callback asks to stop.
/// @cost   a gradient and a pass of per-sample gradients, two passes if the exponent is not 0; with
///         the matrix also N n^2 operations. Memory: S and a block of at most 4096 per-sample
///         gradients.
GradientCovariance gradient_covariance(const Objective& objective,
                                       const Eigen::Ref<const Eigen::VectorXd>& theta,
                                       const GradientCovarianceOptions& options = {},
                                       const ProgressCallback& progress = {});

/// Whether g is zero within rounding, so that ratios with it in the denominator are meaningless:
/// |g| is at most 16 eps sqrt(tr S + |g|^2). Without S, as for a single sample, whether g is
/// exactly zero.
bool is_gradient_zero(const GradientCovariance& covariance);

/// Whether S is zero within rounding, so that its shape is meaningless: tr S is at most (16 eps)^2
/// |g|^2. Meaningful only with status kOk.
bool is_noise_zero(const GradientCovariance& covariance);

/// The |g_B - g| up to which the mean gradient g_B over some of the samples equals g within
/// rounding: 16 eps sqrt(tr S + |g|^2), or 16 eps |g| without S.
double rounding_of_gradients(const GradientCovariance& covariance);

}  // namespace hesscope
