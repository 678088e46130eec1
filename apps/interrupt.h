// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "command.h"

namespace hesscope::cli {

/// Makes exceeding a limit on file sizes an error of the write, instead of the end of the program.
void ignore_size_limit_signal();

/// The signal noted by an InterruptibleRun, or 0.
int caught_signal();

/// Says that the command was interrupted, and how to continue. @returns the exit code for that.
ExitCode report_interrupt(const Command& command);

/// While it lives, SIGINT, SIGTERM and, unless it is ignored, SIGHUP are noted and do not end the
/// program. The first signal also requests a stop through the token. A further signal within 0.3 s
/// of the first counts as the same one; a later one ends the program at once. If the run does not
/// stop within Command::patience(), because it is in a computation that cannot be stopped, the
/// process ends as if it were killed, but with the message and exit code of a run that stopped.
/// Finished work is kept in both cases.
class InterruptibleRun {
 public:
  /// `command` must outlive it. Only one may exist at a time.
  explicit InterruptibleRun(const Command& command);

  /// From now on, the program may print and end normally.
  ~InterruptibleRun();

  InterruptibleRun(const InterruptibleRun&) = delete;
  InterruptibleRun& operator=(const InterruptibleRun&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  void wait_for_signal();

  const Command* command_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread watcher_;
};

}  // namespace hesscope::cli
