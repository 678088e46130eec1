// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace hesscope::cli {

/// One line on stderr that says how far a run is and how long it still takes. Silent unless stderr
/// is a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);

  ~ProgressLine() { clear(); }

  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Step `index` of `count` is done by `fraction`. Redraws at most ten times a second.
  void show(const std::string& what, std::size_t index, std::size_t count, double fraction);

  /// Wipes the line, before anything else is printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = {};
};

/// "3 s", "2 min 10 s", "1 h 5 min".
std::string duration_text(double seconds);

}  // namespace hesscope::cli
