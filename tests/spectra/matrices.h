// SPDX-License-Identifier: BSD-3-Clause
//
// Symmetric matrices for the tests of spectra, reproducible on every platform.
#pragma once

#include <cstdint>
#include <random>

#include <Eigen/Core>
#include <Eigen/QR>

namespace hesscope::test {

/// n x m, entries uniform in [-1, 1). std::mt19937_64 is specified exactly; the standard's
/// distributions are not, hence our own.
inline Eigen::MatrixXd random_matrix(Eigen::Index n, Eigen::Index m, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  return Eigen::MatrixXd::NullaryExpr(
      n, m, [&engine] { return static_cast<double>(engine() >> 11) * 0x1p-52 - 1.0; });
}

inline Eigen::MatrixXd random_symmetric(Eigen::Index n, std::uint64_t seed) {
  const Eigen::MatrixXd a = random_matrix(n, n, seed);
  return 0.5 * (a + a.transpose());
}

/// Q diag(values) Q^T with a random orthogonal Q, symmetric bit by bit. Its eigenvalues are the
/// given ones up to a few eps max|values|.
inline Eigen::MatrixXd with_eigenvalues(const Eigen::VectorXd& values, std::uint64_t seed) {
  const Eigen::Index n = values.size();
  const Eigen::MatrixXd q =
      Eigen::HouseholderQR<Eigen::MatrixXd>(random_matrix(n, n, seed)).householderQ();
  const Eigen::MatrixXd a = q * values.asDiagonal() * q.transpose();
  return 0.5 * (a + a.transpose());
}

/// The 1-D Laplacian: 2 on the diagonal, -1 beside it.
inline Eigen::MatrixXd laplacian(Eigen::Index n) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
  a.diagonal().setConstant(2.0);
  if (n > 1) {
    a.diagonal(1).setConstant(-1.0);
    a.diagonal(-1).setConstant(-1.0);
  }
  return a;
}

}  // namespace hesscope::test
