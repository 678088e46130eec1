// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/internal/random_numbers.h>

namespace hesscope::test {

/// The mean of x x^T over each of 32 blocks of Gaussian x with a diagonal covariance that has these
/// entries.
inline std::vector<Eigen::MatrixXd> blocks_of_covariance(const Eigen::VectorXd& variances,
                                                         Eigen::Index block_size,
                                                         std::uint64_t seed) {
  constexpr int kNumBlocks = 32;
  std::mt19937_64 engine(seed);
  std::vector<Eigen::MatrixXd> blocks;
  for (int b = 0; b < kNumBlocks; ++b) {
    const Eigen::MatrixXd x = variances.cwiseSqrt().asDiagonal() *
                              detail::standard_normal(variances.size(), block_size, engine);
    blocks.emplace_back(x * x.transpose() / static_cast<double>(block_size));
  }
  return blocks;
}

}  // namespace hesscope::test
