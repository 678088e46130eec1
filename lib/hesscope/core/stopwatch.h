// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <ctime>

namespace hesscope {

/// Seconds since some fixed time in the past.
using SecondsClock = double (*)();

/// Wall-clock time.
inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Processor time of all threads of this process; other load on the machine hardly affects it.
inline double processor_seconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

/// Adds the wall-clock seconds of its lifetime to a total.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(&total), start_(Clock::now()) {}

  ~Stopwatch() { *total_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  double* total_;
  Clock::time_point start_;
};

}  // namespace hesscope
