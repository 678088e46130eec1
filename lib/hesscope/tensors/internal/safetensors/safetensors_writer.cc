// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/storage/internal/byte_order.h>
#include <hesscope/tensors/internal/safetensors/safetensors_types.h>
#include <hesscope/tensors/internal/safetensors/safetensors_writer.h>
#include <hesscope/tensors/internal/tensor_encoding.h>

namespace hesscope::io {
namespace {

/// For UTF-8 without control characters.
std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') out += '\\';
    out += character;
  }
  return out + '"';
}

}  // namespace

void write_safetensors(const std::filesystem::path& path,
                       std::span<const CheckpointTensor> tensors,
                       Existing existing) {
  require_tensors("write_safetensors", tensors);
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, std::greater<>(), [&](std::size_t i) { return size_of(tensors[i].type); });
  std::string data;
  std::vector<std::size_t> begins(tensors.size());
  std::vector<std::size_t> ends(tensors.size());
  for (const std::size_t i : order) {
    const CheckpointTensor& tensor = tensors[i];
    begins[i] = data.size();
    encode_elements(fmt::format("{}: tensor '{}'", path.string(), tensor.name),
                    tensor.type,
                    tensor.values,
                    data);
    ends[i] = data.size();
  }
  std::string header = "{";
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name == "__metadata__") {
      throw OutputError(fmt::format(
          "{}: a tensor cannot be named '__metadata__' in a safetensors file", path.string()));
    }
    header += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                          i == 0 ? "" : ",",
                          json_text(tensors[i].name),
                          safetensors_name(tensors[i].type),
                          fmt::join(tensors[i].shape, ","),
                          begins[i],
                          ends[i]);
  }
  header += '}';
  constexpr std::size_t kAlignment = 8;
  header.append((kAlignment - header.size() % kAlignment) % kAlignment, ' ');
  constexpr std::size_t kLongestHeader = 100'000'000;
  if (header.size() > kLongestHeader) {
    throw OutputError(
        fmt::format("{}: the header of {} tensors needs {} bytes; readers take {} at most",
                    path.string(),
                    tensors.size(),
                    header.size(),
                    kLongestHeader));
  }
  std::string bytes;
  bytes.reserve(sizeof(std::uint64_t) + header.size() + data.size());
  append_little(bytes, std::uint64_t{header.size()});
  bytes += header;
  bytes += data;
  write_whole(path, bytes, existing);
}

}  // namespace hesscope::io
