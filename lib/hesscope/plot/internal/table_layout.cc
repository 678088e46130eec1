// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string_view>
#include <utility>

#include <hesscope/plot/internal/layout.h>
#include <hesscope/plot/internal/table_layout.h>
#include <hesscope/plot/internal/text.h>

namespace hesscope::plot {
namespace {

constexpr double kAround = 6;  // left of a table, and on its other sides
constexpr double kColumnGap = 12;
constexpr double kRowHeight = 11;
constexpr double kLineHeight = 9;  // of further lines of a row
constexpr double kBelowHeading = 3;

double height_of(const TableRow& row) {
  return kRowHeight + kLineHeight * static_cast<double>(row.num_lines - 1);
}

double widest(const std::vector<std::string>& lines) {
  double width = 0;
  for (const std::string& line : lines) width = std::max(width, text_width(line, kTickSize));
  return width;
}

std::vector<std::string> heading_lines(const std::string& text, double width) {
  constexpr std::size_t kMostLines = 3;
  std::vector<std::string> lines = broken_text(text, kTickSize, width);
  while (lines.size() > kMostLines) {
    width += kTickSize;
    lines = broken_text(text, kTickSize, width);
  }
  return lines;
}

// The text before a parenthesis, and the parenthesis.
std::vector<std::string> parted(const std::string& text) {
  const std::size_t at = text.find(" (");
  if (at == std::string::npos || at == 0) return {text};
  return {text.substr(0, at), text.substr(at + 1)};
}

TablePlan planned(const Table& table, const std::string& title, bool is_narrow) {
  TablePlan plan;
  const auto place = [&](std::size_t row, std::size_t column, std::vector<std::string> lines) {
    plan.widths.resize(std::max(plan.widths.size(), column + 1));
    plan.widths[column] = std::max(plan.widths[column], widest(lines));
    TableRow& placed = plan.rows[row];
    placed.num_lines = std::max(placed.num_lines, lines.size());
    placed.cells.push_back(std::move(lines));
  };
  plan.rows.resize(table.rows.size());
  for (std::size_t r = 1; r < table.rows.size(); ++r) {
    for (std::size_t c = 0; c < table.rows[r].size(); ++c) {
      const std::string& text = table.rows[r][c];
      place(r, c, is_narrow && c > 0 ? parted(text) : std::vector{text});
    }
  }
  if (!table.rows.empty()) {
    const std::vector<std::string>& heading = table.rows.front();
    plan.widths.resize(std::max(plan.widths.size(), heading.size()));
    for (std::size_t c = 0; c < heading.size(); ++c) {
      place(0, c, heading_lines(heading[c], plan.widths[c]));
    }
  }
  plan.width = 2 * kAround + kColumnGap * (static_cast<double>(plan.widths.size()) - 1);
  for (const double width : plan.widths) plan.width += width;
  plan.height = 2 * kAround + (title.empty() ? 0 : kRowHeight + 4) + kBelowHeading + 4;
  for (const TableRow& row : plan.rows) plan.height += height_of(row);
  return plan;
}

}  // namespace

TablePlan plan_table(const Table& table, const std::string& title) {
  constexpr double kPage = 504;  // seven inches: a page without its margins
  TablePlan plan = planned(table, title, false);
  return plan.width > kPage ? planned(table, title, true) : plan;
}

void draw_table(Canvas& canvas, const Table& table, const Box& cell, const std::string& title) {
  const TablePlan plan = plan_table(table, title);
  const double left = cell.left + kAround;
  const double length = plan.width - 2 * kAround;
  double y = cell.top + kAround + kTitleSize;
  canvas.open({{"class", "table"}});
  canvas.text({left, y}, title, {.size = kTitleSize, .bold = true});
  if (!title.empty()) y += kRowHeight + 4;
  const auto rule = [&](double at, double width) {
    canvas.lines({{{left, at}, {left + length, at}}}, {kInk, width, Dash::kSolid});
  };
  rule(y - kRowHeight + 2, 0.8);
  for (std::size_t r = 0; r < plan.rows.size(); ++r) {
    const TableRow& row = plan.rows[r];
    double x = left;
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const std::vector<std::string>& lines = row.cells[c];
      // Headings are aligned at their last lines, other cells at their first.
      const std::size_t first = r == 0 ? row.num_lines - lines.size() : 0;
      for (std::size_t i = 0; i < lines.size(); ++i) {
        canvas.text(
            {c == 0 ? x : x + plan.widths[c], y + kLineHeight * static_cast<double>(first + i)},
            lines[i],
            {.size = kTickSize, .anchor = c == 0 ? Anchor::kStart : Anchor::kEnd});
      }
      x += plan.widths[c] + kColumnGap;
    }
    y += height_of(row);
    if (r > 0) continue;
    rule(y - kRowHeight + 3.5, 0.5);
    y += kBelowHeading;
  }
  rule(y - kRowHeight + 4, 0.8);
  canvas.close();
}

}  // namespace hesscope::plot
