// SPDX-License-Identifier: BSD-3-Clause
//
// Tables in figures: the widths of their columns, and their drawing.
#pragma once

#include <string>
#include <vector>

#include <hesscope/plot/internal/canvas.h>

namespace hesscope::plot {

/// The texts of a row side by side, each as its lines.
struct TableRow {
  std::vector<std::vector<std::string>> cells;
  std::size_t num_lines = 1;  ///< the maximum over its cells
};

struct TablePlan {
  std::vector<double> widths;  ///< of columns, in points
  std::vector<TableRow> rows;  ///< the heading first
  double width = 0;            ///< with its margins
  double height = 0;           ///< the same
};

/// Headings are broken at spaces to be as wide as the column's other texts, or wider if they would
/// take more than three lines. If the table would be wider than a page, text in parentheses is put
/// below the text before it.
TablePlan plan_table(const Table& table, const std::string& title);

void draw_table(Canvas& canvas, const Table& table, const Box& cell, const std::string& title);

}  // namespace hesscope::plot
