// SPDX-License-Identifier: BSD-3-Clause
//
// Foreseen costs against real ones, by processor time, which other programs on the machine hardly
// change, and the median of several, which one disturbance does not. They do change it where they
// compete for caches and memory for long; a wrong forecast is wrong each time.
#pragma once

#include <algorithm>
#include <array>

#include <hesscope/core/stopwatch.h>

namespace hesscope::test {

/// What is foreseen may be off by this factor.
inline constexpr double kCostFactor = 1.5;

inline constexpr int kCostAttempts = 3;

/// Median of foreseen over real seconds: the first of some attempts that is within kCostFactor, or
/// the last. `foresee` returns seconds of processor_seconds, `work` is what they are of.
template <typename Foresee, typename Work>
double cost_ratio(Foresee foresee, Work work) {
  double median = 0;
  for (int attempt = 0; attempt < kCostAttempts; ++attempt) {
    std::array<double, 3> ratios;
    for (double& ratio : ratios) {
      const double foreseen = foresee();
      const double start = processor_seconds();
      work();
      ratio = foreseen / (processor_seconds() - start);
    }
    std::nth_element(ratios.begin(), ratios.begin() + 1, ratios.end());
    median = ratios[1];
    if (median > 1 / kCostFactor && median < kCostFactor) return median;
  }
  return median;
}

}  // namespace hesscope::test
