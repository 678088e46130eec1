// SPDX-License-Identifier: BSD-3-Clause
//
// ASCII letters and digits. Unlike the functions of <cctype>, these take any char and give the same
// answer in every locale; non-ASCII bytes are neither letters nor digits.
#pragma once

#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>

namespace hesscope {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

constexpr bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }

/// Whether the text is nonempty and consists of digits only.
constexpr bool is_all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

constexpr char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr char upper_case(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

inline std::string lower_case(std::string text) {
  for (char& c : text) c = lower_case(c);
  return text;
}

inline std::string upper_case(std::string text) {
  for (char& c : text) c = upper_case(c);
  return text;
}

/// A name as words: underscores become spaces.
inline std::string as_words(std::string_view name) {
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  return words;
}

/// The text with its first letter in upper case.
inline std::string capitalized(std::string text) {
  if (!text.empty()) text.front() = upper_case(text.front());
  return text;
}

}  // namespace hesscope
