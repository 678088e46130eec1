// SPDX-License-Identifier: BSD-3-Clause
//
// Tables in figures: how wide their columns are, and their drawing.
#pragma once

#include <string>
#include <vector>

#include <hesscope/plot/internal/canvas.h>

namespace hesscope::plot {

/// Texts of a row side by side, each in its lines.
struct TableRow {
  std::vector<std::vector<std::string>> cells;
  std::size_t num_lines = 1;  ///< the most of any cell
};

struct TablePlan {
  std::vector<double> widths;  ///< of columns, in points
  std::vector<TableRow> rows;  ///< the heading first
  double width = 0;            ///< with what is around it
  double height = 0;           ///< the same
};

/// Headings are broken at spaces to be as wide as the column's other texts, or wider where they
/// would take more than three lines. Of a table that would be wider than a page, what stands in
/// parentheses goes below what is before it.
TablePlan plan_table(const Table& table, const std::string& title);

void draw_table(Canvas& canvas, const Table& table, const Box& cell, const std::string& title);

}  // namespace hesscope::plot
