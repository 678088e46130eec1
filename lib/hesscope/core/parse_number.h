// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace hesscope {

/// The number that a whole text is, in decimal, alike in every locale: nothing where anything is
/// before or behind it, a plus sign and blanks included, or where it is beyond the range of T. As
/// doubles "inf" and "nan" are numbers.
template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional<T>(number) : std::nullopt;
}

}  // namespace hesscope
