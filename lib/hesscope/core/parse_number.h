// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace hesscope {

/// The number that the whole text represents, in decimal, independently of the locale. Nothing if
/// the text contains anything else, such as a plus sign or blanks, or if the number is out of the
/// range of T. For doubles, "inf" and "nan" are numbers.
template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional<T>(number) : std::nullopt;
}

}  // namespace hesscope
