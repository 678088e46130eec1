// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <hesscope/core/printable.h>
#include <hesscope/plot/internal/text.h>
#include <hesscope/plot/markup.h>

namespace hesscope::plot {
namespace {

TEST(Text, MarkupRaisesAndLowers) {
  const auto runs = parse_markup("10^{-3} a_b L_{0}^{");
  ASSERT_EQ(runs.size(), 5U);
  EXPECT_EQ(runs[0].text, "10");
  EXPECT_EQ(runs[1].text, "\u22123");
  EXPECT_EQ(runs[1].level, TextRun::Level::kRaised);
  EXPECT_EQ(runs[2].text, " a_b L");
  EXPECT_EQ(runs[3].level, TextRun::Level::kLowered);
  EXPECT_EQ(runs[4].text, "^{");  // not closed: text
  EXPECT_EQ(without_markup("\u03bb_{max}"), "\u03bbmax");
}

TEST(Text, IsSafeInXml) {
  EXPECT_EQ(xml_text("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
  EXPECT_EQ(xml_text("\u03bb \u2212 \U0001f600"), "\u03bb \u2212 \U0001f600");
  EXPECT_EQ(xml_text("a\x01z"), "a\ufffdz");
  EXPECT_EQ(xml_text("\xff\xc3"), "\ufffd\ufffd");            // no UTF-8; cut off
  EXPECT_EQ(xml_text("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");  // a surrogate
  EXPECT_EQ(xml_text("\xc0\xaf"), "\ufffd\ufffd");            // overlong
  EXPECT_EQ(xml_text("\xef\xbf\xbf"), "\ufffd\ufffd\ufffd");  // U+FFFF
}

TEST(Text, IsAsWideAsItsLetters) {
  EXPECT_EQ(text_width("", 10), 0);
  EXPECT_GT(text_width("MMM", 10), text_width("iii", 10));
  EXPECT_DOUBLE_EQ(text_width("0123", 16), 2 * text_width("0123", 8));
  EXPECT_DOUBLE_EQ(text_width("\u03bb\u2212", 8), 2 * text_width("\u2212", 8));
  EXPECT_LT(text_width("10^{2}", 8), text_width("102", 8));
  EXPECT_GE(text_width("\u65e5\u672c", 8), 2 * 8);  // as wide as high
  EXPECT_GE(text_width("\U0001f600", 8), 8);
}

}  // namespace
}  // namespace hesscope::plot
