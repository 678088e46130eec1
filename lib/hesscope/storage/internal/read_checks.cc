// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <new>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/shape.h>
#include <hesscope/storage/internal/read_checks.h>

namespace hesscope::io {
namespace {

constexpr std::uint64_t kAlwaysAllowedBytes = 1 << 20;
constexpr std::uint64_t kLargeBytes = 16 << 20;

}  // namespace

std::size_t checked_num_elements(const std::string& where,
                                 std::span<const std::int64_t> shape,
                                 const ReadLimits& limits) {
  if (shape.size() > limits.max_rank) {
    throw InputError(fmt::format(
        "{}: has {} dimensions; at most {} are read", where, shape.size(), limits.max_rank));
  }
  const std::uint64_t most = limits.max_tensor_bytes / sizeof(double);
  std::uint64_t room = 1;
  bool is_empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw InputError(fmt::format("{}: has the negative extent {}", where, extent));
    is_empty = is_empty || extent == 0;
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 1));
    if (factor > most / room) {
      throw InputError(
          fmt::format("{}: shape {} is beyond the limit of {} bytes for one tensor (as float64)",
                      where,
                      shape_text(shape),
                      limits.max_tensor_bytes));
    }
    room *= factor;
  }
  return is_empty ? 0 : static_cast<std::size_t>(room);
}

void check_expansion(const std::string& where,
                     std::uint64_t decoded_bytes,
                     std::uint64_t stored_bytes,
                     const ReadLimits& limits) {
  if (decoded_bytes <= kAlwaysAllowedBytes) return;
  const std::uint64_t most = decoded_bytes <= kLargeBytes
                                 ? limits.max_expansion
                                 : std::min(limits.max_expansion, limits.max_large_expansion);
  const bool is_plausible = stored_bytes != 0 && (decoded_bytes - 1) / stored_bytes < most;
  if (!is_plausible) {
    throw InputError(
        fmt::format("{}: declares {} bytes but stores only {}; more than {} times is refused as a "
                    "decompression bomb (what is stored uncompressed is read)",
                    where,
                    decoded_bytes,
                    stored_bytes,
                    most));
  }
}

std::vector<double> allocate_elements(const std::string& where, std::size_t num_elements) {
  try {
    return std::vector<double>(num_elements);
  } catch (const std::bad_alloc&) {
    throw InputError(
        fmt::format("{}: not enough memory for {} elements as float64", where, num_elements));
  }
}

}  // namespace hesscope::io
