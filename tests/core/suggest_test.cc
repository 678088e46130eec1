// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/suggest.h>

namespace hesscope {
namespace {

const std::vector<std::string> kKnownKeys = {"kind", "layers", "parametrization", "activation"};

TEST(Nearest, FindsTheWordAfterOneEditOfEachKind) {
  EXPECT_EQ(nearest("layer", kKnownKeys), "layers");    // an insertion away
  EXPECT_EQ(nearest("layerss", kKnownKeys), "layers");  // a deletion
  EXPECT_EQ(nearest("leyers", kKnownKeys), "layers");   // a replacement
  EXPECT_EQ(nearest("laeyrs", kKnownKeys), "layers");   // a swap of neighbours
  EXPECT_EQ(nearest("layers", kKnownKeys), "layers");   // nothing
}

TEST(Nearest, CountsASwapOfNeighboursAsOneEdit) {
  // A three-letter word may differ by one edit only, so a swap counted as two would find nothing.
  EXPECT_EQ(nearest("teh", std::vector<std::string>{"the"}), "the");
}

TEST(Nearest, AllowsAThirdOfTheWordRoundedUp) {
  const std::vector<std::string> candidate = {"abcdef"};
  EXPECT_EQ(nearest("xycdef", candidate), "abcdef");  // 2 edits of 6 letters
  EXPECT_EQ(nearest("xyzdef", candidate), "");        // 3 edits
  EXPECT_EQ(nearest("xyzdefg", std::vector<std::string>{"abcdefg"}), "abcdefg");  // 3 of 7
  EXPECT_EQ(nearest("wxyzefg", std::vector<std::string>{"abcdefg"}), "");         // 4 of 7
}

TEST(Nearest, PrefersTheSmallerDistanceThenTheEarlierCandidate) {
  EXPECT_EQ(nearest("steps", std::vector<std::string>{"stops", "step"}), "stops");
  EXPECT_EQ(nearest("steps", std::vector<std::string>{"stop", "step"}), "step");
}

TEST(Nearest, FindsNothingAmongNothing) {
  EXPECT_EQ(nearest("layers", {}), "");
  EXPECT_EQ(nearest("", kKnownKeys), "");
  EXPECT_EQ(nearest("entirely-different", kKnownKeys), "");
}

TEST(Nearest, IsCaseSensitive) { EXPECT_EQ(nearest("KIND", kKnownKeys), ""); }

TEST(DidYouMean, IsAClauseToAppendOrNothing) {
  EXPECT_EQ(did_you_mean("layer", kKnownKeys), " (did you mean 'layers'?)");
  EXPECT_EQ(did_you_mean("zzzzzz", kKnownKeys), "");
}

}  // namespace
}  // namespace hesscope
