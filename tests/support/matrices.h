// SPDX-License-Identifier: BSD-3-Clause
//
// Matrices for tests, reproducible on every platform.
#pragma once

#include <cstdint>

#include <Eigen/Core>

namespace hesscope::test {

/// n x m, with entries uniform in [-1, 1). std::mt19937_64 is specified exactly, but the standard's
/// distributions are not, so the numbers are made from its bits.
Eigen::MatrixXd random_matrix(Eigen::Index n, Eigen::Index m, std::uint64_t seed);

Eigen::MatrixXd random_symmetric(Eigen::Index n, std::uint64_t seed);

/// n x n.
Eigen::MatrixXd random_orthogonal(Eigen::Index n, std::uint64_t seed);

/// Q diag(values) Q^T with a random orthogonal Q, symmetric bit by bit. Its eigenvalues are the
/// given ones up to a few eps max|values|.
Eigen::MatrixXd with_eigenvalues(const Eigen::VectorXd& values, std::uint64_t seed);

/// The 1-D Laplacian: 2 on the diagonal, -1 next to it.
Eigen::MatrixXd laplacian(Eigen::Index n);

}  // namespace hesscope::test
