// SPDX-License-Identifier: BSD-3-Clause
#include "interrupt.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <system_error>

#include <semaphore.h>

#include "last_words.h"
#include "standard_streams.h"

namespace hesscope::cli {
namespace {

// A signal that comes sooner counts as the same request: `timeout` signals a process and then its
// group.
constexpr std::int64_t kEchoNanoseconds = 300'000'000;

// Written by a signal handler, which any thread may run, and read by other threads.
std::atomic<int> noted = 0;
std::atomic<std::int64_t> noted_at = 0;  // nanoseconds of the monotonic clock
static_assert(decltype(noted)::is_always_lock_free && decltype(noted_at)::is_always_lock_free);
sem_t arrived;  // posted when a signal arrives, and when there is no need to wait any more

extern "C" void note_signal(int signal) {
  timespec clock = {};
  clock_gettime(CLOCK_MONOTONIC, &clock);
  const std::int64_t now = std::int64_t{clock.tv_sec} * 1'000'000'000 + clock.tv_nsec;
  if (noted == 0) {
    noted_at = now;  // set first, because another signal's handler may run in between
    noted = signal;
    sem_post(&arrived);
    return;
  }
  if (now - noted_at < kEchoNanoseconds) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

ExitCode exit_code_of(int signal) {
  switch (signal) {
    case SIGHUP:
      return ExitCode::kHungUp;
    case SIGTERM:
      return ExitCode::kTerminated;
    default:
      return ExitCode::kInterrupted;
  }
}

}  // namespace

void ignore_size_limit_signal() { std::signal(SIGXFSZ, SIG_IGN); }

int caught_signal() { return noted; }

ExitCode report_interrupt(const Command& command) {
  write_message(fmt::format("hesscope {}: {}\n", command.name(), command.on_interrupt()));
  return command.has_lost_ranks() ? ExitCode::kKilled : exit_code_of(noted);
}

InterruptibleRun::InterruptibleRun(const Command& command) : command_(&command) {
  sem_init(&arrived, 0, 0);
  try {
    watcher_ = std::thread([this] { wait_for_signal(); });
  } catch (const std::system_error&) {
    // Without the thread, progress callbacks still check for signals.
  }
  std::signal(SIGINT, note_signal);
  std::signal(SIGTERM, note_signal);
  // If it is ignored, as under nohup, it stays ignored.
  if (std::signal(SIGHUP, note_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

InterruptibleRun::~InterruptibleRun() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  sem_post(&arrived);
  watcher_.join();
}

void InterruptibleRun::wait_for_signal() {
  while (sem_wait(&arrived) != 0) {  // interrupted by the signal itself
  }
  std::unique_lock lock(mutex_);
  if (noted == 0) return;
  stop_.request_stop();
  if (over_.wait_for(lock, command_->patience(), [this] { return is_over_; })) return;
  // Under the lock, so that the run cannot end meanwhile with its own message.
  ExitCode code = ExitCode::kFailed;
  try {
    clear_line();
    code = report_interrupt(*command_);
  } catch (const std::exception&) {
    code = exit_code_of(noted);  // its message is lost
  }
  take_back_last_words();
  std::_Exit(static_cast<int>(code));
}

}  // namespace hesscope::cli
