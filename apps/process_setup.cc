// SPDX-License-Identifier: BSD-3-Clause
#include "process_setup.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>

#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include <hesscope/core/printable.h>

#include "command.h"
#include "standard_streams.h"

namespace hesscope::cli {
namespace {

// The deepest known uses, readers and decompositions of the BLAS, take some 100 KiB.
constexpr rlim_t kNeededStackBytes = rlim_t{1} << 20;
constexpr rlim_t kWantedStackBytes = rlim_t{8} << 20;

// Blocks of this size (the largest that can be set) and larger ones are mapped, and go back to the
// system when freed.
constexpr int kMappedBytes = 32 << 20;
constexpr int kKeptBytes = 1 << 30;

// Prepared in advance, because a signal handler can do little more than write.
std::string& missing_instruction_text() {
  static std::string text;
  return text;
}

extern "C" void report_missing_instruction(int) {
  const std::string& text = missing_instruction_text();
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) ::_exit(128 + SIGILL);
  ::_exit(static_cast<int>(ExitCode::kFailed));
}

}  // namespace

bool widen_stack() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kWantedStackBytes) return true;
  limit.rlim_cur = std::min(kWantedStackBytes, limit.rlim_max);
  if (limit.rlim_cur < kNeededStackBytes) {
    print_message("hesscope: the stack may have {} KiB (ulimit -s) and needs {}; raise the limit\n",
                  limit.rlim_cur >> 10,
                  kNeededStackBytes >> 10);
    return false;
  }
  ::setrlimit(RLIMIT_STACK, &limit);
  // For new threads. The C library still uses the limit that it read at its start.
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) == 0) {
    if (::pthread_attr_setstacksize(&attributes, limit.rlim_cur) == 0) {
      ::pthread_setattr_default_np(&attributes);
    }
    ::pthread_attr_destroy(&attributes);
  }
  return true;
}

void keep_freed_memory() {
  for (const char* const setting :
       {"GLIBC_TUNABLES", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"}) {
    if (std::getenv(setting) != nullptr) return;
  }
  ::mallopt(M_MMAP_THRESHOLD, kMappedBytes);
  ::mallopt(M_TRIM_THRESHOLD, kKeptBytes);
}

void report_missing_instructions() {
  const char* const core = std::getenv("OPENBLAS_CORETYPE");
  missing_instruction_text() =
      core != nullptr
          ? fmt::format(
                "hesscope: OPENBLAS_CORETYPE={} makes OpenBLAS use instructions that this "
                "processor does not have; unset it\n",
                escaped(core))
          : std::string(
                "hesscope: this processor lacks an instruction that the program, or a "
                "library it uses, was compiled for\n");
  std::signal(SIGILL, report_missing_instruction);
}

}  // namespace hesscope::cli
