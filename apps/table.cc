// SPDX-License-Identifier: BSD-3-Clause
#include "table.h"

#include <algorithm>
#include <cstddef>
#include <set>

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

std::vector<std::string> short_names(const std::vector<std::filesystem::path>& files,
                                     bool with_extension) {
  std::vector<std::string> names;
  for (const std::filesystem::path& file : files) {
    names.push_back((with_extension ? file.filename() : file.stem()).string());
  }
  if (std::set<std::string>(names.begin(), names.end()).size() == names.size()) return names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = (files[i].parent_path().filename() / names[i]).string();
  }
  return names;
}

std::string bytes_text(double bytes) {
  if (bytes < 1e3) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1e6) return fmt::format("{:.3g} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.3g} MB", bytes / 1e6);
  return fmt::format("{:.3g} GB", bytes / 1e9);
}

}  // namespace hesscope::cli
