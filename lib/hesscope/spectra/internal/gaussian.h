// SPDX-License-Identifier: BSD-3-Clause
//
// Random directions.
#pragma once

#include <cmath>
#include <numbers>
#include <random>

#include <Eigen/Core>

namespace hesscope::detail {

/// n x k standard normal numbers, by Box and Muller's transform: the standard's distributions
/// differ between libraries.
inline Eigen::MatrixXd gaussian(Eigen::Index n, Eigen::Index k, std::mt19937_64& engine) {
  const auto uniform = [&engine] { return (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53; };
  return Eigen::MatrixXd::NullaryExpr(n, k, [&uniform] {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  });
}

}  // namespace hesscope::detail
