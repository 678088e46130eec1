// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace hesscope::detail {

/// Number of entries of a tensor of this shape, 1 for a scalar; nothing if an extent is negative or
/// the product of the nonzero extents overflows.
inline std::optional<std::int64_t> num_entries(std::span<const std::int64_t> shape) {
  std::int64_t product = 1;
  bool is_empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) is_empty = true;
    if (extent > 0 && __builtin_mul_overflow(product, extent, &product)) return std::nullopt;
  }
  return is_empty ? 0 : product;
}

}  // namespace hesscope::detail
