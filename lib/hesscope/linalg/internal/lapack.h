// SPDX-License-Identifier: BSD-3-Clause
//
// A typed interface to the LAPACK and BLAS routines that the solvers here use. Only sources that
// include lapack_call.h see lapacke.h, whose C complex macros clash with C++.
//
// Notation: A is n x n symmetric, Q orthogonal, T = Q^T A Q symmetric tridiagonal. Ranks count from
// 0.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/progress.h>

namespace hesscope::detail {

/// Limits the BLAS to one thread while at least one such object lives, and then restores its thread
/// count: the order of its sums depends on the number of threads. The setting belongs to the
/// process, so the objects are counted; any number of threads may hold one. Affects OpenBLAS only.
/// @throws OutputError as require_blas_addresses().
class SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  ~SingleThreadedBlas();
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;
};

/// The largest n for which LAPACK's integers can hold the workspace sizes.
Eigen::Index max_lapack_dimension();

struct Tridiagonal {
  Eigen::VectorXd diagonal;      // n
  Eigen::VectorXd off_diagonal;  // n - 1
};

struct Reduction {
  Tridiagonal t;
  Eigen::VectorXd tau;  // n - 1, scales of the reflectors stored in the reduced matrix
};

/// T and Q of the matrix with the lower triangle of `a` (dsytrd). On return the triangle below the
/// diagonal of `a` holds the reflectors; the diagonal is overwritten but not needed by apply_q. The
/// strict upper triangle is neither read nor written. Progress is reported panel by panel, in
/// proportion to the operations.
Reduction tridiagonalize(Eigen::MatrixXd& a, const ProgressCallback& progress = {});

/// All eigenvalues, ascending (dsterf), or nothing if the QR iteration did not converge.
std::optional<Eigen::VectorXd> eigenvalues(Tridiagonal t);

/// Unit eigenvector of the eigenvalue of this rank by bisection and inverse iteration (dstebz,
/// dstein), or nothing if either failed.
std::optional<Eigen::VectorXd> eigenvector(const Tridiagonal& t, Eigen::Index rank);

/// Q v (dormtr). `reduced` is the argument of tridiagonalize as it left it; LAPACK writes to it
/// temporarily and restores it.
Eigen::VectorXd apply_q(Eigen::MatrixXd& reduced, const Eigen::VectorXd& tau, Eigen::VectorXd v);

struct EigenDecomposition {
  Eigen::VectorXd values;   // n, ascending
  Eigen::MatrixXd vectors;  // n x n, orthonormal columns
};

/// All eigenvalues and eigenvectors of the matrix with the lower triangle of `a` (dsyevd), or
/// nothing if the iteration did not converge.
std::optional<EigenDecomposition> eigensystem(Eigen::MatrixXd a);

/// The same for T, by divide and conquer (dstedc).
std::optional<EigenDecomposition> eigensystem(Tridiagonal t);

/// The largest n that dstedc's workspace of n^2 + 4 n + 1 numbers allows.
Eigen::Index max_eigensystem_dimension();

/// A^-1 b for the matrix with the lower triangle of `a` (dposv), or nothing if it is not positive
/// definite.
std::optional<Eigen::VectorXd> solve_positive_definite(Eigen::MatrixXd a, Eigen::VectorXd b);

struct ThinSvd {
  Eigen::VectorXd values;            // descending, min(m, n)
  Eigen::MatrixXd left;              // m x min(m, n)
  Eigen::MatrixXd right_transposed;  // min(m, n) x n
};

/// The largest min(m, n) that dgesdd's workspace of 4 min(m, n)^2 + 7 min(m, n) numbers allows.
Eigen::Index max_svd_rank();

/// The singular values of an m x n matrix without NaN or infinity, descending (dgesdd), or nothing
/// if the iteration did not converge.
std::optional<Eigen::VectorXd> singular_values(Eigen::MatrixXd a);

/// A = U diag(values) V^T for an m x n matrix without NaN or infinity (dgesdd), or nothing if the
/// iteration did not converge.
std::optional<ThinSvd> thin_svd(Eigen::MatrixXd a);

/// A P = Q R for an m x n matrix, where columns are permuted so that |r_kk| descend.
struct PivotedQr {
  Eigen::MatrixXd factors;          // m x n: R in the upper triangle, reflectors of Q below it
  Eigen::VectorXd tau;              // min(m, n), scales of the reflectors
  std::vector<Eigen::Index> order;  // n: column k of A P is column order[k] of A
};

/// For a matrix without NaN or infinity (dgeqp3).
PivotedQr pivoted_qr(Eigen::MatrixXd a);

/// Q_r X, where Q_r is the product of the first r reflectors and X has m rows (dormqr). The first r
/// columns of Q_r are those of Q. LAPACK writes to the factors temporarily and restores them.
Eigen::MatrixXd apply_q(PivotedQr& qr, Eigen::Index r, Eigen::MatrixXd x);

/// R^-1 B and B R^-1 for the upper triangle R of a square matrix, not singular (dtrsm).
Eigen::MatrixXd solve_upper(const Eigen::Ref<const Eigen::MatrixXd>& r, Eigen::MatrixXd b);
Eigen::MatrixXd divide_by_upper(Eigen::MatrixXd b, const Eigen::Ref<const Eigen::MatrixXd>& r);

/// A = P L D L^T P^T with a permutation P, L unit lower triangular, and D block diagonal with
/// blocks of 1 and 2 rows.
struct Ldlt {
  Eigen::MatrixXd factors;           // lower triangle: L and D as dsytrf packs them
  std::vector<std::int64_t> pivots;  // as from dsytrf; two equal negative ones mark a 2 x 2 block
  bool is_singular = false;          // a block of D is exactly zero
};

/// By Bunch-Kaufman diagonal pivoting (dsytrf); reads the lower triangle of `a`. Progress is
/// reported as by tridiagonalize.
Ldlt factor_ldlt(Eigen::MatrixXd a, const ProgressCallback& progress = {});

/// A^-1 b (dsytrs). Requires !is_singular.
Eigen::VectorXd solve(const Ldlt& ldlt, const Eigen::Ref<const Eigen::VectorXd>& b);

/// A V (dsymv, dsymm); reads the lower triangle of `a`, n x n.
Eigen::MatrixXd symmetric_times(const Eigen::Ref<const Eigen::MatrixXd>& a,
                                const Eigen::Ref<const Eigen::MatrixXd>& v);

}  // namespace hesscope::detail
