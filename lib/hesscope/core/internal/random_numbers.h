// SPDX-License-Identifier: BSD-3-Clause
//
// Random numbers from an engine that are the same on all platforms; the distributions of the
// standard library differ between implementations.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>

#include <Eigen/Core>

namespace hesscope::detail {

/// Uniform in (0, 1], with 53 bits.
inline double uniform_number(std::mt19937_64& engine) {
  return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53;
}

/// Standard normal, by the Box-Muller transform.
inline double normal_number(std::mt19937_64& engine) {
  const double radius = std::sqrt(-2.0 * std::log(uniform_number(engine)));
  return radius * std::cos(2.0 * std::numbers::pi * uniform_number(engine));
}

/// n x k standard normal numbers.
inline Eigen::MatrixXd standard_normal(Eigen::Index n, Eigen::Index k, std::mt19937_64& engine) {
  return Eigen::MatrixXd::NullaryExpr(n, k, [&engine] { return normal_number(engine); });
}

/// Uniform in [0, count), count > 0: numbers beyond the last whole multiple of count are redrawn.
inline std::uint64_t random_index(std::mt19937_64& engine, std::uint64_t count) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t end = kLargest - kLargest % count;
  std::uint64_t number = engine();
  while (number >= end) number = engine();
  return number % count;
}

}  // namespace hesscope::detail
