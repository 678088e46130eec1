// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include <hesscope/core/printable.h>
#include <hesscope/storage/internal/byte_record.h>
#include <hesscope/storage/internal/read_checks.h>
#include <hesscope/tensors/internal/isolated_listing.h>

namespace hesscope::io {
namespace {

// Number of tensors; for each: name, type, rank, extents. Number of unreadable ones; for each:
// name, reason, whether it is text.

constexpr std::size_t kMaxReason = 500;

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

bool take_unreadable(ByteReader& bytes, UnreadableTensor& tensor) {
  std::uint64_t is_no_parameter = 0;
  if (!bytes.take(tensor.name) || !bytes.take(tensor.reason) || !bytes.take(is_no_parameter))
    return false;
  tensor.is_no_parameter = is_no_parameter == 1;
  return is_no_parameter <= 1 && is_printable_utf8(tensor.name) &&
         tensor.reason.size() <= kMaxReason && is_printable_utf8(tensor.reason);
}

}  // namespace

std::string encode_listing(std::span<const TensorInfo> tensors,
                           std::span<const UnreadableTensor> unreadable) {
  ByteWriter out;
  out.add(tensors.size());
  for (const TensorInfo& tensor : tensors) {
    out.add(tensor.name);
    out.add(static_cast<std::uint64_t>(tensor.type));
    out.add(tensor.shape.size());
    for (const std::int64_t extent : tensor.shape) out.add(static_cast<std::uint64_t>(extent));
  }
  out.add(unreadable.size());
  for (const UnreadableTensor& tensor : unreadable) {
    out.add(tensor.name);
    out.add(tensor.reason);
    out.add(std::uint64_t{tensor.is_no_parameter});
  }
  return out.take();
}

std::size_t max_listing_bytes(const ReadLimits& limits) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const std::size_t per_tensor =
      std::max(sizeof(std::uint64_t) * (3 + std::min(limits.max_rank, kMost)),
               sizeof(std::uint64_t) * 3 + kMaxReason);
  return std::min(limits.max_header_bytes, kMost) +
         std::min(limits.max_tensors, kMost / per_tensor) * per_tensor + 2 * sizeof(std::uint64_t);
}

std::optional<TensorListing> decode_listing(const std::string& where,
                                            std::string_view bytes,
                                            const ReadLimits& limits) {
  ByteReader rest(bytes);
  TensorListing listing;
  std::uint64_t count = 0;
  if (!rest.take(count) || count > limits.max_tensors) return std::nullopt;
  for (std::uint64_t i = 0; i < count; ++i) {
    TensorInfo tensor;
    if (!take_tensor(rest, limits, tensor)) return std::nullopt;
    checked_num_elements(fmt::format("{}: '{}'", where, tensor.name), tensor.shape, limits);
    listing.tensors.push_back(std::move(tensor));
  }
  std::uint64_t num_unreadable = 0;
  if (!rest.take(num_unreadable) || num_unreadable > limits.max_tensors - count) {
    return std::nullopt;
  }
  for (std::uint64_t i = 0; i < num_unreadable; ++i) {
    UnreadableTensor tensor;
    if (!take_unreadable(rest, tensor)) return std::nullopt;
    listing.unreadable.push_back(std::move(tensor));
  }
  if (!rest.is_at_end()) return std::nullopt;
  return listing;
}

}  // namespace hesscope::io
