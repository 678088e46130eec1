// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace hesscope::test {

/// Whether this program takes memory, and address space, of its own to watch over the rest.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMemoryIsInstrumented = true;
#elif defined(__has_feature)
inline constexpr bool kMemoryIsInstrumented =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kMemoryIsInstrumented = false;
#endif

}  // namespace hesscope::test
