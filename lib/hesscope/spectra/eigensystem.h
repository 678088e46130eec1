// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/status.h>

namespace hesscope {

struct EigensystemOptions {
  int num_threads = 0;  ///< for large matrices; as for Executor. Does not affect results.
};

/// All eigenvalues and eigenvectors of a symmetric matrix.
struct Eigensystem {
  Status status = Status::kNotComputed;
  Eigen::VectorXd eigenvalues;   ///< ascending; empty without kOk
  Eigen::MatrixXd eigenvectors;  ///< n x n, orthonormal columns in the order of the eigenvalues
  /// (n + 10) eps ||H||_2, as in Spectrum; 0 for n = 0.
  double rounding_band = kNaN;
};

/// All eigenvalues and eigenvectors of a symmetric matrix by LAPACK: Householder tridiagonalisation
/// (dsytrd), divide and conquer (dstedc), and the back-transformation, which uses threads if the
/// matrix is large enough. The matrix is first scaled by a power of two, as in dense_spectrum.
/// @param  hessian  n x n, n >= 0; symmetric as required by dense_spectrum().
/// @return status kOk; kNonFinite if the matrix has a NaN or an infinity, or if an eigenvalue is
///         beyond the range of double; kFailed if the iteration does not converge. Without kOk
///         nothing is reported. Residuals ||H v - lambda v||_2 and deviations of V^T V from I are
///         small multiples of eps ||H||_2 and of eps that grow with n at most linearly; the
///         directions within a cluster of eigenvalues are as arbitrary as they are mathematically.
/// @throws PreconditionError if the matrix is not square or so large that the size of LAPACK's
///         workspace overflows, at about 46,000 rows with 32-bit integers; if an option is out of
///         its range.
/// @cost   4/3 n^3 operations for T, at most as many for its eigenvectors, 2 n^3 for those of H;
///         three n x n matrices. Concurrent calls are safe. OpenBLAS is limited to one thread,
///         process-wide, during the call.
/// @source J. J. M. Cuppen (1981), Numer. Math. 36, 177-195; M. Gu & S. C. Eisenstat (1995),
///         SIAM J. Matrix Anal. Appl. 16, 172-191, the divide and conquer of dstedc.
Eigensystem dense_eigensystem(const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                              const EigensystemOptions& options = {},
                              const ProgressCallback& progress = {});

}  // namespace hesscope
