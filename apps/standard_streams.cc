// SPDX-License-Identifier: BSD-3-Clause
#include "standard_streams.h"

#include <cerrno>
#include <cstdio>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace hesscope::cli {
namespace {

bool is_silent = false;

}  // namespace

void silence() { is_silent = true; }

void reserve_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free descriptor is this one, since those below are open by now. The wrong way
    // round, so that a summary that nobody receives is an error, as on a full disk.
    const int mode = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", mode) < 0) return;
  }
}

void write_message(std::string_view text) noexcept {
  if (is_silent) return;
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void clear_line() noexcept {
  if (::isatty(STDERR_FILENO) == 1) write_message("\r\033[K");
}

void write_text(std::string_view text) {
  if (!is_silent) std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_usage_error(std::string_view command, std::string_view message) {
  const std::string name = fmt::format("hesscope{}{}", command.empty() ? "" : " ", command);
  print_message("{}: {}\nTry '{} --help'.\n", name, message, name);
}

}  // namespace hesscope::cli
