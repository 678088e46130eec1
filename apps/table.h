// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hesscope::cli {

/// A table of text for people: the first row is the header; the first `num_left` columns are
/// left-aligned, the others right-aligned. A cell is one line: control characters in it are shown
/// as \xNN. Ends with a newline.
std::string table_text(std::vector<std::vector<std::string>> rows, std::size_t num_left = 1);

/// Makes a table fit a terminal: names in the left column lose their middle, and columns on the
/// right are dropped.
/// @param with_mark  whether the header then ends with "+3" for three dropped columns.
/// @returns the number of dropped columns.
std::size_t fit_table(std::vector<std::vector<std::string>>& rows,
                      std::size_t columns,
                      bool with_mark);

/// A number for a table: six significant digits.
std::string number_text(double value);

/// "398 MB", "12 kB".
std::string bytes_text(double bytes);

}  // namespace hesscope::cli
