// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/analyzers/internal/jacobian_cost.h>

namespace hesscope::detail {

Analyzer::Cost jacobian_cost(const Objective& objective) {
  const auto n = static_cast<double>(objective.num_parameters());
  const auto samples = static_cast<double>(objective.num_samples());
  const auto entries = static_cast<double>(
      objective.predictions(Eigen::VectorXd::Zero(objective.num_parameters()), {0, 1}).rows());
  const double rows = entries * samples;
  return {.numbers = 3 * rows * n,
          .sample_gradients = entries + 1,
          .operations = 8 * rows * n * std::min(rows, n)};
}

}  // namespace hesscope::detail
