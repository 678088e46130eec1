// SPDX-License-Identifier: BSD-3-Clause
//
// Transforms many eigenvectors of T to those of A = Q T Q^T, multithreaded.
#pragma once

#include <Eigen/Core>

#include <hesscope/core/executor.h>
#include <hesscope/core/progress.h>

namespace hesscope::detail {

/// Z <- Q Z, where the columns of Z are cut into panels of fixed width: the result is bit-identical
/// for any number of threads. Unlike dormtr, which could be called for each panel, this only reads
/// `reduced`.
/// @param  reduced, tau  what tridiagonalize left of its argument, and its result.
/// @param  z  n x k.
/// @cost   2 n^2 k operations. The caller must hold a SingleThreadedBlas.
void apply_q(const Eigen::MatrixXd& reduced,
             const Eigen::VectorXd& tau,
             Eigen::MatrixXd& z,
             const Executor& executor,
             const ProgressCallback& progress = {});

}  // namespace hesscope::detail
