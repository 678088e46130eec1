// SPDX-License-Identifier: BSD-3-Clause
//
// Compares estimated costs with real ones. Processor time hardly depends on other programs on the
// machine, and a median is not affected by a single disturbance. Programs that compete for caches
// and memory for a long time do change them; but a wrong estimate is wrong every time.
#pragma once

#include <algorithm>
#include <array>

#include <hesscope/core/stopwatch.h>

namespace hesscope::test {

/// An estimate may be off by this factor.
inline constexpr double kCostFactor = 1.5;

inline constexpr int kCostAttempts = 3;

/// Median of estimated over real seconds: the first of several attempts within kCostFactor, or the
/// last. `foresee` returns processor_seconds, and `work` is the work that they estimate.
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
