// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/core/printable.h>
#include <hesscope/core/shell.h>

namespace hesscope {

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  // Within single quotes, everything except the quote stands for itself.
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string pasted_word(std::string_view text) {
  if (is_printable_utf8(text)) return shell_word(text);
  std::string word = "$'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') word += '\\';
    word += c >= ' ' && c <= '~' ? std::string(1, c)
                                 : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return word + "'";
}

}  // namespace hesscope
