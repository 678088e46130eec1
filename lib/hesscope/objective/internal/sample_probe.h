// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <Eigen/Core>

#include <hesscope/core/stopwatch.h>
#include <hesscope/objective/objective.h>

namespace hesscope::detail {

/// Seconds of work that is in proportion to the samples, on all of them: from what it takes on ever
/// more until the clock can tell. @param work  called with a range of samples.
template <typename Work>
double seconds_on_all(const Objective& objective,
                      SecondsClock clock,
                      double enough_seconds,
                      Work work) {
  constexpr Eigen::Index kFew = 512;
  for (Eigen::Index count = kFew;; count *= 4) {
    const SampleRange some = {0, std::min(objective.num_samples(), count)};
    const double start = clock();
    work(some);
    const double seconds = clock() - start;
    if (seconds >= enough_seconds || some.size() == objective.num_samples()) {
      return seconds * static_cast<double>(objective.num_samples()) /
             static_cast<double>(some.size());
    }
  }
}

}  // namespace hesscope::detail
