// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/plot/scale.h>

#include "support/refusal.h"

namespace hesscope::plot {
namespace {

using testing::ElementsAre;

std::vector<std::string> labels(const Ticks& ticks) {
  std::vector<std::string> found;
  for (const Tick& tick : ticks.ticks) {
    if (!tick.label.empty()) found.push_back(tick.label);
  }
  return found;
}

std::vector<std::string> linear(double lower, double upper, std::size_t target) {
  return labels(choose_ticks(Scale(ScaleKind::kLinear, lower, upper), target));
}

std::vector<std::string> decades(double lower, double upper, std::size_t target) {
  return labels(choose_ticks(Scale(ScaleKind::kLog, lower, upper), target));
}

TEST(Ticks, AreMultiplesOfOneTwoAndFive) {
  EXPECT_THAT(linear(0, 10, 5), ElementsAre("0", "2", "4", "6", "8", "10"));
  EXPECT_THAT(linear(-30, 1530, 5), ElementsAre("0", "500", "1000", "1500"));
  EXPECT_THAT(linear(0, 1, 2), ElementsAre("0.0", "0.5", "1.0"));
  EXPECT_THAT(linear(-0.25, 0.21, 5), ElementsAre("\u22120.2", "\u22120.1", "0.0", "0.1", "0.2"));
  EXPECT_THAT(linear(0.1, 0.3, 4), ElementsAre("0.10", "0.15", "0.20", "0.25", "0.30"));
}

// The value of a tick is the double nearest to its label, not a sum of steps.
TEST(Ticks, AreTheNumbersTheirLabelsSay) {
  for (const double scale : {1e-9, 1e-3, 1.0, 1e4}) {
    const Ticks ticks = choose_ticks(Scale(ScaleKind::kLinear, -0.73 * scale, 1.31 * scale), 11);
    for (const Tick& tick : ticks.ticks) {
      std::string text = tick.label;
      if (text.starts_with("\u2212")) text.replace(0, std::string("\u2212").size(), "-");
      const double said = std::stod(text + "e" + std::to_string(ticks.exponent));
      EXPECT_NEAR(tick.value, said, 4e-16 * std::abs(said));
    }
    EXPECT_GE(ticks.ticks.size(), 6U);
  }
}

TEST(Ticks, ShareAPowerOfTen) {
  const Ticks small = choose_ticks(Scale(ScaleKind::kLinear, 0, 4e-4), 4);
  EXPECT_EQ(small.exponent, -4);
  EXPECT_THAT(labels(small), ElementsAre("0", "1", "2", "3", "4"));
  const Ticks large = choose_ticks(Scale(ScaleKind::kLinear, 0, 1.2e6), 6);
  EXPECT_EQ(large.exponent, 6);
  EXPECT_THAT(labels(large), ElementsAre("0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2"));
}

TEST(Ticks, OfCountsAreWhole) {
  const Scale scale(ScaleKind::kLinear, -0.1, 3.2);
  EXPECT_THAT(labels(choose_ticks(scale, 8, true)), ElementsAre("0", "1", "2", "3"));
}

TEST(Ticks, OfDecades) {
  EXPECT_THAT(decades(1e-6, 1e2, 9),
              ElementsAre("10^{\u22126}",
                          "10^{\u22125}",
                          "10^{\u22124}",
                          "10^{\u22123}",
                          "10^{\u22122}",
                          "10^{\u22121}",
                          "10^{0}",
                          "10^{1}",
                          "10^{2}"));
  EXPECT_THAT(decades(1e-6, 1e2, 3), ElementsAre("10^{\u22126}", "10^{\u22123}", "10^{0}"));
  EXPECT_THAT(decades(0.5, 200, 4), ElementsAre("1", "10", "100"));
  EXPECT_THAT(decades(0.03, 3, 7), ElementsAre("0.05", "0.1", "0.2", "0.5", "1", "2"));
  EXPECT_THAT(decades(3, 7, 4), ElementsAre("3", "4", "5", "6", "7"));
  EXPECT_THAT(decades(1.1e-7, 1.9e-7, 3), ElementsAre("1.5\u00d710^{\u22127}"));
}

TEST(Ticks, OfDecadesHaveMinorOnesBetween) {
  const Ticks ticks = choose_ticks(Scale(ScaleKind::kLog, 1, 1000), 4);
  EXPECT_EQ(ticks.ticks.size(), 28U);  // 1 to 9, 10 to 90, 100 to 900, 1000
  const Ticks sparse = choose_ticks(Scale(ScaleKind::kLog, 1e-30, 1e30), 6);
  EXPECT_EQ(sparse.ticks.size(), 61U);
}

TEST(Ticks, OfASignedScaleAreMirrored) {
  const Ticks ticks = choose_ticks(Scale(ScaleKind::kSignedLog, -100, 100, 0.1), 7);
  EXPECT_THAT(
      labels(ticks),
      ElementsAre(
          "\u221210^{2}", "\u221210^{1}", "\u221210^{0}", "0", "10^{0}", "10^{1}", "10^{2}"));
  const Ticks above = choose_ticks(Scale(ScaleKind::kSignedLog, -0.01, 100, 0.1), 5);
  EXPECT_THAT(labels(above), testing::Contains("0"));
}

TEST(Ticks, OfASignedLogAxisSayWhereNumbersOfOneDecadeAre) {
  const auto labels_of = [](double lower, double upper, double threshold) {
    return labels(choose_ticks(Scale(ScaleKind::kSignedLog, lower, upper, threshold), 6));
  };
  EXPECT_THAT(
      labels_of(-0.3, -0.04, 0.01),
      ElementsAre(
          "\u22120.30", "\u22120.25", "\u22120.20", "\u22120.15", "\u22120.10", "\u22120.05"));
  EXPECT_THAT(labels_of(0.9, 2.1, 0.1), ElementsAre("1.0", "1.2", "1.4", "1.6", "1.8", "2.0"));
  EXPECT_THAT(labels_of(-0.1, 2.1, 1), ElementsAre("0.0", "0.5", "1.0", "1.5", "2.0"));
  EXPECT_THAT(labels_of(-1.1e-9, 1.1e-9, 1),
              ElementsAre("\u22121.0\u00d710^{\u22129}",
                          "\u22120.5\u00d710^{\u22129}",
                          "0",
                          "0.5\u00d710^{\u22129}",
                          "1.0\u00d710^{\u22129}"));
}

TEST(Ticks, OfVeryManyDecadesDoNotTouch) {
  EXPECT_LE(choose_ticks(Scale(ScaleKind::kLog, 1e-300, 1e300), 8).ticks.size(), 20U);
  EXPECT_LE(choose_ticks(Scale(ScaleKind::kSignedLog, -1e300, 1e300, 1e-300), 8).ticks.size(), 20U);
}

// Whatever the range: ascending, within it, some labelled, none repeated, not too many.
TEST(Ticks, AreSaneForAnyRange) {
  for (const ScaleKind kind : {ScaleKind::kLinear, ScaleKind::kLog, ScaleKind::kSignedLog}) {
    for (double lower : {-1e300, -17.3, -1e-9, 0.0, 1e-300, 0.02, 1.0, 999.9}) {
      for (const double length : {1e-12, 1e-3, 0.7, 13.0, 5e6, 1e299}) {
        if (kind == ScaleKind::kLog && lower <= 0) lower = 1e-8;
        const double upper = lower + length * std::max(1.0, std::abs(lower));
        if (!std::isfinite(upper) || !(lower < upper)) continue;
        const Scale scale(kind, lower, upper, 1e-3);
        for (const std::size_t target : {1U, 3U, 8U}) {
          const Ticks ticks = choose_ticks(scale, target);
          SCOPED_TRACE(testing::Message() << int(kind) << " " << lower << " " << upper);
          EXPECT_FALSE(labels(ticks).empty());
          EXPECT_LE(labels(ticks).size(), 2 * target + 3);
          for (std::size_t i = 0; i < ticks.ticks.size(); ++i) {
            EXPECT_GE(scale.place(ticks.ticks[i].value), -1e-6);
            EXPECT_LE(scale.place(ticks.ticks[i].value), 1 + 1e-6);
            if (i > 0) {
              EXPECT_LT(ticks.ticks[i - 1].value, ticks.ticks[i].value);
            }
          }
        }
      }
    }
  }
}

TEST(Ticks, RefuseNone) {
  test::expect_refusal([] { choose_ticks(Scale(ScaleKind::kLinear, 0, 1), 0); }, "at least 1");
}

TEST(ShortNumber, HasFewDigits) {
  EXPECT_EQ(short_number(0.25), "0.25");
  EXPECT_EQ(short_number(-3), "\u22123");
  EXPECT_EQ(short_number(1.5e-7), "1.5\u00d710^{\u22127}");
  EXPECT_EQ(short_number(123456, 3), "1.23\u00d710^{5}");
  EXPECT_EQ(short_number(std::nan("")), "\u2013");
}

}  // namespace
}  // namespace hesscope::plot
