// SPDX-License-Identifier: BSD-3-Clause
#include "progress_line.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "standard_streams.h"

namespace hesscope::cli {

ProgressLine::ProgressLine(const std::string& command, bool quiet)
    : ProgressLine(command,
                   quiet,
                   {.is_terminal = can_redraw(),
                    .write = [](std::string_view text) { write_message(text); },
                    .now = [] { return Clock::now(); }}) {}

ProgressLine::ProgressLine(std::string command, bool quiet, Console console)
    : command_(std::move(command)),
      enabled_(!quiet),
      console_(std::move(console)),
      start_(console_.now()),
      last_(start_) {}

std::string ProgressLine::time_left(double done, double elapsed) const {
  constexpr double kEnough = 0.01;  // of the work, for an estimate
  constexpr double kEnoughSeconds = 0.5;
  const double share = done - *first_done_;
  if (!(share > kEnough && elapsed > kEnoughSeconds)) return "";
  return duration_text(elapsed * (1 - done) / share) + " left";
}

void ProgressLine::show(const std::string& what,
                        std::size_t index,
                        std::size_t count,
                        double fraction) {
  if (!enabled_) return;
  constexpr std::chrono::milliseconds kRedraw(100);
  const Clock::time_point now = console_.now();
  const double done = (static_cast<double>(index) + fraction) / static_cast<double>(count);
  if (!first_done_) {
    first_done_ = done;
    start_ = now;
    if (!console_.is_terminal) last_ = now;
  }
  const bool is_due =
      console_.is_terminal ? !drawn_ || now - last_ >= kRedraw : now - last_ >= kPeriod;
  if (!is_due) return;
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const std::string text = fmt::format("[{}/{}] {} {:3.0f} %  {}",
                                       index + 1,
                                       count,
                                       printable(what),
                                       100 * done,
                                       time_left(done, elapsed));
  if (console_.is_terminal) {
    console_.write("\r\033[K" + text);
    drawn_ = true;
  } else {
    console_.write(fmt::format("hesscope {}: {}\n", command_, text));
  }
}

void ProgressLine::clear() {
  if (!drawn_) return;
  console_.write("\r\033[K");
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
