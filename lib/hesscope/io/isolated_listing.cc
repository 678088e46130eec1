// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include <hesscope/io/elements.h>
#include <hesscope/io/isolated_listing.h>

namespace hesscope::io {
namespace {

// Numbers are 64-bit, in the order of this machine's bytes:
//   number of tensors; for each: bytes of its name, the name, type, rank, extents.

void append(std::string& out, std::uint64_t number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

class Bytes {
 public:
  explicit Bytes(std::string_view rest) : rest_(rest) {}

  bool is_at_end() const { return rest_.empty(); }

  bool take(std::uint64_t& number) {
    if (rest_.size() < sizeof number) return false;
    std::memcpy(&number, rest_.data(), sizeof number);
    rest_.remove_prefix(sizeof number);
    return true;
  }

  bool take(std::uint64_t num_bytes, std::string& text) {
    if (rest_.size() < num_bytes) return false;
    text = rest_.substr(0, static_cast<std::size_t>(num_bytes));
    rest_.remove_prefix(static_cast<std::size_t>(num_bytes));
    return true;
  }

 private:
  std::string_view rest_;
};

bool take_tensor(Bytes& bytes, const ReadLimits& limits, TensorInfo& tensor) {
  std::uint64_t num_bytes = 0;
  std::uint64_t type = 0;
  std::uint64_t rank = 0;
  if (!bytes.take(num_bytes) || !bytes.take(num_bytes, tensor.name) || !bytes.take(type) ||
      !bytes.take(rank) || !is_printable_utf8(tensor.name) ||
      type > static_cast<std::uint64_t>(ElementType::kFloat64) || rank > limits.max_rank) {
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
  std::string out;
  append(out, tensors.size());
  for (const TensorInfo& tensor : tensors) {
    append(out, tensor.name.size());
    out += tensor.name;
    append(out, static_cast<std::uint64_t>(tensor.type));
    append(out, tensor.shape.size());
    for (const std::int64_t extent : tensor.shape) append(out, static_cast<std::uint64_t>(extent));
  }
  return out;
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
  Bytes rest(bytes);
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
