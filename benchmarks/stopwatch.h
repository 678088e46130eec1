// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace hesscope::bench {

/// Wall time since construction.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Seconds per call of `body`, called as often as fills about `min_seconds` and at least once.
template <typename Body>
double seconds_per_call(double min_seconds, const Body& body) {
  const Stopwatch stopwatch;
  int calls = 0;
  do {
    body();
    ++calls;
  } while (stopwatch.seconds() < min_seconds);
  return stopwatch.seconds() / calls;
}

}  // namespace hesscope::bench
