// SPDX-License-Identifier: BSD-3-Clause
#include "support/eigenvalues_50.h"

#include <Eigen/Eigenvalues>

namespace hesscope::test {

Vector50 eigenvalues_50(const Eigen::MatrixXd& h) {
  using Matrix50 = Eigen::Matrix<Real50, Eigen::Dynamic, Eigen::Dynamic>;
  const Matrix50 wide = h.unaryExpr([](double entry) { return Real50(entry); });
  return Eigen::SelfAdjointEigenSolver<Matrix50>(wide, Eigen::EigenvaluesOnly).eigenvalues();
}

}  // namespace hesscope::test
