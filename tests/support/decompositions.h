// SPDX-License-Identifier: BSD-3-Clause
//
// Eigen's decompositions of matrices of doubles, the oracles for what the library computes by
// LAPACK. Compiled once, because each takes as long to compile as a whole file of tests.
#pragma once

#include <Eigen/Core>

namespace hesscope::test {

/// Eigenvalues ascending, and unit eigenvectors in columns.
struct Eigenpairs {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};

/// @param a  symmetric: only its lower triangle is read.
Eigenpairs eigenpairs(const Eigen::MatrixXd& a);

/// Eigenvalues of the same, ascending.
Eigen::VectorXd eigenvalues(const Eigen::MatrixXd& a);

/// lambda with a x = lambda b x, ascending. @param b  positive definite.
Eigen::VectorXd generalized_eigenvalues(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// a = U diag(values) V^T, values descending; U and V have as many columns as there are values.
struct SingularTriplets {
  Eigen::MatrixXd U;
  Eigen::VectorXd values;
  Eigen::MatrixXd V;
};

SingularTriplets singular_triplets(const Eigen::MatrixXd& a);

/// In descending order.
Eigen::VectorXd singular_values(const Eigen::MatrixXd& a);

/// The shortest x that minimises |a x - b|.
Eigen::VectorXd least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

/// x with a x = b. @param a  symmetric, definite or not, and regular.
Eigen::MatrixXd solve_symmetric(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// Whether Cholesky's factorization succeeds. @param a  symmetric.
bool is_positive_definite(const Eigen::MatrixXd& a);

}  // namespace hesscope::test
