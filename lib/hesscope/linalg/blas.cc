// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <hesscope/core/error.h>
#include <hesscope/core/memory.h>
#include <hesscope/linalg/blas.h>
#include <hesscope/linalg/internal/lapack.h>
#include <hesscope/simd/instruction_set.h>

#ifdef HESSCOPE_BLAS_IS_OPENBLAS
// Declared here because the cblas.h on the include path may belong to another BLAS.
extern "C" {
int openblas_get_num_threads(void);
void openblas_set_num_threads(int num_threads);
char* openblas_get_corename(void);
// OpenBLAS calls this before a fork to end its threads. Exported, but in none of its headers.
// NOLINTNEXTLINE(readability-identifier-naming): a name of Fortran
[[gnu::weak]] int blas_thread_shutdown_(void);
}
#endif

namespace hesscope::detail {
namespace {

#ifdef HESSCOPE_BLAS_IS_OPENBLAS
struct ThreadSetting {
  std::mutex mutex;
  int num_holders = 0;
  int threads_before = 0;  // meaningful while num_holders > 0
  bool has_addresses = false;
};

ThreadSetting& thread_setting() {
  static ThreadSetting setting;
  return setting;
}

// To be called with its mutex held, before the first holder.
void require_addresses(ThreadSetting& setting) {
  if (setting.has_addresses) return;
  constexpr double kBufferBytes = 32 << 22;
  constexpr double kOtherBytes = 256 << 20;
  const int num_own = openblas_get_num_threads();
  const int num_callers = tbb::this_task_arena::max_concurrency();
  const double needed = kBufferBytes * (num_own + num_callers) + kOtherBytes;
  const double limit = address_space_limit_bytes();
  if (needed > limit) {
    throw OutputError(
        fmt::format("linear algebra on {} threads needs {:.2g} GB of address space, and this "
                    "process may use {:.2g} GB; raise the limit (ulimit -v)",
                    num_callers,
                    needed / 1e9,
                    limit / 1e9));
  }
  setting.has_addresses = true;
}

// Only if it changes something: if OpenBLAS's threads have ended, as they do before a fork, this
// starts them again, and each of them spins for about 25 ms before it sleeps.
void set_blas_threads(int num_threads) {
  if (openblas_get_num_threads() != num_threads) openblas_set_num_threads(num_threads);
}
#endif

}  // namespace

#ifdef HESSCOPE_BLAS_IS_OPENBLAS
SingleThreadedBlas::SingleThreadedBlas() {
  ThreadSetting& setting = thread_setting();
  const std::lock_guard lock(setting.mutex);
  require_addresses(setting);
  if (setting.num_holders++ == 0) {
    setting.threads_before = openblas_get_num_threads();
    set_blas_threads(1);
  }
}

SingleThreadedBlas::~SingleThreadedBlas() {
  ThreadSetting& setting = thread_setting();
  const std::lock_guard lock(setting.mutex);
  if (--setting.num_holders == 0) set_blas_threads(setting.threads_before);
}
#else
SingleThreadedBlas::SingleThreadedBlas() = default;

SingleThreadedBlas::~SingleThreadedBlas() = default;
#endif

}  // namespace hesscope::detail

void hesscope::require_blas_addresses() {
#ifdef HESSCOPE_BLAS_IS_OPENBLAS
  detail::ThreadSetting& setting = detail::thread_setting();
  const std::lock_guard lock(setting.mutex);
  detail::require_addresses(setting);
#endif
}

void hesscope::use_one_blas_thread() {
#ifdef HESSCOPE_BLAS_IS_OPENBLAS
  detail::ThreadSetting& setting = detail::thread_setting();
  const std::lock_guard lock(setting.mutex);
  setting.threads_before = 1;
  detail::set_blas_threads(1);
  if (blas_thread_shutdown_ != nullptr) blas_thread_shutdown_();
#endif
}

std::string hesscope::outdated_blas_kernels() {
#ifdef HESSCOPE_BLAS_IS_OPENBLAS
  // OpenBLAS's names of x86-64 processors without AVX2.
  // clang-format off
  constexpr std::array<std::string_view, 16> kOutdated = {
      "Prescott", "Core2", "Penryn", "Dunnington", "Nehalem", "Athlon", "Opteron", "Opteron_SSE3",
      "Barcelona", "Bobcat", "Atom", "Nano", "Sandybridge", "Bulldozer", "Piledriver", "Steamroller"};
  // clang-format on
  const std::string_view kernels = openblas_get_corename();
  if (best_instruction_set() >= InstructionSet::kAvx2 &&
      std::ranges::find(kOutdated, kernels) != kOutdated.end()) {
    return std::string(kernels);
  }
#endif
  return "";
}
