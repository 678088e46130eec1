// SPDX-License-Identifier: BSD-3-Clause
//
// The terminal of standard output, if there is one. Output to a terminal fits its width; output to
// a pipe or a file depends only on the result.
#pragma once

#include <cstddef>
#include <string_view>

namespace hesscope::cli {

struct Terminal {
  bool is_there = false;  ///< whether standard output is a terminal
  std::size_t columns = 80;
  bool has_unicode = false;  ///< the locale, by LC_ALL, LC_CTYPE or LANG, uses UTF-8
};

/// According to the environment and the system: COLUMNS takes precedence over the terminal's own
/// width.
Terminal standard_output();

/// The number of terminal columns that text in UTF-8 without control characters takes.
std::size_t text_columns(std::string_view text);

}  // namespace hesscope::cli
