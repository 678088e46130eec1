// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/objective/objective.h>

#include "support/quadratic_objective.h"

namespace hesscope::test {

/// Entries uniform in [-1, 1).
inline Eigen::MatrixXd uniform(Eigen::Index rows, Eigen::Index cols, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  return Eigen::MatrixXd::NullaryExpr(
      rows, cols, [&engine] { return static_cast<double>(engine() >> 11) * 0x1p-52 - 1.0; });
}

/// f(x) = c + b^T x + x^T A x / 2 with an indefinite A, of one sample, whose 24 parameters are a
/// matrix of 3 x 4, a vector of 3, a scalar and a tensor of 2 x 2 x 2.
class IndefiniteQuadratic final : public QuadraticObjective {
 public:
  static constexpr Eigen::Index kSize = 24;

  const double c = 0.75;
  const Eigen::VectorXd b = uniform(kSize, 1, 1);
  const Eigen::MatrixXd A = random_matrix();

  IndefiniteQuadratic()
      : QuadraticObjective({random_matrix()},
                           uniform(kSize, 1, 1),
                           0.75,
                           {{"weight", {3, 4}, 0, 12},
                            {"bias", {3}, 12, 3},
                            {"scale", {}, 15, 1},
                            {"cube", {2, 2, 2}, 16, 8}}) {}

 private:
  static Eigen::MatrixXd random_matrix() {
    const Eigen::MatrixXd half = uniform(kSize, kSize, 2);
    return half + half.transpose();
  }
};

}  // namespace hesscope::test
