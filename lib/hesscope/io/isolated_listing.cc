// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include <hesscope/core/printable.h>
#include <hesscope/io/byte_record.h>
#include <hesscope/io/elements.h>
#include <hesscope/io/isolated_listing.h>

namespace hesscope::io {
namespace {

// Number of tensors; for each: name, type, rank, extents.

bool take_tensor(ByteReader& bytes, const ReadLimits& limits, TensorInfo& tensor) {
  std::uint64_t type = 0;
  std::uint64_t rank = 0;
  if (!bytes.take(tensor.name) || !bytes.take(type) || !bytes.take(rank) ||
      !is_printable_utf8(tensor.name) || type > static_cast<std::uint64_t>(ElementType::kFloat64) ||
      rank > limits.max_rank) {
    return false;
  }
  tensor.type = static_cast<ElementType>(type);
  for (std::uint64_t axis = 0; axis < rank; ++axis) {
    std::uint64_t extent = 0;
    if (!bytes.take(extent)) return false;
    tensor.shape.push_back(static_cast<std::int64_t>(extent));
  }
  return true;
}

}  // namespace

std::string encode_listing(std::span<const TensorInfo> tensors) {
  ByteWriter out;
  out.add(tensors.size());
  for (const TensorInfo& tensor : tensors) {
    out.add(tensor.name);
    out.add(static_cast<std::uint64_t>(tensor.type));
    out.add(tensor.shape.size());
    for (const std::int64_t extent : tensor.shape) out.add(static_cast<std::uint64_t>(extent));
  }
  return out.take();
}

std::size_t max_listing_bytes(const ReadLimits& limits) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const std::size_t per_tensor = sizeof(std::uint64_t) * (3 + std::min(limits.max_rank, kMost));
  return std::min(limits.max_header_bytes, kMost) +
         std::min(limits.max_tensors, kMost / per_tensor) * per_tensor + sizeof(std::uint64_t);
}

std::optional<std::vector<TensorInfo>> decode_listing(const std::string& where,
                                                      std::string_view bytes,
                                                      const ReadLimits& limits) {
  ByteReader rest(bytes);
  std::uint64_t count = 0;
  if (!rest.take(count) || count > limits.max_tensors) return std::nullopt;
  std::vector<TensorInfo> tensors;
  for (std::uint64_t i = 0; i < count; ++i) {
    TensorInfo tensor;
    if (!take_tensor(rest, limits, tensor)) return std::nullopt;
    checked_num_elements(fmt::format("{}: '{}'", where, tensor.name), tensor.shape, limits);
    tensors.push_back(std::move(tensor));
  }
  if (!rest.is_at_end()) return std::nullopt;
  return tensors;
}

}  // namespace hesscope::io
