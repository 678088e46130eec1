// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include <hesscope/core/printable.h>
#include <hesscope/dataset/internal/flag_meanings.h>

namespace hesscope::detail {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";

std::string with_underscores(std::string meaning) {
  std::ranges::replace_if(
      meaning, [](char letter) { return kBlanks.find(letter) != kBlanks.npos; }, '_');
  return meaning;
}

}  // namespace

std::string problem_of_meanings(const Variable& variable) {
  std::set<std::string_view> known;
  for (const std::string& meaning : variable.flag_meanings) {
    if (meaning.empty()) {
      return fmt::format("the flag meaning of {} is empty; each must be a word", known.size());
    }
    if (meaning.find_first_of(kBlanks) != std::string::npos) {
      return fmt::format("the flag meaning '{}' must be one word; write it with underscores: '{}'",
                         printable(meaning),
                         printable(with_underscores(meaning)));
    }
    if (!known.insert(meaning).second) {
      return fmt::format("the flag meaning '{}' is there twice", printable(meaning));
    }
  }
  return {};
}

}  // namespace hesscope::detail
