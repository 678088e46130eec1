// SPDX-License-Identifier: BSD-3-Clause
#include "generic_estimate.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <hesscope/autodiff/sweep.h>
#include <hesscope/core/internal/ceil_div.h>

#include "stopwatch.h"

namespace hesscope::bench {

double estimated_generic_seconds(const Problem& problem, int num_threads, InstructionSet set) {
  constexpr Eigen::Index kWidth = Sweep::kMaxDirections;
  constexpr Eigen::Index kNumMeasured = 24;
  constexpr Eigen::Index kNumSamples = 16;
  const Eigen::Index n = problem.theta.size();
  const Eigen::Index num_blocks = detail::ceil_div(n, kWidth);
  const Eigen::Index measured = std::min(kNumMeasured, num_blocks);
  const Records records{.data = problem.samples.data(),
                        .count = std::min(kNumSamples, problem.samples.rows()),
                        .stride = problem.samples.cols()};
  const std::unique_ptr<Sweep> sweep = Sweep::create(*problem.model.graph, set);
  double seconds = 0;
  for (Eigen::Index m = 0; m < measured; ++m) {
    // The middles of `measured` equal parts, because the cost falls from the first block to the
    // last.
    const Eigen::Index first = (2 * m + 1) * num_blocks / (2 * measured) * kWidth;
    const int width = static_cast<int>(std::min(kWidth, n - first));
    std::vector<double> columns(static_cast<std::size_t>((n - first) * width));
    seconds += seconds_per_call(0.002, [&] {
      sweep->hessian_columns(
          {problem.theta.data(), static_cast<std::size_t>(n)}, records, first, width, columns);
    });
  }
  const auto ratio = [](Eigen::Index all, Eigen::Index part) {
    return static_cast<double>(all) / static_cast<double>(part);
  };
  return seconds * ratio(num_blocks, measured) * ratio(problem.samples.rows(), records.count) /
         num_threads;
}

}  // namespace hesscope::bench
