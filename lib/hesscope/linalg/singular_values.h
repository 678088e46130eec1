// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/eigen.h>
#include <hesscope/core/status.h>

namespace hesscope {

/// A = U diag(values) V^T.
struct SingularValues {
  Status status = Status::kNotComputed;
  Eigen::VectorXd values;  ///< descending; min(m, n) of them; empty without kOk
  Eigen::MatrixXd left;    ///< U, m x min(m, n), orthonormal columns
  Eigen::MatrixXd right;   ///< V, n x min(m, n), orthonormal columns
};

/// The thin singular value decomposition of an m x n matrix, by LAPACK's divide and conquer
/// (dgesdd).
/// @param  a  m, n >= 1.
/// @return status kOk; kNonFinite for a matrix with a NaN or an infinity; kFailed if the iteration
///         does not converge.
/// @throws PreconditionError if the matrix is empty or too large for LAPACK's integers: with 32
///         bits, min(m, n) is at most 23,169.
/// @cost   about 4 m n^2 + 9 n^3 operations for m >= n. OpenBLAS is limited to one thread,
///         process-wide, during the call.
SingularValues thin_svd(const Eigen::Ref<const Eigen::MatrixXd>& a);

/// The extreme singular values of A as a map onto its rows: the square roots of the extreme
/// eigenvalues of A A^T.
struct SingularEnds {
  Status status = Status::kNotComputed;
  double smallest = 0;  ///< 0 if A has more rows than columns, or if it is only rounding
  double largest = 0;
};

/// A smallest singular value of at most (max(m, n) + 10) eps times the largest is rounding, and is
/// returned as 0.
/// @return status and @throws as thin_svd().
/// @cost   about 4 m n^2 - 4/3 n^3 operations for m >= n, in one copy of A. OpenBLAS as for
///         thin_svd().
SingularEnds singular_ends(const Eigen::Ref<const Eigen::MatrixXd>& a);

}  // namespace hesscope
