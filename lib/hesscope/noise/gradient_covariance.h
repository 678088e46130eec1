// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include <Eigen/Core>

#include <hesscope/core/status.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

struct GradientCovarianceOptions {
  bool with_matrix = true;  ///< whether S itself is wanted, or its trace alone
  int num_threads = 0;      ///< as of Executor. No result depends on it.
};

/// Mean and covariance of the N per-sample gradients s_i. Of a minibatch of B samples drawn with
/// replacement the gradient has the covariance (N - 1) / N S / B.
struct GradientCovariance {
  Status status = Status::kNotComputed;
  Eigen::Index num_samples = 0;
  Eigen::VectorXd mean;                                     ///< g, n, the gradient over all samples
  double trace = std::numeric_limits<double>::quiet_NaN();  ///< tr S
  Eigen::MatrixXd matrix;  ///< S, n x n, symmetric bit by bit; empty unless asked for
};

/// S = 1 / (N - 1) sum_i (s_i - g) (s_i - g)^T, streaming: per-sample gradients are held in blocks.
/// @return status kOk; kNonFinite if g or S are not finite; kUndefinedZeroDenominator for N = 1.
///         Without kOk there is no trace and no matrix.
/// @throws PreconditionError if theta does not fit the objective or an option is out of its range.
///         Interrupted if the callback says so.
/// @cost   a gradient and a pass of per-sample gradients; with the matrix N n^2 operations. Memory
///         S and a block of at most 4096 per-sample gradients.
GradientCovariance gradient_covariance(const Objective& objective,
                                       const Eigen::Ref<const Eigen::VectorXd>& theta,
                                       const GradientCovarianceOptions& options = {},
                                       const ProgressCallback& progress = {});

}  // namespace hesscope
