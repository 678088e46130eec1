// SPDX-License-Identifier: BSD-3-Clause
#include "last_words.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include <sys/socket.h>
#include <unistd.h>

namespace hesscope::cli {
namespace {

// One end of a socket pair whose other end the child reads; -1 = there is no child.
std::atomic<int> to_child = -1;

// Whether the process at the other end has taken its words back, as opposed to having ended.
bool are_taken_back(int from_parent) {
  char said = 0;
  ssize_t count = 0;
  do {
    count = ::read(from_parent, &said, 1);
  } while (count < 0 && errno == EINTR);
  return count > 0;
}

// Runs in the child, a copy of a process with threads, so it may only call async-signal-safe
// functions.
[[noreturn]] void wait_and_speak(int from_parent, const std::string& text) {
  if (!are_taken_back(from_parent)) {
    std::size_t written = 0;
    while (written < text.size()) {
      const ssize_t count = ::write(STDERR_FILENO, text.data() + written, text.size() - written);
      if (count <= 0) break;
      written += static_cast<std::size_t>(count);
    }
  }
  ::_exit(0);
}

}  // namespace

void leave_last_words(const std::string& text) {
  std::array<int, 2> ends = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  // Launchers send signals to all processes that they have started: the child blocks them from the
  // start.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  const pid_t child = ::fork();
  if (child == 0) {
    // Readers that wait for the end of this process's output must not wait for the child.
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
    ::close(ends[1]);
    wait_and_speak(ends[0], text);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[0]);
  if (child < 0) {
    ::close(ends[1]);
  } else {
    to_child = ends[1];
  }
}

void take_back_last_words() noexcept {
  const int end = to_child.exchange(-1);
  if (end < 0) return;
  const char word = 0;
  // Without SIGPIPE, in case the child was killed.
  while (::send(end, &word, 1, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
  ::close(end);
}

}  // namespace hesscope::cli
