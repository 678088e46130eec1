// SPDX-License-Identifier: BSD-3-Clause
//
// Eigenvalues to 50 digits, the oracle of the tests of spectra.
#pragma once

#include <Eigen/Core>
#include <Eigen/Eigenvalues>

#include "support/multiprecision.h"

namespace hesscope::test {

using Matrix50 = Eigen::Matrix<Real50, Eigen::Dynamic, Eigen::Dynamic>;
using Vector50 = Eigen::Matrix<Real50, Eigen::Dynamic, 1>;

/// Of the symmetric matrix, ascending.
inline Vector50 eigenvalues_50(const Eigen::MatrixXd& h) {
  const Matrix50 wide = h.unaryExpr([](double entry) { return Real50(entry); });
  return Eigen::SelfAdjointEigenSolver<Matrix50>(wide, Eigen::EigenvaluesOnly).eigenvalues();
}

}  // namespace hesscope::test
