// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <span>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/internal/byte_order.h>
#include <hesscope/tensors/idx.h>

namespace hesscope::io {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 32;
constexpr int kUnsignedByte = 8;

}  // namespace

IdxArray read_idx(const std::filesystem::path& path, std::size_t rank, const std::string& extents) {
  const InputFile file(path, "an IDX file");
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("{}: {}", path.string(), what));
  };
  const std::size_t header_bytes = 4 + 4 * rank;
  std::array<std::byte, 4> magic{};
  if (file.size() >= magic.size()) file.read_at(0, magic);
  if (magic[0] == std::byte{0x1f} && magic[1] == std::byte{0x8b}) {
    refuse("is compressed by gzip; decompress it first (gunzip)");
  }
  if (file.size() < magic.size() || magic[0] != std::byte{0} || magic[1] != std::byte{0}) {
    refuse("is no IDX file, which begins with two zero bytes");
  }
  if (std::to_integer<int>(magic[2]) != kUnsignedByte) {
    refuse(fmt::format("holds elements of IDX type {:#04x}; expected unsigned bytes, 0x08",
                       std::to_integer<int>(magic[2])));
  }
  if (std::to_integer<std::size_t>(magic[3]) != rank) {
    refuse(fmt::format(
        "expected {} dimensions ({}), found {}", rank, extents, std::to_integer<int>(magic[3])));
  }
  if (file.size() < header_bytes) {
    refuse(fmt::format("ends after {} bytes, within its header of {}", file.size(), header_bytes));
  }
  std::vector<std::byte> header(header_bytes);
  file.read_at(0, header);
  IdxArray array;
  std::uint64_t size = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto extent = load<ByteOrder::kBig, std::uint32_t>(header.data() + 4 + 4 * i);
    array.shape.push_back(extent);
    if (extent == 0) refuse(fmt::format("dimension {} ({}) has no entries", i + 1, extents));
    if (size > kMaxBytes / extent) refuse("says that it holds more than 4 GiB");
    size *= extent;
  }
  if (file.size() != header_bytes + size) {
    refuse(fmt::format("expected {} bytes for its shape ({}), found {}",
                       header_bytes + size,
                       extents,
                       file.size()));
  }
  array.values.resize(size);
  file.read_at(header_bytes, std::as_writable_bytes(std::span(array.values)));
  array.sha256 = sha256_of(file);
  return array;
}

}  // namespace hesscope::io
