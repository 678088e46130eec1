// SPDX-License-Identifier: BSD-3-Clause
#include "support/decompositions.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace hesscope::test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

Eigenpairs eigenpairs(const MatrixXd& a) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

VectorXd eigenvalues(const MatrixXd& a) {
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(a, Eigen::EigenvaluesOnly).eigenvalues();
}

VectorXd generalized_eigenvalues(const MatrixXd& a, const MatrixXd& b) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd>(a, b, Eigen::EigenvaluesOnly)
      .eigenvalues();
}

SingularTriplets singular_triplets(const MatrixXd& a) {
  const Eigen::JacobiSVD<MatrixXd> svd(a, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

VectorXd singular_values(const MatrixXd& a) {
  return Eigen::JacobiSVD<MatrixXd>(a).singularValues();
}

VectorXd least_squares(const MatrixXd& a, const VectorXd& b) {
  return a.completeOrthogonalDecomposition().solve(b);
}

MatrixXd solve_symmetric(const MatrixXd& a, const MatrixXd& b) { return a.fullPivLu().solve(b); }

bool is_positive_definite(const MatrixXd& a) {
  return Eigen::LLT<MatrixXd>(a).info() == Eigen::Success;
}

}  // namespace hesscope::test
