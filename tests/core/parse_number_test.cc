// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <hesscope/core/parse_number.h>

namespace hesscope {
namespace {

TEST(ParseNumber, TakesAWholeText) {
  EXPECT_EQ(parse_number<int>("-17"), -17);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_number<double>("-2.5e-3"), -2.5e-3);
  EXPECT_EQ(parse_number<double>("inf"), std::numeric_limits<double>::infinity());
}

TEST(ParseNumber, TakesNothingElse) {
  for (const char* text : {"", " 1", "1 ", "+1", "1.5", "0x10", "1,000", "one", "-"}) {
    EXPECT_FALSE(parse_number<int>(text)) << text;
  }
  EXPECT_FALSE(parse_number<int>("2147483648"));
  EXPECT_FALSE(parse_number<std::uint64_t>("-1"));
  EXPECT_FALSE(parse_number<double>("1e999"));
  EXPECT_FALSE(parse_number<double>("1,5"));
}

}  // namespace
}  // namespace hesscope
