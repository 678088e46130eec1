// SPDX-License-Identifier: BSD-3-Clause
//
// Samples of known distributions, the same on every platform up to the last bits of libm.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

#include <Eigen/Core>

namespace hesscope::test {

/// Uniform in (0, 1).
inline Eigen::VectorXd uniform_sample(Eigen::Index n, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  return Eigen::VectorXd::NullaryExpr(
      n, [&engine] { return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53; });
}

/// Standard normal, by Box and Muller's transform.
inline Eigen::VectorXd normal_sample(Eigen::Index n, std::uint64_t seed) {
  const Eigen::VectorXd u = uniform_sample(2 * n, seed);
  return Eigen::VectorXd::NullaryExpr(n, [&u](Eigen::Index i) {
    return std::sqrt(-2.0 * std::log(u[2 * i])) * std::cos(2.0 * std::numbers::pi * u[2 * i + 1]);
  });
}

/// P(X > x) = x^-alpha for x >= 1.
inline Eigen::VectorXd pareto_sample(Eigen::Index n, double alpha, std::uint64_t seed) {
  return uniform_sample(n, seed).array().pow(-1.0 / alpha);
}

}  // namespace hesscope::test
