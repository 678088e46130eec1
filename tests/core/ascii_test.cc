// SPDX-License-Identifier: BSD-3-Clause
#include <cctype>
#include <string>

#include <gtest/gtest.h>

#include <hesscope/core/ascii.h>

namespace hesscope {
namespace {

// Those of the C locale, of every char; of bytes above 127 none, of whatever sign a char is.
TEST(Ascii, AgreesWithTheCLocale) {
  for (int code = 0; code < 256; ++code) {
    const auto c = static_cast<char>(code);
    const bool is_ascii = code < 128;
    EXPECT_EQ(is_digit(c), is_ascii && std::isdigit(code) != 0) << code;
    EXPECT_EQ(is_letter(c), is_ascii && std::isalpha(code) != 0) << code;
    EXPECT_EQ(is_letter_or_digit(c), is_ascii && std::isalnum(code) != 0) << code;
    EXPECT_EQ(lower_case(c), is_ascii ? static_cast<char>(std::tolower(code)) : c) << code;
    EXPECT_EQ(upper_case(c), is_ascii ? static_cast<char>(std::toupper(code)) : c) << code;
  }
}

TEST(Ascii, WholeTexts) {
  EXPECT_EQ(lower_case(std::string("Ab-\u00c4.9")), "ab-\u00c4.9");
  EXPECT_EQ(upper_case(std::string("aB-\u00e4.9")), "AB-\u00e4.9");
  EXPECT_EQ(capitalized("sharpness"), "Sharpness");
  EXPECT_EQ(capitalized(""), "");
  EXPECT_TRUE(is_all_digits("0123456789"));
  EXPECT_FALSE(is_all_digits(""));
  EXPECT_FALSE(is_all_digits("1.5"));
  EXPECT_FALSE(is_all_digits("-1"));
}

}  // namespace
}  // namespace hesscope
