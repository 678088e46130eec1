// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string_view>

#include <hesscope/hdf5/internal/hdf5_superblock.h>

namespace hesscope::io {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";

/// @param text_at  returns as many bytes of a file of `size` bytes, from an offset on, as the
///                 signature has.
template <typename TextAt>
std::optional<std::uint64_t> superblock_among(std::uint64_t size, TextAt text_at) {
  constexpr std::uint64_t kFirstUserBlock = 512;
  std::uint64_t offset = 0;
  while (offset < size) {
    if (text_at(offset) == kSignature) return offset;
    offset = std::max(kFirstUserBlock, 2 * offset);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> find_superblock(const InputFile& file) {
  return superblock_among(
      file.size(), [&](std::uint64_t offset) { return file.text_at(offset, kSignature.size()); });
}

std::optional<std::uint64_t> find_superblock(std::span<const std::byte> image) {
  const std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
  return superblock_among(text.size(), [&](std::uint64_t offset) {
    return text.substr(static_cast<std::size_t>(offset), kSignature.size());
  });
}

}  // namespace hesscope::io
