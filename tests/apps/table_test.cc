// SPDX-License-Identifier: BSD-3-Clause
#include "table.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sparkline.h"
#include "terminal.h"

namespace hesscope::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Rows = std::vector<std::vector<std::string>>;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

TEST(Table, SetsColumnsByWhatCharactersTakeOnATerminal) {
  EXPECT_EQ(text_columns("step-1.npz"), 10U);
  EXPECT_EQ(text_columns("\u2581\u2588\u03bb"), 3U);
  EXPECT_EQ(text_columns("\u6570\u636e"), 4U);     // wide ones
  EXPECT_EQ(text_columns("e\u0301t\u200be"), 3U);  // some take no room
  EXPECT_THAT(lines_of(table_text({{"", "n"}, {"\u03bb", "1"}, {"ab", "10"}})),
              ElementsAre("     n", "\u03bb    1", "ab  10"));
}

TEST(Table, FitsATerminalByItsColumns) {
  const Rows whole = {{"/", "loss", "lambda_min", "lambda_max"}, {"step-1.npz", "0.5", "-1", "23"}};
  Rows rows = whole;
  EXPECT_EQ(fit_table(rows, 40, true), 0U);
  EXPECT_EQ(rows, whole);
  EXPECT_EQ(fit_table(rows, 38, true), 1U);
  EXPECT_THAT(rows[0], ElementsAre("/", "loss", "lambda_min", "+1"));
  EXPECT_THAT(rows[1], ElementsAre("step-1.npz", "0.5", "-1"));
  for (std::size_t columns = 12; columns < 60; ++columns) {
    Rows cut = whole;
    const std::size_t gone = fit_table(cut, columns, false);
    EXPECT_EQ(cut[0].size() + gone, whole[0].size());
    for (const std::string& line : lines_of(table_text(cut))) {
      EXPECT_LE(text_columns(line), columns) << line;
    }
  }
}

TEST(Table, ShortensNamesInTheirMiddle) {
  Rows rows = {{""}, {"a-very-long-name-of-a-checkpoint-000500.npz"}, {"short.npz"}};
  EXPECT_EQ(fit_table(rows, 60, true), 0U);
  EXPECT_EQ(rows[1][0], "a-very-l...00500.npz");
  EXPECT_EQ(rows[2][0], "short.npz");
  rows = {{""}, {"\x1b[31m<img src=x onerror=alert(1)>.npz"}};
  fit_table(rows, 200, true);
  EXPECT_THAT(rows[1][0], Not(HasSubstr("\x1b")));
  EXPECT_EQ(rows[1][0], "\\x1b[31m<img src=x onerror=alert(1)>.npz");
}

TEST(Sparkline, IsAsHighAsTheRootOfTheCounts) {
  const plot::Scale scale(plot::ScaleKind::kLinear, 0, 4);
  std::vector<double> values(16, 0.5);
  values.insert(values.end(), 4, 1.5);
  values.insert(values.end(), {3.5, 4, std::nan(""), -1, 5});
  EXPECT_EQ(sparkline(scale, values, 4, true), "\u2588\u2584 \u2583");  // 1, 1/2, none, 0.35
  EXPECT_EQ(sparkline(scale, values, 4, false), "@= -");
  EXPECT_EQ(text_columns(sparkline(scale, values, 9, true)), 9U);
}

TEST(Sparkline, HasARulerWithZero) {
  EXPECT_EQ(sparkline_ruler({plot::ScaleKind::kLinear, -10, 10}, 11), "-10  0   10");
  EXPECT_EQ(sparkline_ruler({plot::ScaleKind::kLinear, 1, 3}, 9), "1       3");
  EXPECT_EQ(sparkline_ruler({plot::ScaleKind::kLinear, 1, 3}, 2), "  ");
}

}  // namespace
}  // namespace hesscope::cli
