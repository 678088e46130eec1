// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <hesscope/core/internal/norms.h>
#include <hesscope/core/internal/random_numbers.h>
#include <hesscope/objective/internal/nearby_point.h>

namespace hesscope::detail {
namespace {

double size_of(const Eigen::Ref<const Eigen::VectorXd>& values, double size_of_none) {
  constexpr double kNone = 1e-8;
  const double size = norm(values) / std::sqrt(static_cast<double>(values.size()));
  return size > kNone * size_of_none ? size : size_of_none;
}

}  // namespace

Eigen::VectorXd nearby_point(const Objective& objective,
                             const Eigen::VectorXd& theta,
                             double step,
                             std::mt19937_64& engine) {
  const double size_of_all = size_of(theta, 1.0);
  Eigen::VectorXd point = theta;
  for (const ParameterBlock& block : objective.parameter_blocks()) {
    if (block.size == 0) continue;
    auto values = point.segment(block.offset, block.size);
    const double size = size_of(values, size_of_all);
    for (double& x : values) x += step * size * normal_number(engine);
  }
  return point;
}

}  // namespace hesscope::detail
