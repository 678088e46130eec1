// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

namespace hesscope::detail {

/// The words and numbers of a name: "net0.weight" is net, 0, weight.
std::vector<std::string_view> words_of(std::string_view name);

/// Whether a word is a number.
bool is_number(std::string_view word);

/// Compares two words that are numbers, however many digits they have.
bool is_smaller_number(std::string_view a, std::string_view b);

/// Compares word by word, and numbers by value: "layers.2" is before "layers.10".
bool is_before_by_numbers(std::string_view a, std::string_view b);

}  // namespace hesscope::detail
