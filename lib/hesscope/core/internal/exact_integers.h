// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace hesscope::detail {

/// Doubles hold all whole numbers up to this magnitude, 2^53.
inline constexpr std::int64_t kLargestExactInteger = std::int64_t{1} << 53;

constexpr bool is_exact_double(std::int64_t x) {
  return x >= -kLargestExactInteger && x <= kLargestExactInteger;
}

}  // namespace hesscope::detail
