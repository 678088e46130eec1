// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/figures/internal/seed_bands.h>

namespace hesscope::figures {
namespace {

plot::Line line(const char* label, std::vector<double> y) {
  std::vector<double> x(y.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  return {.x = x, .y = std::move(y), .label = label};
}

TEST(SeedBands, AreMedianAndRange) {
  plot::Panel panel;
  panel.series = {
      line("Adam", {1, 5}), line("SGD", {9, 9}), line("Adam", {3, 7}), line("Adam", {2, 9})};
  merge_seeds(panel);
  ASSERT_EQ(panel.series.size(), 3U);
  const auto& band = std::get<plot::Band>(panel.series[0]);
  EXPECT_EQ(band.low, (std::vector<double>{1, 5}));
  EXPECT_EQ(band.high, (std::vector<double>{3, 9}));
  EXPECT_EQ(std::get<plot::Line>(panel.series[1]).y, (std::vector<double>{2, 7}));
  EXPECT_EQ(std::get<plot::Line>(panel.series[2]).label, "SGD");
  EXPECT_EQ(panel.note, "median and range of 3 seeds");
}

TEST(SeedBands, HaveAGapWhereASeedHasNoNumber) {
  plot::Panel panel;
  panel.series = {line("Adam", {1, kNaN, 3}), line("Adam", {2, 2, 5})};
  merge_seeds(panel);
  const std::vector<double>& y = std::get<plot::Line>(panel.series[1]).y;
  EXPECT_EQ(y[0], 1.5);
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ(y[2], 4);
}

TEST(SeedBands, LeaveLinesAtOtherPlacesAndWithoutALabel) {
  plot::Panel panel;
  panel.series = {line("Adam", {1, 2}), line("Adam", {1, 2, 3}), line("", {1}), line("", {2})};
  merge_seeds(panel);
  EXPECT_EQ(panel.series.size(), 4U);
  EXPECT_EQ(panel.note, "seeds of one label whose steps differ are drawn apart");
}

TEST(SeedBands, LeaveWhatIsNotOfOneLengthToTheDrawing) {
  plot::Panel panel;
  panel.series = {line("Adam", {1, 2}), line("Adam", {1, 2}), line("Adam", {1, 2})};
  std::get<plot::Line>(panel.series[0]).y.pop_back();
  std::get<plot::Line>(panel.series[2]).uncertain = {true};
  merge_seeds(panel);
  EXPECT_EQ(panel.series.size(), 3U);
  EXPECT_TRUE(panel.note.empty());
}

TEST(SeedBands, SayNothingOfPiecesOfALine) {
  plot::Panel panel;
  panel.series = {plot::Line{.x = {0, 1}, .y = {1, 2}, .label = "Adam"},
                  plot::Line{.x = {1, 2}, .y = {2, 3}, .label = "Adam"}};
  merge_seeds(panel);
  EXPECT_EQ(panel.series.size(), 2U);
  EXPECT_TRUE(panel.note.empty());
}

}  // namespace
}  // namespace hesscope::figures
