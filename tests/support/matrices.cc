// SPDX-License-Identifier: BSD-3-Clause
#include "support/matrices.h"

#include <random>

#include <Eigen/QR>

namespace hesscope::test {

Eigen::MatrixXd random_matrix(Eigen::Index n, Eigen::Index m, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  return Eigen::MatrixXd::NullaryExpr(
      n, m, [&engine] { return static_cast<double>(engine() >> 11) * 0x1p-52 - 1.0; });
}

Eigen::MatrixXd random_symmetric(Eigen::Index n, std::uint64_t seed) {
  const Eigen::MatrixXd a = random_matrix(n, n, seed);
  return 0.5 * (a + a.transpose());
}

Eigen::MatrixXd random_orthogonal(Eigen::Index n, std::uint64_t seed) {
  return Eigen::HouseholderQR<Eigen::MatrixXd>(random_matrix(n, n, seed)).householderQ();
}

Eigen::MatrixXd with_eigenvalues(const Eigen::VectorXd& values, std::uint64_t seed) {
  const Eigen::MatrixXd q = random_orthogonal(values.size(), seed);
  const Eigen::MatrixXd a = q * values.asDiagonal() * q.transpose();
  return 0.5 * (a + a.transpose());
}

Eigen::MatrixXd laplacian(Eigen::Index n) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
  a.diagonal().setConstant(2.0);
  if (n > 1) {
    a.diagonal(1).setConstant(-1.0);
    a.diagonal(-1).setConstant(-1.0);
  }
  return a;
}

}  // namespace hesscope::test
