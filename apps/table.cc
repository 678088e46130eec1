// SPDX-License-Identifier: BSD-3-Clause
#include "table.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include <hesscope/core/printable.h>

#include "terminal.h"

namespace hesscope::cli {
namespace {

// Cuts out the middle if the text takes more than `columns` columns, because names differ at their
// ends.
std::string shortened(const std::string& text, std::size_t columns) {
  if (text_columns(text) <= columns) return text;
  const std::vector<std::string_view> characters = utf8_characters(text);
  std::string begin;
  std::string end;
  std::size_t room = columns - 3;
  for (std::size_t i = 0, j = characters.size(); i < j;) {
    const bool from_end = text_columns(end) <= text_columns(begin);
    const std::string_view next = characters[from_end ? --j : i++];
    if (text_columns(next) > room) break;
    room -= text_columns(next);
    if (from_end) {
      end.insert(0, next);
    } else {
      begin += next;
    }
  }
  return begin + "..." + end;
}

}  // namespace

std::string table_text(std::vector<std::vector<std::string>> rows, std::size_t num_left) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = printable(cell);  // in one line
  }
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], text_columns(row[c]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) line += "  ";
      const std::string room(widths[c] - text_columns(row[c]), ' ');
      line += c < num_left ? row[c] + room : room + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::size_t fit_table(std::vector<std::vector<std::string>>& rows,
                      std::size_t columns,
                      bool with_mark) {
  constexpr std::size_t kShortestName = 12;
  constexpr std::size_t kGap = 2;
  const std::size_t longest_name = std::max(kShortestName, columns / 3);
  std::vector<std::size_t> widths;
  for (auto& row : rows) {
    row[0] = shortened(printable(row[0]), longest_name);
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], text_columns(printable(row[c])));
    }
  }
  std::size_t total = 0;
  for (const std::size_t width : widths) total += width + kGap;
  const std::size_t all = widths.size();
  std::size_t kept = all;
  const auto mark = [&] { return fmt::format("+{}", all - kept); };
  const auto needed = [&] {
    return total - kGap + (with_mark && kept < all ? kGap + mark().size() : 0);
  };
  while (kept > 1 && needed() > columns) total -= widths[--kept] + kGap;
  if (kept == all) return 0;
  for (auto& row : rows) row.resize(std::min(row.size(), kept));
  if (with_mark) rows[0].push_back(mark());
  return all - kept;
}

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

std::string bytes_text(double bytes) {
  if (bytes < 1e3) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1e6) return fmt::format("{:.3g} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.3g} MB", bytes / 1e6);
  return fmt::format("{:.3g} GB", bytes / 1e9);
}

}  // namespace hesscope::cli
