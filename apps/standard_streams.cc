// SPDX-License-Identifier: BSD-3-Clause
#include "standard_streams.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace hesscope::cli {
namespace {

bool is_silent = false;

std::atomic<int> output_error = 0;  // errno of the first write that failed

// To be called at once, because other calls change errno.
void note_output_error() noexcept {
  int none = 0;
  output_error.compare_exchange_strong(none, errno);
}

void flush_output() noexcept {
  if (std::fflush(stdout) != 0) note_output_error();
}

}  // namespace

void silence() { is_silent = true; }

void reserve_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free descriptor is this one, since those below are open by now. It is opened in
    // the wrong mode, so that writing a summary that nobody receives is an error, as on a full
    // disk.
    const int mode = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", mode) < 0) return;
  }
}

void write_message(std::string_view text) noexcept {
  if (is_silent) return;
  flush_output();  // keeps the order if both go to the same place
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

bool can_redraw() noexcept {
  const char* const kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && (kind == nullptr || std::string_view(kind) != "dumb");
}

void clear_line() noexcept {
  if (can_redraw()) write_message("\r\033[K");
}

void write_text(std::string_view text) {
  if (is_silent) return;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) note_output_error();
}

int standard_output_error() noexcept {
  flush_output();
  const bool is_lost = output_error == 0 && std::ferror(stdout) != 0;
  return is_lost ? EIO : output_error.load();
}

void print_usage_error(std::string_view command, std::string_view message) {
  const std::string name = fmt::format("hesscope{}{}", command.empty() ? "" : " ", command);
  print_message("{}: {}\nTry '{} --help'.\n", name, message, name);
}

}  // namespace hesscope::cli
