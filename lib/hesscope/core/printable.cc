// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include <hesscope/core/printable.h>

namespace hesscope {

namespace {

/// For a valid character: U+0000 to U+001F, U+007F to U+009F.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return out;
}

// Length of the first character in bytes if XML allows it; else 0.
std::size_t xml_length(std::string_view text) {
  const std::string_view character = text.substr(0, utf8_length(text));
  if (character == "\t" || character == "\n") return 1;
  // U+FFFE and U+FFFF are not characters.
  const bool is_none =
      character.empty() || character == "\xef\xbf\xbe" || character == "\xef\xbf\xbf";
  return is_none || is_control(character) ? 0 : character.size();
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto in = [](unsigned value, unsigned low, unsigned high) {
    return value >= low && value <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (in(lead, 0xC2, 0xDF)) return in(byte(1), 0x80, 0xBF) ? 2 : 0;
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (!in(byte(1), low, high) || !in(byte(2), 0x80, 0xBF)) return 0;
  if (in(lead, 0xE0, 0xEF)) return 3;
  return in(lead, 0xF0, 0xF4) && in(byte(3), 0x80, 0xBF) ? 4 : 0;
}

std::vector<std::string_view> utf8_characters(std::string_view text) {
  std::vector<std::string_view> characters;
  while (!text.empty()) {
    characters.push_back(text.substr(0, std::max<std::size_t>(utf8_length(text), 1)));
    text.remove_prefix(characters.back().size());
  }
  return characters;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool is_printable_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || is_control(text.substr(0, length))) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char& byte : text) {
    const std::string_view character(&byte, 1);
    out += byte >= ' ' && byte <= '~' ? std::string(character) : hex(character);
  }
  return out;
}

std::string printable(std::string_view text, std::string_view kept) {
  std::string out;
  for (const std::string_view character : utf8_characters(text)) {
    const bool is_shown = is_printable_utf8(character) || kept.find(character) != kept.npos;
    out += is_shown ? std::string(character) : hex(character);
  }
  return out;
}

std::string xml_text(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t length = xml_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0) {
      safe += "\ufffd";
    } else if (character == "&") {
      safe += "&amp;";
    } else if (character == "<") {
      safe += "&lt;";
    } else if (character == ">") {
      safe += "&gt;";
    } else if (character == "\"") {
      safe += "&quot;";
    } else if (character == "\n" || character == "\t") {
      safe += ' ';
    } else {
      safe += character;
    }
    text.remove_prefix(character.size());
  }
  return safe;
}

}  // namespace hesscope
