// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>

#include <hesscope/core/article.h>

namespace hesscope {

std::string with_article(std::string_view noun) {
  const auto is_one_of = [](std::string_view letters) {
    return [letters](char c) {
      const auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      return letters.find(lower) != std::string_view::npos;
    };
  };
  const std::string_view word = noun.substr(0, noun.find(' '));
  const bool is_spelled = std::none_of(word.begin(), word.end(), is_one_of("aeiouy"));
  // M is "em", but U is "you".
  const auto begins_with_vowel = is_one_of(is_spelled ? "fhlmnrsx" : "aeiou");
  const bool has_n = !word.empty() && begins_with_vowel(word.front());
  return (has_n ? "an " : "a ") + std::string(noun);
}

}  // namespace hesscope
