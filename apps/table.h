// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hesscope::cli {

/// Columns of text for people: the first row is the header; the first `num_left` columns are set
/// flush left, the others flush right. A cell is one line: control characters in it are shown as
/// \xNN. Ends with a newline.
std::string table_text(std::vector<std::vector<std::string>> rows, std::size_t num_left = 1);

/// Makes a table fit a terminal: names at the left lose their middle, columns at the right go.
/// @param with_mark  whether the header then ends with "+3" for three columns that went.
/// @returns how many went.
std::size_t fit_table(std::vector<std::vector<std::string>>& rows,
                      std::size_t columns,
                      bool with_mark);

/// A number for a table: six significant digits.
std::string number_text(double value);

/// "398 MB", "12 kB".
std::string bytes_text(double bytes);

}  // namespace hesscope::cli
