// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include <hesscope/core/huge_pages.h>
#include <hesscope/core/internal/ceil_div.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace hesscope {

void advise_huge_pages([[maybe_unused]] double* data, [[maybe_unused]] Eigen::Index size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // Only whole huge pages within the array, so that neighbouring memory is not affected.
  constexpr std::uintptr_t kHugePage = std::uintptr_t{1} << 21;
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t begin = detail::ceil_div(address, kHugePage) * kHugePage;
  const std::uintptr_t end =
      (address + static_cast<std::uintptr_t>(size) * sizeof(double)) / kHugePage * kHugePage;
  if (begin < end) {
    madvise(data + (begin - address) / sizeof(double), end - begin, MADV_HUGEPAGE);
  }
#endif
}

}  // namespace hesscope
