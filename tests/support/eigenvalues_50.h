// SPDX-License-Identifier: BSD-3-Clause
//
// Eigenvalues to 50 digits, the oracle of the tests of spectra.
#pragma once

#include <Eigen/Core>

#include "support/multiprecision.h"

namespace hesscope::test {

using Vector50 = Eigen::Matrix<Real50, Eigen::Dynamic, 1>;

/// Eigenvalues of the symmetric matrix, ascending.
Vector50 eigenvalues_50(const Eigen::MatrixXd& h);

}  // namespace hesscope::test
