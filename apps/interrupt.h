// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "command.h"

namespace hesscope::cli {

/// A limit on the size of files is an error of the write that meets it, not the end of the program.
void ignore_size_limit_signal();

/// The signal noted by an InterruptibleRun, or 0.
int caught_signal();

/// Says that the command was interrupted, and how to continue. @returns the exit code of that.
ExitCode report_interrupt(const Command& command);

/// From its making on SIGINT, SIGTERM and, unless it is ignored, SIGHUP are noted instead of ending
/// the program; another one, of any of these, ends it at once, but for its echo in the first 0.3
/// seconds. While it lives, the first one also requests a stop
/// from what has the token. A run that does not heed that within Command::patience(), being in the
/// middle of something that nobody can stop, is ended as a kill would end it, with the words and
/// the exit code of one that did: what is finished is kept either way.
class InterruptibleRun {
 public:
  /// `command` must outlive it. One at a time.
  explicit InterruptibleRun(const Command& command);

  /// From now on the program may print and end as it likes.
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
