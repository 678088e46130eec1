// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <hesscope/core/eigen.h>

namespace hesscope {

/// A^-1 b by a Cholesky factorization (LAPACK's dposv).
/// @param  a  n x n, n >= 0, symmetric; its lower triangle is read.
/// @param  b  n entries.
/// @return nothing if A is not numerically positive definite, or has a NaN or an infinity.
/// @throws PreconditionError if A is not square, b has another size, or n exceeds LAPACK's
///         integers.
/// @cost   n^3 / 3 operations and a copy of A. OpenBLAS is limited to one thread, process-wide,
///         during the call.
std::optional<Eigen::VectorXd> solve_positive_definite(const Eigen::Ref<const Eigen::MatrixXd>& a,
                                                       const Eigen::Ref<const Eigen::VectorXd>& b);

}  // namespace hesscope
