// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hesscope::cli {

/// Progress on stderr while a run computes: how far it is and how long it will still take. On a
/// terminal that can_redraw(), one line that is redrawn; elsewhere, as in the log of a batch job, a
/// new line every 30 seconds.
class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;

  /// Time between two lines that are not redrawn, and before the first.
  static constexpr std::chrono::seconds kPeriod{30};

  /// Where the progress is shown, and the clock.
  struct Console {
    bool is_terminal;  // that can_redraw()
    std::function<void(std::string_view)> write;
    std::function<Clock::time_point()> now;
  };

  /// On stderr. @param quiet  shows nothing.
  ProgressLine(const std::string& command, bool quiet);

  ProgressLine(std::string command, bool quiet, Console console);

  ~ProgressLine() { clear(); }

  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Step `index` of `count` is done by `fraction`. The time left is estimated from the time since
  /// the first call and the work since then: earlier work took no time of this run.
  void show(const std::string& what, std::size_t index, std::size_t count, double fraction);

  /// Wipes the line, before anything else is printed.
  void clear();

 private:
  std::string time_left(double done, double elapsed) const;

  std::string command_;
  bool enabled_;
  Console console_;
  bool drawn_ = false;
  std::optional<double> first_done_;
  Clock::time_point start_;
  Clock::time_point last_;
};

/// "3 s", "2 min 10 s", "1 h 5 min".
std::string duration_text(double seconds);

}  // namespace hesscope::cli
