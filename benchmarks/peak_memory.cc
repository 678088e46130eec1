// SPDX-License-Identifier: BSD-3-Clause
#include "peak_memory.h"

#include <fstream>
#include <string>

#include <hesscope/core/constants.h>

namespace hesscope::bench {
namespace {

// A line "key: number kB" of /proc/self/status, in bytes.
double status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    double kib = 0;
    if (word == key + ":" && status >> kib) return 1024 * kib;
  }
  return kNaN;
}

}  // namespace

double peak_memory_over_baseline(const std::function<void()>& body) {
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak (VmHWM) falls to the current value
  const double before = status_bytes("VmRSS");
  body();
  return status_bytes("VmHWM") - before;
}

}  // namespace hesscope::bench
