// SPDX-License-Identifier: BSD-3-Clause
//
// Compares progress reports with the processor time that has passed. As with cost_ratio, an outside
// disturbance may spoil one run of the work, but wrong progress is wrong every time.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/progress.h>
#include <hesscope/core/stopwatch.h>

#include "support/cost_ratio.h"
#include "support/maxima.h"

namespace hesscope::test {

struct ProgressShares {
  double deviation = kInfinity;  ///< largest difference of a fraction from the share of the time
  double silence = kInfinity;    ///< longest time without a report, as a share of the whole
  double last = 0;               ///< fraction
  std::size_t num_reports = 0;
};

/// For one run. @param work  called with a ProgressCallback. Fails if a fraction decreases or
/// exceeds 1.
template <typename Work>
ProgressShares progress_shares(Work work) {
  std::vector<std::pair<double, double>> reports;  // seconds, fraction
  const double start = processor_seconds();
  work([&](double fraction) {
    reports.emplace_back(processor_seconds() - start, fraction);
    return true;
  });
  const double total = processor_seconds() - start;
  ProgressShares shares{.deviation = 0, .silence = 0, .last = 0, .num_reports = reports.size()};
  double last_seconds = 0;
  for (const auto& [seconds, fraction] : reports) {
    EXPECT_GE(fraction, shares.last) << "goes back";
    EXPECT_LE(fraction, 1.0);
    shares.deviation = larger(shares.deviation, std::abs(fraction - seconds / total));
    shares.silence = larger(shares.silence, (seconds - last_seconds) / total);
    shares.last = fraction;
    last_seconds = seconds;
  }
  shares.silence = larger(shares.silence, 1 - last_seconds / total);
  return shares;
}

/// The first of several runs whose deviation and silence are below these limits, or the last.
/// @param prepare  returns the work of a run; its own time does not count.
template <typename Prepare>
ProgressShares progress_shares_of(double most_deviation, double most_silence, Prepare prepare) {
  ProgressShares shares;
  for (int attempt = 0; attempt < kCostAttempts; ++attempt) {
    shares = progress_shares(prepare());
    if (shares.deviation < most_deviation && shares.silence < most_silence) break;
  }
  return shares;
}

}  // namespace hesscope::test
