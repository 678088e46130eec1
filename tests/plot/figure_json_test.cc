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

// Without its numbers.
std::string text_of(const Figure& figure) {
  NumberPool pool;
  return to_json(figure, pool).compact();
}

TEST(FigureJson, NumbersAreExact) {
  NumberPool pool;
  const std::string json = to_json(one_line({0.1, kNaN}), pool).compact();
  EXPECT_TRUE(contains(json, R"("y":{"at":2,"count":2})")) << json;
  ASSERT_EQ(pool.numbers().size(), 4U);
  EXPECT_EQ(pool.numbers()[2], 0.1);
  EXPECT_TRUE(std::isnan(pool.numbers()[3]));
}

TEST(FigureJson, SaysWhichPointsAreUncertain) {
  Figure figure = one_line({3, 2, 1});
  EXPECT_FALSE(contains(text_of(figure), "uncertain"));
  std::get<Line>(figure.panels[0].series[0]).uncertain = {false, true, true};
  EXPECT_TRUE(contains(text_of(figure), R"("uncertain":[1,2])")) << text_of(figure);
}

TEST(NumberPool, HoldsEqualListsOnce) {
  NumberPool pool;
  const std::string first = pool.add({1, kNaN}).compact();
  EXPECT_EQ(pool.add({2, 3, 4}).compact(), R"({"at":2,"count":3})");
  EXPECT_EQ(pool.add({1, kNaN}).compact(), first);
  EXPECT_NE(pool.add({0.0}).compact(), pool.add({-0.0}).compact());
  EXPECT_EQ(pool.add({}).compact(), pool.add({}).compact());
  EXPECT_EQ(pool.numbers().size(), 7U);
}

TEST(FigureJson, SaysWhatTheDrawingWouldSay) {
  const std::string json = text_of(one_line({1.0, 10.0, kNaN, -2.0}));
  EXPECT_TRUE(contains(json, R"("note":"1 value missing, 1 value ≤ 0 not shown")")) << json;
  EXPECT_TRUE(contains(json, R"("scale":"log")")) << json;
  EXPECT_TRUE(contains(json, R"("colour":"#0072b2")")) << json;
  EXPECT_TRUE(contains(text_of(one_line({kNaN})), R"("empty":true)"));
}

TEST(FigureJson, RefusesWhatCannotBeDrawn) {
  EXPECT_THROW(text_of(Figure{}), PreconditionError);
  Figure figure = one_line({1.0, 2.0});
  std::get<Line>(figure.panels[0].series[0]).x.pop_back();
  EXPECT_THROW(text_of(figure), PreconditionError);
}

TEST(FigureJson, ContourLevelsAreEquallySpacedOnTheScale) {
  Panel panel;
  panel.colour_bar = ColourBar{.label = "loss", .scale = ScaleKind::kLog};
  panel.series.push_back(
      FilledContours{.grid = {.x = {0, 1}, .y = {0, 1}, .values = {1e-3, 1e-1, 1, 1e4}}});
  const std::string json = text_of({.panels = {panel}});
  EXPECT_TRUE(contains(json, R"("levels":{"at":)")) << json;
  EXPECT_TRUE(contains(json, R"("colours":["#440154")")) << json;
}

TEST(FigureJson, HasMarksAndWhatShinesThrough) {
  Figure figure = one_line({3, 2, 1});
  figure.panels[0].series.push_back(Marks{.x = {7}, .label = "failed"});
  figure.panels[0].series.push_back(Scatter{.x = {1}, .y = {2}, .opacity = 0.5});
  const std::string json = text_of(figure);
  EXPECT_TRUE(contains(json, R"("kind":"marks","label":"failed")")) << json;
  EXPECT_TRUE(contains(json, R"("opacity":0.5)")) << json;
}

TEST(SharedAxes, HoldThePanelsOfOneFigure) {
  Figure figure = one_line({1.0, 10.0});
  figure.panels.push_back(one_line({1e-3, 1.0, 5.0}).panels[0]);
  figure.panels.push_back(one_line({kNaN}).panels[0]);  // has no range of its own
  share_axes(figure);
  for (const Panel& panel : figure.panels) {
    EXPECT_LE(*panel.y.lower, 1e-3);
    EXPECT_EQ(panel.y.lower, figure.panels[0].y.lower);
    EXPECT_EQ(panel.x.upper, figure.panels[0].x.upper);
  }
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

TEST(SharedAxes, LeaveScalesOfTwoKinds) {
  std::vector<Figure> figures = {one_line({1.0, 10.0}), one_line({-1.0, 10.0})};
  figures[1].panels[0].y.scale = ScaleKind::kLinear;
  share_axes(figures);
  EXPECT_FALSE(figures[0].panels[0].y.lower.has_value());
  EXPECT_FALSE(figures[1].panels[0].y.lower.has_value());
  EXPECT_TRUE(figures[0].panels[0].x.upper.has_value());
}

TEST(SharedAxes, RefuseFiguresOfDifferentPanels) {
  std::vector<Figure> figures = {one_line({1.0}), one_line({1.0})};
  figures[1].panels.push_back(figures[1].panels[0]);
  EXPECT_THROW(share_axes(figures), PreconditionError);
}

}  // namespace
}  // namespace hesscope::plot
