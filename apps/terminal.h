// SPDX-License-Identifier: BSD-3-Clause
//
// Where standard output is shown. What is said to a person at a terminal fits its width; what goes
// to a pipe or a file depends on nothing but the result.
#pragma once

#include <cstddef>
#include <string_view>

namespace hesscope::cli {

struct Terminal {
  bool is_there = false;  ///< whether standard output is one
  std::size_t columns = 80;
  bool has_unicode = false;  ///< its locale, by LC_ALL, LC_CTYPE or LANG, is one of UTF-8
};

/// As the environment and the system say: COLUMNS wins over what the terminal says of itself.
Terminal standard_output();

/// The columns of a terminal that text in UTF-8 without control characters takes.
std::size_t text_columns(std::string_view text);

}  // namespace hesscope::cli
