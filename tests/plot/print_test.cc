// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/plot/print.h>

#include "support/refusal.h"

namespace hesscope::plot {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Figure line_figure() {
  Panel panel;
  panel.series.push_back(Line{.x = {1, 2}, .y = {3, 4}, .label = "a"});
  return {.title = "A \xff title", .panels = {panel}, .width = 144, .height = 72};
}

class Print : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_print()) GTEST_SKIP() << "built without librsvg";
  }
};

TEST_F(Print, WritesAPageOfTheFiguresSize) {
  const std::string pdf = to_pdf(line_figure());
  EXPECT_THAT(pdf, StartsWith("%PDF-"));
  EXPECT_THAT(pdf, HasSubstr("/MediaBox [ 0 0 144 72 ]"));
  EXPECT_EQ(pdf, to_pdf(line_figure()));
}

TEST_F(Print, WritesPixelsOfTheResolution) {
  const std::string png = to_png(line_figure(), 100);
  EXPECT_THAT(png, StartsWith("\x89PNG\r\n\x1a\n"));
  EXPECT_EQ(png.substr(16, 8), std::string("\0\0\0\xc8\0\0\0\x64", 8));  // 200 x 100
  EXPECT_EQ(to_png(line_figure()).substr(16, 8), std::string("\0\0\2\x58\0\0\1\x2c", 8));
}

TEST_F(Print, RefusesResolutionsThatCannotBe) {
  for (const double dots : {9.9, 2400.1, -300.0, std::nan("")}) {
    test::expect_refusal([&] { to_png(line_figure(), dots); }, "from 10 to 2400 dots per inch");
  }
  Figure large = line_figure();
  large.width = large.height = 5000;
  EXPECT_THROW(to_png(large, 1000), ConfigError);
  EXPECT_THROW(to_png({}, 100), PreconditionError);
}

TEST(PrintOrNot, SaysWhatIsMissing) {
  if (can_print()) GTEST_SKIP() << "built with librsvg";
  EXPECT_THROW(to_pdf(line_figure()), OutputError);
  EXPECT_THROW(to_png(line_figure()), OutputError);
}

}  // namespace
}  // namespace hesscope::plot
