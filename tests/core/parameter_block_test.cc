// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/core/parameter_block.h>

#include "support/refusal.h"

namespace hesscope {
namespace {

using test::expect_refusal;
using Blocks = std::vector<ParameterBlock>;

const Blocks kFine = {{"w", {2, 3}, 0, 6}, {"none", {0}, 6, 0}, {"scale", {}, 6, 1}};

void expect_refused(const Blocks& blocks, const std::string& message) {
  expect_refusal([&] { require_blocks("f", blocks); }, "f: parameter block " + message);
}

TEST(ParameterBlocks, FollowOneAnother) {
  EXPECT_EQ(require_blocks("f", kFine), 7);
  EXPECT_EQ(require_blocks("f", Blocks()), 0);
  EXPECT_NO_THROW(require_blocks("f", kFine, 7));
  expect_refusal([] { require_blocks("f", kFine, 8); },
                 "f: parameter blocks hold 7 parameters, expected 8");
  expect_refused({{"w", {2}, 1, 2}}, "'w' has the offset 1, expected 0");
  expect_refused({{"w", {2}, 0, 2}, {"b", {2}, 1, 2}}, "'b' has the offset 1, expected 2");
}

TEST(ParameterBlocks, AreAsLargeAsTheirShapesSay) {
  expect_refused({{"w", {7, 9}, 0, 3}}, "'w' has the size 3, but its shape (7, 9) says 63");
  expect_refused({{"w", {}, 0, 0}}, "'w' has the size 0, but its shape () says 1");
  expect_refused({{"w", {-1, -3}, 0, 3}}, "'w' cannot have the shape (-1, -3)");
  const std::int64_t large = std::int64_t{1} << 32;
  expect_refused({{"w", {large, large}, 0, 0}}, "'w' cannot have the shape");
  const std::int64_t largest = INT64_MAX;
  expect_refused({{"w", {largest}, 0, largest}, {"b", {1}, largest, 1}},
                 "'b' ends where no index reaches");
}

TEST(ParameterBlocks, HaveNamesThatAllFilesHold) {
  expect_refused({{"", {1}, 0, 1}}, "'' needs a name");
  expect_refused({{"\xff", {1}, 0, 1}}, "'\\xff' needs a name");
  expect_refused({{std::string("w\0", 2), {1}, 0, 1}}, "'w\\x00' needs a name");
  expect_refused({{"w", {1}, 0, 1}, {"w", {1}, 1, 1}}, "'w' is there twice");
}

TEST(ParameterBlocks, WithEntriesAreTheOthersAsTheyAre) {
  const Blocks filled = with_entries(kFine);
  ASSERT_EQ(filled.size(), 2U);
  EXPECT_EQ(filled[0].name, "w");
  EXPECT_EQ(filled[1].name, "scale");
  EXPECT_EQ(require_blocks("f", filled), 7);
}

TEST(BlocksMatching, TakesAPatternThatIsANameForThatName) {
  const Blocks blocks = {
      {"layers[0].w", {2}, 0, 2}, {"layers0.w", {2}, 2, 2}, {"WQ", {1}, 4, 1}, {"WV", {1}, 5, 1}};
  const auto matching = [&](const std::string& pattern) {
    return blocks_matching(blocks, std::span(&pattern, 1));
  };
  EXPECT_EQ(matching("layers[0].w"), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(matching("layers*"), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(matching("W[QK]"), (std::vector<bool>{false, false, true, false}));
  expect_refusal<ConfigError>([&] { matching("layers[1].w"); },
                              "no parameter is named 'layers[1].w'");
}

}  // namespace
}  // namespace hesscope
