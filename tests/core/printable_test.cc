// SPDX-License-Identifier: BSD-3-Clause
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/printable.h>

namespace hesscope {
namespace {

using namespace std::string_view_literals;

TEST(Printable, IsTextWithoutControlCharacters) {
  for (const auto text :
       {""sv, "a b~"sv, "caf\xc3\xa9"sv, "\xe2\x88\x9a"sv, "\xf0\x9f\x98\x80"sv}) {
    EXPECT_TRUE(is_printable_utf8(text)) << text;
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, IsNothingElse) {
  for (const auto text : {
           "\x1b[2J"sv,          // what terminals obey
           "a\nb"sv,             //
           "a\0b"sv,             //
           "\x7f"sv,             //
           "\xc2\x9b"sv,         // U+009B: the same as ESC [
           "\xff"sv,             // no UTF-8
           "\xc3"sv,             // cut off
           "\xc0\xaf"sv,         // longer than need be
           "\xed\xa0\x80"sv,     // half of a surrogate pair
           "\xf4\x90\x80\x80"sv  // beyond U+10FFFF
       }) {
    EXPECT_FALSE(is_printable_utf8(text)) << escaped(text);
    EXPECT_TRUE(is_printable_utf8(printable(text))) << escaped(text);
  }
}

TEST(Printable, ShowsBytes) {
  EXPECT_EQ(escaped("a\x1b[2J\xc3\xa9"), "a\\x1b[2J\\xc3\\xa9");
  EXPECT_EQ(printable("a\nb"), "a\\x0ab");
  EXPECT_EQ(printable("a\nb\tc", "\n"), "a\nb\\x09c");
  EXPECT_EQ(printable("\xc3\xa9\x1b\xff\xc2\x9b."), "\xc3\xa9\\x1b\\xff\\xc2\\x9b.");
}

TEST(Printable, SplitsTextIntoCharacters) {
  const std::vector<std::string_view> expected = {"a", "\u00e9", "\xff", "\u2026"};
  EXPECT_EQ(utf8_characters("a\u00e9\xff\u2026"), expected);
  EXPECT_TRUE(utf8_characters("").empty());
}

TEST(Printable, TellsUtf8FromOtherBytes) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("a\n\xc3\xa9"));
  EXPECT_FALSE(is_utf8("caf\xe9"));
  EXPECT_EQ(utf8_length("\xe2\x88\x9a."), 3);
  EXPECT_EQ(utf8_length("\xe2\x88"), 0);
  EXPECT_EQ(utf8_length(""), 0);
}

}  // namespace
}  // namespace hesscope
