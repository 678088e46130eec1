// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/core/article.h>
#include <hesscope/core/ascii.h>

namespace hesscope {

std::string with_article(std::string_view noun) {
  const auto is_one_of = [](std::string_view letters) {
    return [letters](char c) { return letters.find(lower_case(c)) != std::string_view::npos; };
  };
  const std::string_view word = noun.substr(0, noun.find(' '));
  const bool is_spelled = std::none_of(word.begin(), word.end(), is_one_of("aeiouy"));
  // M is "em", but U is "you".
  const auto begins_with_vowel = is_one_of(is_spelled ? "fhlmnrsx" : "aeiou");
  const bool has_n = !word.empty() && begins_with_vowel(word.front());
  return (has_n ? "an " : "a ") + std::string(noun);
}

}  // namespace hesscope
