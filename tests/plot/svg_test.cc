// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/plot/internal/panel_scales.h>
#include <hesscope/plot/svg.h>

#include "plot/svg_places.h"
#include "support/refusal.h"

namespace hesscope::plot {
namespace {

using testing::HasSubstr;
using testing::Not;

const double kNaN = std::nan("");
const double kInf = kInfinity;

Figure figure_of(Panel panel) {
  return {.panels = {std::move(panel)}, .width = 300, .height = 200};
}

TEST(Svg, OfATinyFigureIsExactlyThis) {
  Panel panel;
  panel.title = "A < B";
  panel.x = {.label = "x", .lower = 0.0, .upper = 4.0};
  panel.y = {.label = "y^{2}", .lower = 0.0, .upper = 10.0};
  panel.series.push_back(Line{.x = {0, 1, 2, 3}, .y = {0, 1, kNaN, 9}, .label = "f"});
  Figure figure{.description = "Squares", .panels = {panel}, .width = 120, .height = 90};
  EXPECT_EQ(to_svg(figure), R"svg(<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="120pt" height="90pt" viewBox="0 0 120 90" role="img" font-family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif">
<title>A &lt; B</title>
<desc>Squares</desc>
<rect x="0" y="0" width="120" height="90" fill="#ffffff"/>
<g class="panel" data-left="31" data-top="29.5" data-width="76.75" data-height="31.5" data-x-scale="linear" data-x-lower="0" data-x-upper="4" data-y-scale="linear" data-y-lower="0" data-y-upper="10">
<path d="M31,29.5L31,61M69.38,29.5L69.38,61M107.75,29.5L107.75,61M31,61L107.75,61M31,45.25L107.75,45.25M31,29.5L107.75,29.5" fill="none" stroke="#e6e6e6" stroke-width="0.4" stroke-linejoin="round"/>
<g class="line" data-label="f">
<path d="M31,61L50.19,57.85" fill="none" stroke="#0072b2" stroke-width="1.25" stroke-linejoin="round"/>
<circle cx="88.56" cy="32.65" r="1" fill="#0072b2"/>
</g>
<g class="axes">
<path d="M31,29.5L31,61L107.75,61" fill="none" stroke="#222222" stroke-width="0.6" stroke-linejoin="round"/>
<path d="M31,61L31,64M69.38,61L69.38,64M107.75,61L107.75,64" fill="none" stroke="#222222" stroke-width="0.6" stroke-linejoin="round"/>
<text x="31" y="72.62" font-size="7.5" fill="#222222" text-anchor="middle">0</text>
<text x="69.38" y="72.62" font-size="7.5" fill="#222222" text-anchor="middle">2</text>
<text x="107.75" y="72.62" font-size="7.5" fill="#222222" text-anchor="middle">4</text>
<text x="69.38" y="83.88" font-size="8.5" fill="#222222" text-anchor="middle">x</text>
<path d="M28,61L31,61M28,45.25L31,45.25M28,29.5L31,29.5" fill="none" stroke="#222222" stroke-width="0.6" stroke-linejoin="round"/>
<text x="26" y="63.62" font-size="7.5" fill="#222222" text-anchor="end">0</text>
<text x="26" y="47.88" font-size="7.5" fill="#222222" text-anchor="end">5</text>
<text x="26" y="32.12" font-size="7.5" fill="#222222" text-anchor="end">10</text>
<text x="11.49" y="45.25" font-size="8.5" fill="#222222" text-anchor="middle" transform="rotate(-90 11.49 45.25)">y<tspan dy="-3.06" font-size="6.12">2</tspan></text>
<text x="31" y="13" font-size="9" fill="#222222" font-weight="bold">A &lt; B</text>
<text x="107.75" y="25.5" font-size="6.5" fill="#777777" text-anchor="end">1 value missing</text>
</g>
<g class="legend">
<text x="113.75" y="35.27" font-size="7.5" fill="#0072b2">f</text>
</g>
</g>
</svg>
)svg");
}

TEST(Svg, IsTheSameEveryTime) {
  Panel panel;
  panel.series.push_back(Line{.x = {0, 1, 2}, .y = {0.1, 0.7, 1e-3}, .label = "a"});
  EXPECT_EQ(to_svg(figure_of(panel)), to_svg(figure_of(panel)));
}

TEST(Svg, LeavesGapsWhereValuesAreMissing) {
  Panel panel;
  panel.y.scale = ScaleKind::kLog;
  panel.series.push_back(
      Line{.x = {0, 1, 2, 3, 4, 5, 6}, .y = {1, 2, kNaN, 3, 4, 0, 5}, .label = "a"});
  const std::string svg = to_svg(figure_of(panel));
  const std::size_t line = svg.find("class=\"line\"");
  const std::string path = svg.substr(svg.find("d=\"", line), svg.find("fill", line) - line);
  EXPECT_EQ(std::count(path.begin(), path.begin() + static_cast<int>(path.find('"', 3)), 'M'), 2);
  EXPECT_THAT(svg, HasSubstr("1 value missing, 1 value \u2264 0 not shown"));
  EXPECT_THAT(svg.substr(line), HasSubstr("<circle"));  // the lone last point
}

TEST(Svg, DrawsARingAroundWhatIsUncertain) {
  const auto rings = [](std::vector<bool> uncertain) {
    Panel panel;
    panel.series.push_back(
        Line{.x = {0, 1, 2}, .y = {1, kNaN, 3}, .label = "a", .uncertain = std::move(uncertain)});
    const std::string svg = to_svg(figure_of(panel));
    const std::string ring = "r=\"2.8\"";
    std::size_t count = 0;
    for (std::size_t at = svg.find(ring); at != std::string::npos; at = svg.find(ring, at + 1)) {
      ++count;
    }
    return count;
  };
  EXPECT_EQ(rings({}), 0U);
  EXPECT_EQ(rings({true, false, false}), 1U);
  EXPECT_EQ(rings({true, true, true}), 2U);  // what is missing has no place
}

TEST(Svg, SaysWhatIsEmpty) {
  Panel nothing;
  nothing.series.push_back(Line{.x = {1, 2}, .y = {kNaN, kInf}, .label = "a"});
  EXPECT_THAT(to_svg(figure_of(nothing)), HasSubstr("no values to show"));
  EXPECT_THAT(to_svg(figure_of({})), HasSubstr("no values to show"));
  Panel half = nothing;
  half.series.push_back(Line{.x = {1, 2}, .y = {3, 4}, .label = "b"});
  EXPECT_THAT(to_svg(figure_of(half)), HasSubstr("a (no values)"));
  Panel field;
  field.colour_bar.emplace();
  field.series.push_back(HeatMap{.grid = {{0, 1}, {0}, {kNaN, kNaN}}});
  EXPECT_THAT(to_svg(figure_of(field)), HasSubstr("no values to show"));
}

TEST(Svg, TellsNumbersWithoutAPlaceFromMissingOnes) {
  Panel panel;
  panel.y.scale = ScaleKind::kLog;
  panel.series.push_back(Line{.x = {0, 1}, .y = {0, 0}});
  EXPECT_FALSE(has_numbers(figure_of(panel)));
  EXPECT_TRUE(has_unplaced_numbers(figure_of(panel)));
  panel.y.scale = ScaleKind::kLinear;
  EXPECT_TRUE(has_numbers(figure_of(panel)));
  EXPECT_FALSE(has_unplaced_numbers(figure_of(panel)));
  panel.series = {Line{.x = {0, 1}, .y = {kNaN, kNaN}},
                  Reference{.intercept = 1, .is_in_range = true}};
  EXPECT_FALSE(has_numbers(figure_of(panel)));
  EXPECT_FALSE(has_unplaced_numbers(figure_of(panel)));
}

TEST(Svg, EscapesText) {
  Panel panel;
  panel.title = "<script>";
  panel.series.push_back(Line{.x = {1, 2}, .y = {3, 4}, .label = "a&b\"\xff"});
  const std::string svg = to_svg(figure_of(panel));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, HasSubstr("a&amp;b&quot;\ufffd"));
}

TEST(Svg, HasNoIdsAndLoadsNothing) {
  Panel panel;
  panel.colour_bar.emplace();
  panel.series.push_back(FilledContours{.grid = {{0, 1}, {0, 1}, {0, 1, 2, 3}}});
  const std::string svg = to_svg(figure_of(panel));
  for (const char* word : {" id=", "href", "url(", "<style", "<script", "<image"}) {
    EXPECT_THAT(svg, Not(HasSubstr(word)));
  }
}

// Heavy lines cost what can be seen of them.
TEST(Svg, OfAHeavyLineIsSmall) {
  Line line;
  for (int i = 0; i < 200'000; ++i) {
    line.x.push_back(i);
    line.y.push_back(std::sin(i * 0.731));
  }
  Panel panel;
  panel.series.push_back(line);
  EXPECT_LT(to_svg(figure_of(panel)).size(), 60'000U);
}

double awkward(std::mt19937& engine) {
  static const std::vector<double> all = {
      kNaN, kInf, -kInf, 0.0, -1.0, 1.0, 1e308, -1e308, 1e-308, 5e-324, 3e-17, 1e9, 1 + 1e-15};
  if (engine() % 3 == 0) return all[engine() % all.size()];
  return std::ldexp(static_cast<double>(engine()) - 2e9, static_cast<int>(engine() % 60) - 40);
}

std::vector<double> awkward_list(std::mt19937& engine, std::size_t count) {
  std::vector<double> list;
  for (std::size_t i = 0; i < count; ++i) list.push_back(awkward(engine));
  return list;
}

// Random figures of awkward numbers: whatever is drawn is finite and on the canvas.
TEST(Svg, DrawsNothingOutsideOfTheCanvas) {
  constexpr int kFigures = 300;
  for (unsigned seed = 0; seed < kFigures; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 engine(seed);
    Panel panel;
    panel.title = "t";
    panel.x = {.label = "x", .scale = static_cast<ScaleKind>(engine() % 3)};
    panel.y = {.label = "y", .scale = static_cast<ScaleKind>(engine() % 3)};
    panel.x.reversed = engine() % 4 == 0;
    if (engine() % 4 == 0) panel.x.lower = 0.5;
    if (engine() % 4 == 0) panel.y.upper = 2;
    panel.legend = static_cast<Legend>(engine() % 3);
    panel.colour_bar = ColourBar{.label = "c",
                                 .scale = static_cast<ScaleKind>(engine() % 3),
                                 .map = static_cast<ColourMap>(engine() % 2),
                                 .symmetric = engine() % 2 == 0};
    const std::size_t n = engine() % 30;
    const auto list = [&] { return awkward_list(engine, n); };
    switch (engine() % 4) {
      case 0:
        panel.series.push_back(Line{.x = list(), .y = list(), .label = "l", .steps = true});
        panel.series.push_back(Band{.x = list(), .low = list(), .high = list(), .label = "b"});
        break;
      case 1:
        panel.series.push_back(Scatter{.x = list(), .y = list(), .values = list(), .label = "s"});
        break;
      case 2: {
        std::vector<double> edges;
        for (std::size_t i = 0; i <= n; ++i) edges.push_back(0.1 + static_cast<double>(i));
        panel.series.push_back(Bars{.edges = edges, .heights = list(), .label = "h"});
        break;
      }
      default: {
        Grid grid{{1, 2, 5, 7}, {0.5, 3, 4}, awkward_list(engine, 12)};
        panel.colour_bar->symmetric &= panel.colour_bar->scale != ScaleKind::kLog;
        if (engine() % 2 == 0) {
          panel.series.push_back(HeatMap{.grid = grid, .numbers = true});
        } else {
          panel.series.push_back(FilledContours{.grid = grid});
        }
        panel.series.push_back(ContourLines{.grid = grid, .levels = {0, 1, kNaN}});
      }
    }
    for (const auto kind :
         {Reference::Kind::kHorizontal, Reference::Kind::kVertical, Reference::Kind::kSloped}) {
      panel.series.push_back(Reference{.kind = kind,
                                       .intercept = awkward(engine),
                                       .slope = awkward(engine),
                                       .is_in_range = engine() % 2 == 0});
    }
    expect_within(to_svg(figure_of(panel)), 300, 200);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Svg, ReachesToAReferenceThatIsInItsRange) {
  Panel panel;
  panel.y.scale = ScaleKind::kLog;
  panel.series.push_back(Line{.x = {1, 2}, .y = {1e-3, 1e-2}});
  panel.series.push_back(Reference{.intercept = 1});
  EXPECT_LT(panel_scales(panel, "panel").y.upper(), 1);
  panel.series.push_back(Reference{.intercept = 1, .is_in_range = true});
  panel.series.push_back(Reference{.intercept = -1, .is_in_range = true});  // no place on this axis
  panel.series.push_back(
      Reference{.kind = Reference::Kind::kVertical, .intercept = 9, .is_in_range = true});
  const PanelScales scales = panel_scales(panel, "panel");
  EXPECT_GE(scales.y.upper(), 1);
  EXPECT_LT(scales.x.upper(), 9);
  EXPECT_EQ(scales.note, "");
}

TEST(Svg, MagnifiesLettersAndLinesAndKeepsTheSizeAskedFor) {
  Panel panel;
  panel.series.push_back(Line{.x = {1, 2}, .y = {3, 4}, .label = "a"});
  Figure small = figure_of(panel);
  small.width = 300;
  small.height = 200;
  Figure large = small;
  large.width *= 2.5;
  large.height *= 2.5;
  large.magnification = 2.5;
  const auto below_the_first_line = [](const std::string& svg) {
    const std::size_t start = svg.find("<svg");
    return svg.substr(svg.find('\n', start));
  };
  EXPECT_THAT(to_svg(large), HasSubstr(R"(width="750pt" height="500pt" viewBox="0 0 300 200")"));
  EXPECT_EQ(below_the_first_line(to_svg(large)), below_the_first_line(to_svg(small)));
  large.width = large.height = 0;
  EXPECT_THAT(to_svg(large), HasSubstr(R"(width="850pt" height="537.5pt")"));
  for (const double none : {0.0, -1.0, kNaN, kInf}) {
    large.magnification = none;
    test::expect_refusal([&] { to_svg(large); }, "the magnification must be a positive number");
  }
}

TEST(Svg, LeavesOutNotesWhereNobodyWantsThem) {
  Panel panel;
  panel.note = "rounding";
  panel.series.push_back(Line{.x = {1, 2, 3}, .y = {3, kNaN, 4}});
  Figure figure = figure_of(panel);
  EXPECT_THAT(to_svg(figure), HasSubstr("rounding; 1 value missing"));
  figure.notes = false;
  EXPECT_THAT(to_svg(figure), Not(HasSubstr("rounding")));
  EXPECT_THAT(to_svg(figure), Not(HasSubstr("missing")));
}

TEST(Svg, TurnsLabelsThatASquarePlotHasNoRoomFor) {
  Panel panel;
  panel.colour_bar.emplace();
  panel.series.push_back(HeatMap{.grid = {{0, 1, 2}, {0, 1, 2}, std::vector<double>(9, 1)}});
  for (const double x : {0, 1, 2}) panel.x.ticks.emplace_back(x, "a tensor's name");
  Figure figure = figure_of(panel);
  figure.width = 500;  // room for all three, if the plot had it
  EXPECT_THAT(to_svg(figure), Not(HasSubstr("rotate(-90")));
  figure.panels[0].square = true;
  EXPECT_THAT(to_svg(figure), HasSubstr("rotate(-90"));
}

TEST(Svg, ListsSeriesBesideThePlotInTheirOrder) {
  Panel panel;
  panel.legend = Legend::kBeside;
  // Their lines end in another order.
  for (const auto& [label, end] : {std::pair("first", 2.0), {"second", 9.0}, {"third", 5.0}}) {
    panel.series.push_back(Line{.x = {0, 1}, .y = {0, end}, .label = label});
  }
  Figure figure = figure_of(panel);
  figure.width = 300;
  const std::string svg = to_svg(figure);
  const std::string legend = svg.substr(svg.find(R"(class="legend")"));
  const double right = number_of(svg.substr(svg.find(R"(class="panel")")), "data-left") +
                       number_of(svg.substr(svg.find(R"(class="panel")")), "data-width");
  double above = 0;
  for (const char* label : {">first<", ">second<", ">third<"}) {
    const std::size_t end = legend.find(label);
    ASSERT_NE(end, std::string::npos) << label;
    const std::string element = legend.substr(legend.rfind('<', end));
    EXPECT_GT(number_of(element, "x"), right) << label;
    EXPECT_LT(number_of(element, "x"), 290) << label;
    EXPECT_GT(number_of(element, "y"), above + 7) << label;
    above = number_of(element, "y");
  }
}

TEST(Svg, BreaksATitleThatIsWiderThanTheFigure) {
  Panel panel;
  panel.series.push_back(Line{.x = {1, 2}, .y = {1, 2}});
  Figure figure = figure_of(panel);
  figure.title = "A title of many words, and x^{2 a}";
  const std::string one_line = to_svg(figure);
  EXPECT_THAT(one_line, HasSubstr("many words, and x"));
  figure.width = 150;
  figure.height = 215;
  const std::string svg = to_svg(figure);
  EXPECT_THAT(svg, HasSubstr(">A title of many words,<"));
  EXPECT_EQ(number_of(svg.substr(svg.rfind('<', svg.find(">and x<"))), "y"), 27);
  EXPECT_GT(number_of(svg.substr(svg.find(R"(class="panel")")), "data-top"), 31);
}

TEST(Svg, SaysHowManyNamesHaveNoRoom) {
  constexpr int kCount = 60;
  for (const Legend legend : {Legend::kDirect, Legend::kInside, Legend::kBeside}) {
    Panel panel;
    panel.legend = legend;
    for (int k = 0; k < kCount; ++k) {
      const double end = k;
      panel.series.push_back(
          Line{.x = {0, 1}, .y = {0, end}, .label = "r" + std::to_string(k) + "r"});
    }
    const std::string svg = to_svg(figure_of(panel));
    int num_shown = 0;
    for (int k = 0; k < kCount; ++k) {
      num_shown += svg.find(">r" + std::to_string(k) + "r<") != std::string::npos ? 1 : 0;
    }
    const std::size_t at = svg.find(" more<");
    ASSERT_NE(at, std::string::npos);
    EXPECT_GT(num_shown, 5);
    EXPECT_EQ(std::stoi(svg.substr(svg.rfind('+', at))), kCount - num_shown);
    EXPECT_LT(number_of(svg.substr(svg.rfind('<', at)), "x"), 340 - 30);
  }
}

TEST(Svg, KeepsTheSpaceAfterAScript) {
  Panel panel;
  panel.title = "10^{2} m";
  panel.series.push_back(Line{.x = {1, 2}, .y = {1, 2}});
  EXPECT_THAT(to_svg(figure_of(panel)), HasSubstr(R"(dx="2.5">m</tspan>)"));
}

TEST(Svg, RefusesWhatDoesNotFit) {
  const auto refuses = [](Series series, const std::string& message) {
    Panel panel;
    panel.series.push_back(std::move(series));
    test::expect_refusal([&] { to_svg(figure_of(panel)); }, message);
  };
  refuses(Line{.x = {1, 2}, .y = {1}}, "panel 0, series 0: y must have 2 entries");
  refuses(Line{.x = {1}, .y = {1}, .uncertain = {true, true}}, "uncertain must have 1 entries");
  refuses(Band{.x = {1, 2}, .low = {1, 2}, .high = {1}}, "high must have 2 entries");
  refuses(Bars{.edges = {1, 2}, .heights = {1, 2}}, "one more edge than heights, got 2 and 2");
  refuses(HeatMap{.grid = {{1, 2}, {1}, {1}}}, "must have 2 values, got 1");
  refuses(HeatMap{.grid = {{2, 1}, {1}, {1, 2}}}, "must ascend");
  refuses(HeatMap{.grid = {{1, 2}, {1}, {1, 2}}}, "needs a colour bar");
  refuses(Scatter{.x = {1}, .y = {1}, .values = {1}}, "need a colour bar");
  test::expect_refusal([] { to_svg({}); }, "has no panels");
  Panel panel;
  panel.y = {.lower = 3.0, .upper = 2.0};
  test::expect_refusal([&] { to_svg(figure_of(panel)); }, "from 3 to 2");
  panel.y = {.label = "y"};
  test::expect_refusal<ConfigError>([&] { to_svg({.panels = {panel}, .width = 40, .height = 30}); },
                                    "40 x 30 points (72 are an inch, 28 a centimetre) are too few");
  test::expect_refusal([&] { to_svg({.panels = {panel}, .width = kNaN, .height = 1e9}); },
                       "at most");
}

}  // namespace
}  // namespace hesscope::plot
