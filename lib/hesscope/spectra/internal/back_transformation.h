// SPDX-License-Identifier: BSD-3-Clause
//
// The way from many eigenvectors of T to those of A = Q T Q^T, on threads.
#pragma once

#include <Eigen/Core>

#include <hesscope/core/executor.h>
#include <hesscope/core/progress.h>

namespace hesscope::detail {

/// Z <- Q Z, with the columns of Z cut into panels of fixed width: the same bits for any number of
/// threads. Unlike dormtr, which each panel could be given to, this only reads `reduced`.
/// @param  reduced, tau  what tridiagonalize left of its argument, and gave.
/// @param  z  n x k.
/// @cost   2 n^2 k operations. The caller holds a SingleThreadedBlas.
void apply_q(const Eigen::MatrixXd& reduced,
             const Eigen::VectorXd& tau,
             Eigen::MatrixXd& z,
             const Executor& executor,
             const ProgressCallback& progress = {});

}  // namespace hesscope::detail
