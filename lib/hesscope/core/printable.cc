// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include <hesscope/core/printable.h>

namespace hesscope {

bool is_printable_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xC2 ? 0
                               : lead < 0xE0 ? 2
                               : lead < 0xF0 ? 3
                               : lead < 0xF5 ? 4
                                             : 0;
    if (length == 0 || length > text.size() - i) return false;
    std::uint32_t code = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0U) != 0x80U) return false;
      code = (code << 6) | (next & 0x3FU);
    }
    const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool is_surrogate = code >= 0xD800 && code < 0xE000;
    const bool is_control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    if (is_overlong || is_surrogate || is_control || code > 0x10FFFF) return false;
    i += length;
  }
  return true;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char character : text) {
    if (character >= ' ' && character <= '~') {
      out += character;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(character));
    }
  }
  return out;
}

std::string printable(std::string_view text) {
  return is_printable_utf8(text) ? std::string(text) : escaped(text);
}

}  // namespace hesscope
