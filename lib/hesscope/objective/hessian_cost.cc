// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>

#include <hesscope/objective/hessian_cost.h>

namespace hesscope {

HessianCost estimate_hessian_cost(const Objective& objective,
                                  const Objective::ConstVectorRef& theta) {
  constexpr Eigen::Index kProbeSamples = 1024;
  constexpr Eigen::Index kProbeDirections = 8;
  const Eigen::Index n = objective.num_parameters();
  const SampleRange probe{0, std::min(kProbeSamples, objective.num_samples())};
  const Objective::Matrix directions =
      Objective::Matrix::Identity(n, std::min(n, kProbeDirections));

  const auto start = std::chrono::steady_clock::now();
  objective.hessian_times(theta, directions, probe);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  const double dimension = static_cast<double>(n);
  const double products = std::max(1.0, 0.5 * dimension / static_cast<double>(directions.cols()));
  const double parts =
      static_cast<double>(objective.num_samples()) / static_cast<double>(probe.size());
  return {seconds * products * parts,
          dimension * dimension * sizeof(double) + objective.workspace_bytes()};
}

}  // namespace hesscope
