// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
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

std::string drawn(const Panel& panel) {
  return to_svg({.panels = {panel}, .width = 300, .height = 200});
}

TEST(PanelRoom, FramesOfARowAndOfAColumnAreInLine) {
  std::vector<Panel> panels(4);
  for (Panel& panel : panels) panel.series.push_back(Line{.x = {1, 2}, .y = {1, 2}});
  panels[0].note = "a remark that has no title beside it";
  panels[1].title = "A title";
  panels[1].y.label = "y";
  panels[2].series.push_back(Marks{.x = {1.5}});
  std::get<Line>(panels[2].series[0]).label = "a long name of a line";
  std::get<Line>(panels[3].series[0]).y = {123456, 123457};
  const std::string svg =
      to_svg({.panels = std::move(panels), .columns = 2, .width = 500, .height = 400});
  const std::vector<double> top = of_panels(svg, "data-top");
  const std::vector<double> height = of_panels(svg, "data-height");
  const std::vector<double> left = of_panels(svg, "data-left");
  const std::vector<double> width = of_panels(svg, "data-width");
  ASSERT_EQ(top.size(), 4U);
  EXPECT_EQ(top[0], top[1]);
  EXPECT_EQ(top[2], top[3]);
  EXPECT_EQ(height[0], height[1]);
  EXPECT_EQ(left[0], left[2]);
  EXPECT_EQ(left[1], left[3]);
  EXPECT_EQ(width[0], width[2]);
  EXPECT_EQ(width[1], width[3]);
}

TEST(PanelRoom, TurnsLabelsThatTheNeighboursRoomLeavesNoneFor) {
  std::vector<Panel> panels(2);
  for (std::size_t p = 0; p < 2; ++p) {
    panels[p].square = true;
    panels[p].colour_bar.emplace();
    panels[p].series.push_back(HeatMap{.grid = {{0, 1, 2}, {0, 1, 2}, std::vector<double>(9, 1)}});
    for (const double x : {0, 1, 2}) {
      panels[p].x.ticks.emplace_back(x, std::string(p == 0 ? 10 : 40, 'x'));
    }
  }
  const auto num_turned = [&](std::size_t count) {
    const std::string svg =
        to_svg({.panels = {panels.begin(), panels.begin() + static_cast<std::ptrdiff_t>(count)},
                .width = 300.0 * static_cast<double>(count),
                .height = 260});
    std::size_t found = 0;
    for (std::size_t at = svg.find("rotate(-90"); at != std::string::npos;
         at = svg.find("rotate(-90", at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(num_turned(1), 0U);
  EXPECT_EQ(num_turned(2), 6U);  // those of the first panel, too
}

TEST(PanelRoom, DrawsMarksAboveTheFrame) {
  Panel panel;
  panel.x.scale = ScaleKind::kLog;
  panel.series.push_back(Line{.x = {1, 10}, .y = {1, 2}});
  const double without = of_panels(drawn(panel), "data-top")[0];
  panel.series.push_back(Marks{.x = {2, 5, std::nan(""), -1}});
  panel.series.push_back(Marks{.x = {100}});  // beyond the line: the axis grows
  const std::string svg = drawn(panel);
  const double top = of_panels(svg, "data-top")[0];
  EXPECT_GT(top, without);
  EXPECT_GE(of_panels(svg, "data-x-upper")[0], 100);
  std::size_t num_strokes = 0;
  for (std::size_t at = svg.find(R"(class="marks")"); at != std::string::npos;
       at = svg.find(R"(class="marks")", at + 1)) {
    const Places places = places_in(svg.substr(at, svg.find("</g>", at) - at));
    num_strokes += places.x.size() / 2;
    for (const double y : places.y) EXPECT_LT(y, top);
  }
  EXPECT_EQ(num_strokes, 6U);  // two of each cross
  expect_within(svg, 300, 200);
}

TEST(PanelRoom, MarksAloneHaveAFrame) {
  Panel panel;
  panel.series.push_back(Marks{.x = {1, 2}, .label = "failed"});
  EXPECT_THAT(drawn(panel), Not(HasSubstr("no values to show")));
}

}  // namespace
}  // namespace hesscope::plot
