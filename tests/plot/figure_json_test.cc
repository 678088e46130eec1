// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/plot/figure_json.h>
#include <hesscope/plot/shared_axes.h>

namespace hesscope::plot {
namespace {

Figure one_line(std::vector<double> y) {
  Panel panel;
  panel.x.label = "step";
  panel.y = {.label = "loss", .scale = ScaleKind::kLog};
  std::vector<double> x;
  for (std::size_t i = 0; i < y.size(); ++i) x.push_back(static_cast<double>(i));
  panel.series.push_back(Line{.x = x, .y = std::move(y), .label = "Adam"});
  return {.description = "A loss", .panels = {panel}};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(FigureJson, NumbersAreExact) {
  // 1.0 and NaN as little-endian doubles.
  const std::string json = to_json(one_line({1.0, kNaN})).compact();
  EXPECT_TRUE(contains(json, R"("y":{"f64":"AAAAAAAA8D8AAAAAAAD4fw=="})")) << json;
}

TEST(FigureJson, SaysWhatTheDrawingWouldSay) {
  const std::string json = to_json(one_line({1.0, 10.0, kNaN, -2.0})).compact();
  EXPECT_TRUE(contains(json, R"("note":"1 value missing, 1 value ≤ 0 not shown")")) << json;
  EXPECT_TRUE(contains(json, R"("scale":"log")")) << json;
  EXPECT_TRUE(contains(json, R"("colour":"#0072b2")")) << json;
  EXPECT_TRUE(contains(to_json(one_line({kNaN})).compact(), R"("empty":true)"));
}

TEST(FigureJson, RefusesWhatCannotBeDrawn) {
  EXPECT_THROW(to_json(Figure{}), PreconditionError);
  Figure figure = one_line({1.0, 2.0});
  std::get<Line>(figure.panels[0].series[0]).x.pop_back();
  EXPECT_THROW(to_json(figure), PreconditionError);
}

TEST(FigureJson, ContourLevelsAreEquallySpacedOnTheScale) {
  Panel panel;
  panel.colour_bar = ColourBar{.label = "loss", .scale = ScaleKind::kLog};
  panel.series.push_back(
      FilledContours{.grid = {.x = {0, 1}, .y = {0, 1}, .values = {1e-3, 1e-1, 1, 1e4}}});
  const std::string json = to_json({.panels = {panel}}).compact();
  EXPECT_TRUE(contains(json, R"("levels":{"f64":)")) << json;
  EXPECT_TRUE(contains(json, R"("colours":["#440154")")) << json;
}

TEST(SharedAxes, HoldAllNumbers) {
  std::vector<Figure> figures = {one_line({1.0, 10.0}), one_line({1e-3, 1.0, 5.0})};
  share_axes(figures);
  EXPECT_EQ(figures[0].panels[0].y.lower, figures[1].panels[0].y.lower);
  EXPECT_LE(*figures[0].panels[0].y.lower, 1e-3);
  EXPECT_GE(*figures[1].panels[0].y.upper, 10.0);
  EXPECT_GE(*figures[0].panels[0].x.upper, 2.0);
}

TEST(SharedAxes, LeaveRangesOfWhichOneWouldVanish) {
  std::vector<Figure> figures = {one_line({1.0, 10.0}), one_line({1.0, 10.0})};
  for (Figure& figure : figures) figure.panels[0].y.scale = ScaleKind::kLinear;
  std::get<Line>(figures[1].panels[0].series[0]).y = {1.0, 1e4};
  share_axes(figures);
  EXPECT_FALSE(figures[0].panels[0].y.upper.has_value());
  EXPECT_TRUE(figures[0].panels[0].x.upper.has_value());
}

TEST(SharedAxes, RefuseFiguresOfDifferentPanels) {
  std::vector<Figure> figures = {one_line({1.0}), one_line({1.0})};
  figures[1].panels.push_back(figures[1].panels[0]);
  EXPECT_THROW(share_axes(figures), PreconditionError);
}

}  // namespace
}  // namespace hesscope::plot
