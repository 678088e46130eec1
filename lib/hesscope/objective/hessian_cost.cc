// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>

#include <hesscope/objective/hessian_cost.h>

namespace hesscope {
namespace {

template <typename F>
double seconds_of(F work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Of a Hessian over all samples, from ever more of them until the clock can tell.
double by_hessians(const Objective& objective, const Objective::ConstVectorRef& theta) {
  constexpr double kEnoughSeconds = 0.02;
  for (Eigen::Index count = 16;; count *= 4) {
    const SampleRange probe{0, std::min(count, objective.num_samples())};
    const double seconds = seconds_of([&] { objective.hessian(theta, probe, {}); });
    if (seconds >= kEnoughSeconds || probe.size() == objective.num_samples()) {
      return seconds * static_cast<double>(objective.num_samples()) /
             static_cast<double>(probe.size());
    }
  }
}

double by_products(const Objective& objective, const Objective::ConstVectorRef& theta) {
  constexpr Eigen::Index kProbeSamples = 1024;
  constexpr Eigen::Index kProbeDirections = 8;
  const Eigen::Index n = objective.num_parameters();
  const SampleRange probe{0, std::min(kProbeSamples, objective.num_samples())};
  const Objective::Matrix directions = Objective::Matrix::Identity(n, kProbeDirections);
  const double seconds = seconds_of([&] { objective.hessian_times(theta, directions, probe); });
  return seconds * 0.5 * static_cast<double>(n) / kProbeDirections *
         static_cast<double>(objective.num_samples()) / static_cast<double>(probe.size());
}

}  // namespace

HessianCost estimate_hessian_cost(const Objective& objective,
                                  const Objective::ConstVectorRef& theta) {
  constexpr Eigen::Index kLargeModel = 2000;
  const auto n = static_cast<double>(objective.num_parameters());
  const double seconds = objective.num_parameters() <= kLargeModel ? by_hessians(objective, theta)
                                                                   : by_products(objective, theta);
  return {seconds, n * n * sizeof(double) + objective.workspace_bytes()};
}

}  // namespace hesscope
