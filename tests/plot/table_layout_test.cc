// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/plot/svg.h>

#include "plot/svg_places.h"

namespace hesscope::plot {
namespace {

using testing::HasSubstr;
using testing::Not;

Figure table_of(std::vector<std::vector<std::string>> rows) {
  Figure figure;
  figure.panels.emplace_back().table.emplace().rows = std::move(rows);
  return figure;
}

double width_of(const std::string& svg) {
  return number_of(svg.substr(svg.find("<rect")), "width");
}

TEST(TableLayout, ATableIsAsWideAsItsTitleInASubstituteFont) {
  Figure figure = table_of({{"a", "b"}, {"1", "2"}});
  figure.title = "Robust condition number of the diagonal, SGD over Adam at the lower rates";
  constexpr double kInDejaVuSansBold = 453.1;  // points, at the size of titles
  EXPECT_GT(width_of(to_svg(figure)), 8 + kInDejaVuSansBold + 4);
}

TEST(TableLayout, ATableIsAsLargeAsItsTexts) {
  const std::string svg = to_svg(table_of(
      {{"run", "a heading of many words and one number"}, {"Adam", "1.25 (0.5)"}, {"SGD", "3"}}));
  EXPECT_LT(width_of(svg), 150);
  EXPECT_THAT(svg, Not(HasSubstr("of many words and one")));  // broken
  EXPECT_THAT(svg, HasSubstr("1.25 (0.5)"));
  expect_within(svg, width_of(svg), number_of(svg.substr(svg.find("<rect")), "height"));
}

TEST(TableLayout, AWideTableHasItsParenthesesBelow) {
  std::vector<std::vector<std::string>> rows(2);
  for (int k = 0; k < 8; ++k) {
    rows[0].push_back("heading");
    rows[1].emplace_back("0.00123 (0.00122 ... 0.00124)");
  }
  const std::string svg = to_svg(table_of(rows));
  EXPECT_THAT(svg, HasSubstr(">(0.00122 ... 0.00124)<"));
  EXPECT_THAT(svg, HasSubstr(">0.00123 (0.00122 ... 0.00124)<"));  // the row's name stays whole
  rows[0].resize(3);
  rows[1].resize(3);
  EXPECT_THAT(to_svg(table_of(rows)), Not(HasSubstr(">(0.00122 ... 0.00124)<")));
}

}  // namespace
}  // namespace hesscope::plot
