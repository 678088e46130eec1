// SPDX-License-Identifier: BSD-3-Clause
//
// How exact an assembled Hessian is, by a product with it that is computed another way.
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/core/executor.h>

namespace hesscope {

/// n entries +1 and -1, always the same.
Eigen::VectorXd sign_probe(Eigen::Index n);

/// |H v - product| for v = sign_probe(n) and the product of the Hessian with it: over random v the
/// mean of its square is that of ||H - the Hessian||_F, both with their rounding. Not finite where
/// the product is not.
/// @cost   n^2 multiply-adds, on one thread.
/// @source Hutchinson (1990), Commun. Stat. Simul. Comput. 19, 433-450.
double hessian_error(const Eigen::MatrixXd& hessian, const Eigen::VectorXd& product);

/// Whether hessian_error() of a symmetric matrix is at most `tolerance` ||hessian||_F; false where
/// either is not a number.
/// @cost  2 n^2 multiply-adds, on all threads.
bool has_small_error(const Eigen::MatrixXd& hessian,
                     const Eigen::VectorXd& product,
                     double tolerance,
                     const Executor& executor);

}  // namespace hesscope
