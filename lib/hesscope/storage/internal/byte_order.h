// SPDX-License-Identifier: BSD-3-Clause
//
// Conversion of bytes to integers and floats, for any byte order of either side.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace hesscope::io {

enum class ByteOrder { kLittle, kBig };

/// The unsigned integer of sizeof(T) bytes.
template <typename T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1,
    std::uint8_t,
    std::conditional_t<sizeof(T) == 2,
                       std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// The T stored at `bytes`, which need not be aligned.
template <ByteOrder order, typename T>
T load(const std::byte* bytes) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8,
                "load: integers and floats up to 64 bits");
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    const std::size_t place = order == ByteOrder::kLittle ? i : sizeof(T) - 1 - i;
    bits |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * place);
  }
  return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
}

/// Appends the bytes of `value` in little-endian order.
template <typename T>
void append_little(std::string& bytes, T value) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8,
                "append_little: integers and floats up to 64 bits");
  const auto bits = std::bit_cast<BitsOf<T>>(value);
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes += static_cast<char>(static_cast<unsigned char>(bits >> (8 * i)));
  }
}

}  // namespace hesscope::io
