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
}

int caught_signal() { return noted; }

}  // namespace hesscope::cli
