// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
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
  EXPECT_EQ(nearest("m", std::vector<std::string>{"x", "M"}), "M");
  EXPECT_EQ(nearest("m", std::vector<std::string>{"x"}), "");  // one edit, and nothing alike
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

TEST(Nearest, PrefersTheFirstNameThatBeginsSo) {
  const std::vector<std::string> options = {"--prove", "--problem", "--probes", "--quiet"};
  EXPECT_EQ(nearest("--prob", options), "--problem");  // the others are nearer
  EXPECT_EQ(nearest("--prov", options), "--prove");
  EXPECT_EQ(nearest("--probe", options), "--prove");  // one edit away
  EXPECT_EQ(nearest("--qu", options), "");            // too little to go by
  EXPECT_EQ(nearest("activ", kKnownKeys), "activation");
  EXPECT_EQ(nearest("step", std::vector<std::string>{"steepest", "stop", "stepwise"}), "stop");
}

TEST(Nearest, FindsANameByOneOfItsParts) {
  const std::vector<std::string> names = {"noise", "tangent-kernel", "model_state_dict.0"};
  EXPECT_EQ(nearest("kernel", names), "tangent-kernel");
  EXPECT_EQ(nearest("tangent", names), "tangent-kernel");
  EXPECT_EQ(nearest("model", names), "model_state_dict.0");
  EXPECT_EQ(nearest("state_dict", names), "model_state_dict.0");
  EXPECT_EQ(nearest("kern", names), "");  // not a whole part
  EXPECT_EQ(nearest("0", names), "");     // too little to go by
  EXPECT_EQ(nearest("noisy", names), "noise");
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

struct Shape {
  std::string name;
  int corners;
};

const std::vector<Shape> kShapes = {{"triangle", 3}, {"square", 4}};

TEST(FindNamed, IsTheOneOfThisName) {
  EXPECT_EQ(&find_named(kShapes, "square", "shape"), &kShapes[1]);
  EXPECT_EQ(find_or_null(kShapes, "triangle"), kShapes.data());
}

TEST(FindNamed, SaysWhatThereIsInstead) {
  try {
    find_named(kShapes, "sqare", "shape");
    FAIL() << "found a shape that is not there";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "unknown shape 'sqare' (did you mean 'square'?); there are triangle, square");
  }
}

TEST(FindNamed, SuggestsNothingThatIsNotNear) {
  EXPECT_THAT(
      [] { find_named(kShapes, "hexagon", "shape"); },
      testing::ThrowsMessage<ConfigError>("unknown shape 'hexagon'; there are triangle, square"));
}

TEST(FindNamed, TakesNamesOfAnyTextAndKindsInAnyList) {
  struct Side {
    const char* name;
  };

  constexpr Side kSides[] = {{"left"}, {"right"}};
  EXPECT_EQ(&find_named(kSides, "right", "side"), &kSides[1]);
  EXPECT_THAT(names_of(kSides), testing::ElementsAre("left", "right"));
}

TEST(FindOrNull, FindsNothingAmongNothing) {
  EXPECT_EQ(find_or_null(kShapes, "hexagon"), nullptr);
  EXPECT_EQ(find_or_null(std::vector<Shape>(), "square"), nullptr);
}

TEST(NameAmong, EndsASentence) {
  EXPECT_EQ("no key is named " + name_among("layer", kKnownKeys),
            "no key is named 'layer' (did you mean 'layers'?); there are kind, layers, "
            "parametrization, activation");
}

}  // namespace
}  // namespace hesscope
