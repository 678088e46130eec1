// SPDX-License-Identifier: BSD-3-Clause
#include "interrupt.h"

#include <csignal>

namespace hesscope::cli {
namespace {

volatile std::sig_atomic_t noted = 0;

extern "C" void note_signal(int signal) {
  noted = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, note_signal);
  std::signal(SIGTERM, note_signal);
  // Where it is ignored, as under nohup, it stays so.
  if (std::signal(SIGHUP, note_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

void ignore_size_limit_signal() { std::signal(SIGXFSZ, SIG_IGN); }

int caught_signal() { return noted; }

}  // namespace hesscope::cli
