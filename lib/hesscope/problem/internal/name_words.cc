// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>

#include <hesscope/core/ascii.h>
#include <hesscope/problem/internal/name_words.h>

namespace hesscope::detail {

std::vector<std::string_view> words_of(std::string_view name) {
  const auto kind_of = [](char c) { return is_digit(c) ? 2 : is_letter(c) ? 1 : 0; };
  std::vector<std::string_view> all;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i + 1;
    while (end < name.size() && kind_of(name[end]) == kind_of(name[i])) ++end;
    if (kind_of(name[i]) != 0) all.push_back(name.substr(i, end - i));
    i = end;
  }
  return all;
}

bool is_number(std::string_view word) { return is_digit(word.front()); }

bool is_smaller_number(std::string_view a, std::string_view b) {
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

bool is_before_by_numbers(std::string_view a, std::string_view b) {
  return std::ranges::lexicographical_compare(
      words_of(a), words_of(b), [](std::string_view x, std::string_view y) {
        return is_number(x) && is_number(y) ? is_smaller_number(x, y) : x < y;
      });
}

}  // namespace hesscope::detail
