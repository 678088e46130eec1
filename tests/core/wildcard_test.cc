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

TEST(Wildcard, StandsForOneOfSeveral) {
  EXPECT_TRUE(matches_wildcard("W[QK]", "WQ"));
  EXPECT_TRUE(matches_wildcard("layers.*.W[QKVO]", "layers.12.WO"));
  EXPECT_TRUE(matches_wildcard("[\u00e9\u20ac]*", "\u20ac.b"));
  EXPECT_FALSE(matches_wildcard("W[QK]", "WV"));
  EXPECT_FALSE(matches_wildcard("W[QK]", "W"));
  EXPECT_FALSE(matches_wildcard("W[]", "W"));
}

TEST(Wildcard, TakesBracketsAndAllOthersAsTheyAre) {
  EXPECT_TRUE(matches_wildcard("layers[0].w", "layers[0].w"));
  EXPECT_TRUE(matches_wildcard("layers[0].*", "layers[0].w"));
  EXPECT_TRUE(matches_wildcard("params['a", "params['a"));
  EXPECT_TRUE(matches_wildcard("a\\b*", "a\\b.c"));
}

TEST(Wildcard, TakesNoTimeForManyStars) {
  EXPECT_FALSE(matches_wildcard("*a*a*a*a*a*a*a*a*b", std::string(10'000, 'a')));
  EXPECT_TRUE(matches_wildcard(std::string(10'000, '*'), std::string(1'000, 'a')));
}

}  // namespace
}  // namespace hesscope
