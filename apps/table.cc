// SPDX-License-Identifier: BSD-3-Clause
#include "table.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include <hesscope/core/printable.h>

namespace hesscope::cli {

std::string table_text(std::vector<std::vector<std::string>> rows, std::size_t num_left) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = printable(cell);  // in one line
  }
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) line += "  ";
      line += c < num_left ? fmt::format("{:<{}}", row[c], widths[c])
                           : fmt::format("{:>{}}", row[c], widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

std::string bytes_text(double bytes) {
  if (bytes < 1e3) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1e6) return fmt::format("{:.3g} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.3g} MB", bytes / 1e6);
  return fmt::format("{:.3g} GB", bytes / 1e9);
}

}  // namespace hesscope::cli
