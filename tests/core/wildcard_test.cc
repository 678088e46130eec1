// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <gtest/gtest.h>

#include <hesscope/core/wildcard.h>

namespace hesscope {
namespace {

TEST(Wildcard, StandsForAnyTextOrNone) {
  EXPECT_TRUE(matches_wildcard("wte.*", "wte.weight"));
  EXPECT_TRUE(matches_wildcard("*.weight", "h.0.weight"));
  EXPECT_TRUE(matches_wildcard("h.*.bias", "h.0.ln.bias"));
  EXPECT_TRUE(matches_wildcard("a*b*c", "abbc"));
  EXPECT_TRUE(matches_wildcard("*", ""));
  EXPECT_TRUE(matches_wildcard("a**", "a"));
  EXPECT_TRUE(matches_wildcard("", ""));
  EXPECT_FALSE(matches_wildcard("", "a"));
  EXPECT_FALSE(matches_wildcard("wte.*", "wpe.weight"));
  EXPECT_FALSE(matches_wildcard("*.bias", "bias"));
  EXPECT_FALSE(matches_wildcard("a*b", "abc"));
}

TEST(Wildcard, StandsForOneCharacter) {
  EXPECT_TRUE(matches_wildcard("layers.?.weight", "layers.3.weight"));
  EXPECT_TRUE(matches_wildcard("*?", "ab"));
  EXPECT_TRUE(matches_wildcard("?", "\u00e9"));
  EXPECT_TRUE(matches_wildcard("a?c", "a\u20acc"));
  EXPECT_FALSE(matches_wildcard("?", ""));
  EXPECT_FALSE(matches_wildcard("*?", ""));
  EXPECT_FALSE(matches_wildcard("layers.?.weight", "layers.12.weight"));
}

TEST(Wildcard, GivesNoOtherCharacterAMeaning) {
  EXPECT_TRUE(matches_wildcard("layers[0].w", "layers[0].w"));
  EXPECT_TRUE(matches_wildcard("a\\b*", "a\\b.c"));
  EXPECT_FALSE(matches_wildcard("layers[0].w", "layers0.w"));
}

TEST(Wildcard, TakesNoTimeForManyStars) {
  EXPECT_FALSE(matches_wildcard("*a*a*a*a*a*a*a*a*b", std::string(10'000, 'a')));
}

}  // namespace
}  // namespace hesscope
