// SPDX-License-Identifier: BSD-3-Clause
#include "progress_line.h"

#include <cmath>

#include <unistd.h>

#include <fmt/format.h>

#include "standard_streams.h"

namespace hesscope::cli {

ProgressLine::ProgressLine(bool quiet) : enabled_(!quiet && ::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const std::string& what,
                        std::size_t index,
                        std::size_t count,
                        double fraction) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (drawn_ && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  const double done = (static_cast<double>(index) + fraction) / static_cast<double>(count);
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const std::string left =
      done > 0.02 && elapsed > 0.5 ? duration_text(elapsed * (1 - done) / done) + " left" : "";
  write_message(fmt::format(
      "\r\033[K[{}/{}] {} {:3.0f} %  {}", index + 1, count, printable(what), 100 * done, left));
  drawn_ = true;
}

void ProgressLine::clear() {
  if (!drawn_) return;
  write_message("\r\033[K");
  drawn_ = false;
}

std::string duration_text(double seconds) {
  if (seconds < 1) return fmt::format("{:.1g} s", std::max(seconds, 0.001));
  const auto total = static_cast<long long>(std::llround(seconds));
  if (total < 60) return fmt::format("{} s", total);
  if (total < 3600) return fmt::format("{} min {} s", total / 60, total % 60);
  return fmt::format("{} h {} min", total / 3600, total % 3600 / 60);
}

}  // namespace hesscope::cli
