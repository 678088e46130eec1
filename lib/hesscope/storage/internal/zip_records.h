// SPDX-License-Identifier: BSD-3-Clause
//
// Records of a zip archive. Their layouts: PKWARE APPNOTE.TXT 6.3.10, sections 4.3.7 (local
// header), 4.3.12 (central directory), 4.3.14 to 4.3.16 (end records), 4.5.3 (zip64 field).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <hesscope/storage/internal/byte_order.h>

namespace hesscope::io::zip {

inline constexpr std::uint32_t kLocalSignature = 0x04034b50;
inline constexpr std::uint32_t kCentralSignature = 0x02014b50;
inline constexpr std::uint32_t kEndSignature = 0x06054b50;
inline constexpr std::uint32_t kEnd64Signature = 0x06064b50;
inline constexpr std::uint32_t kLocator64Signature = 0x07064b50;

inline constexpr std::size_t kLocalBytes = 30;
inline constexpr std::size_t kCentralBytes = 46;
inline constexpr std::size_t kEndBytes = 22;
inline constexpr std::size_t kEnd64Bytes = 56;
inline constexpr std::size_t kLocator64Bytes = 20;
inline constexpr std::size_t kMaxCommentBytes = 0xFFFF;

inline constexpr std::uint16_t kSaturated16 = 0xFFFF;
inline constexpr std::uint32_t kSaturated32 = 0xFFFFFFFF;
inline constexpr std::uint16_t kZip64Field = 0x0001;
inline constexpr std::uint16_t kMethodStored = 0;
inline constexpr std::uint16_t kMethodDeflate = 8;

/// Fields of one record, all little-endian.
class Record {
 public:
  explicit Record(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint16_t u16(std::size_t at) const { return get<std::uint16_t>(at); }

  std::uint32_t u32(std::size_t at) const { return get<std::uint32_t>(at); }

  std::uint64_t u64(std::size_t at) const { return get<std::uint64_t>(at); }

  std::string text(std::size_t at, std::size_t size) const {
    const auto part = bytes_.subspan(at, size);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }

  std::span<const std::byte> part(std::size_t at, std::size_t size) const {
    return bytes_.subspan(at, size);
  }

  std::size_t size() const { return bytes_.size(); }

 private:
  template <typename T>
  T get(std::size_t at) const {
    return load<ByteOrder::kLittle, T>(bytes_.subspan(at, sizeof(T)).data());
  }

  std::span<const std::byte> bytes_;
};

}  // namespace hesscope::io::zip
