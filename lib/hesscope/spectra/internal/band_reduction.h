// SPDX-License-Identifier: BSD-3-Clause
//
// The reduction of a symmetric matrix A, n x n, to tridiagonal form in two stages: to a band matrix
// B, and from there to T. It performs the same operations as LAPACK's dsytrd_sy2sb and
// dsytrd_sb2st, but reports progress. A one-stage reduction does half of its work in products of A
// with single vectors, limited by memory bandwidth; the first of two stages does nearly all of it
// in matrix products.
#pragma once

#include <optional>

#include <Eigen/Core>

#include <hesscope/linalg/internal/lapack.h>

namespace hesscope::detail {

/// A band matrix with the eigenvalues of A, and the transformation of its eigenvectors to those of
/// A.
struct BandReduction {
  Eigen::Index bandwidth;  // b: entries (i, j) with |i - j| > b are zero
  Eigen::MatrixXd band;    // (b + 1) x n, entry (i, j) with i >= j at (i - j, j)
  Eigen::VectorXd tau;     // n - b, scales of the reflectors stored in the reduced matrix
};

/// B = Q^T A Q with b = 64 (dsytrd_sy2sb), for matrices with more than 64 rows; nearly all of the
/// work is in matrix products. Reads and overwrites `a` as tridiagonalize does. Progress is
/// reported panel by panel, in proportion to the operations.
BandReduction reduce_to_band(Eigen::MatrixXd& a, const ProgressCallback& progress = {});

/// T with the eigenvalues of B, by bulge chasing (dsytrd_sb2st). Progress is in proportion to the
/// operations.
Tridiagonal tridiagonalize(const BandReduction& reduction, const ProgressCallback& progress = {});

/// Unit eigenvector of B by inverse iteration (dgbtrf, dgbtrs) at an eigenvalue known to rounding,
/// or nothing if it did not work. @cost 4 n b^2 operations.
std::optional<Eigen::VectorXd> eigenvector(const BandReduction& reduction, double eigenvalue);

/// Q v (dormqr). `reduced` is the argument of reduce_to_band as it left it; restored as in the
/// other apply_q.
Eigen::VectorXd apply_q(Eigen::MatrixXd& reduced,
                        const BandReduction& reduction,
                        Eigen::VectorXd v);

}  // namespace hesscope::detail
