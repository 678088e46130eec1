// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/problem/internal/parameter_names.h>
#include <hesscope/problem/internal/parameter_order.h>

namespace hesscope::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::int64_t> kMatrix = {3, 3};
const std::vector<std::int64_t> kColumn = {3};

// As the checkpoint lists them; blocks are in the model's order of natural numbers.
std::vector<ListedParameter> matrices(const std::vector<std::string>& names,
                                      const std::vector<std::size_t>& blocks) {
  std::vector<ListedParameter> all;
  for (std::size_t i = 0; i < names.size(); ++i) all.push_back({names[i], blocks[i], kMatrix});
  return all;
}

std::vector<NumberedParameter> numbered(std::size_t count) {
  return std::vector<NumberedParameter>(count, {.group = 0, .shape = kMatrix});
}

TEST(ParameterOrder, IsTheCheckpointsAsARule) {
  const ParameterOrder order = order_parameters(matrices({"q", "a", "z"}, {1, 0, 2}), numbered(3));
  EXPECT_THAT(order.blocks, ElementsAre(1, 0, 2));
  EXPECT_THAT(order.warning, IsEmpty());
  EXPECT_THAT(order.obstacle, IsEmpty());
}

TEST(ParameterOrder, IsNotDoubtedWhereNamesAreSortedAsInTheModel) {
  const ParameterOrder order =
      order_parameters(matrices({"layers.0", "layers.1", "layers.2"}, {0, 1, 2}), numbered(3));
  EXPECT_THAT(order.blocks, ElementsAre(0, 1, 2));
  EXPECT_THAT(order.warning, IsEmpty());
}

TEST(ParameterOrder, IsTheModelsWithAWarningWhereNamesAreSortedOtherwise) {
  const ParameterOrder order =
      order_parameters(matrices({"layers.1", "layers.10", "layers.2"}, {0, 2, 1}), numbered(3));
  EXPECT_THAT(order.blocks, ElementsAre(0, 1, 2));
  EXPECT_THAT(order.warning, HasSubstr("'layers.1', 'layers.10', ... stand in alphabetical order"));
}

// A module may name its layers so.
TEST(ParameterOrder, IsOpenWhereNamesAreSortedInAFormatThatKeepsTheirOrder) {
  const std::vector<ListedParameter> listed = matrices({"fc1", "fc2", "fc10"}, {2, 1, 0});
  const ParameterOrder open = order_parameters(listed, numbered(3), true);
  EXPECT_THAT(open.blocks, ElementsAre(2, 1, 0));  // not in alphabetical order
  const std::vector<ListedParameter> sorted = matrices({"fc1", "fc2", "fc3"}, {2, 1, 0});
  const ParameterOrder either = order_parameters(sorted, numbered(3), true);
  EXPECT_TRUE(either.is_open);
  EXPECT_THAT(either.obstacle, HasSubstr("as the checkpoint lists them or as the model does"));
  EXPECT_THAT(order_parameters(sorted, numbered(3), false).blocks, ElementsAre(0, 1, 2));
  const std::vector<ListedParameter> betrayed =
      matrices({"layers.1", "layers.10", "layers.2"}, {0, 2, 1});
  EXPECT_THAT(order_parameters(betrayed, numbered(3), true).blocks, ElementsAre(0, 1, 2));
}

TEST(ParameterOrder, IsTheCheckpointsWhereShapesContradictTheModels) {
  std::vector<ListedParameter> listed = matrices({"a", "b", "c", "d"}, {1, 2, 0, 3});
  listed[2].shape = kColumn;
  std::vector<NumberedParameter> numbers = numbered(4);
  numbers[2].shape = kColumn;
  const ParameterOrder order = order_parameters(listed, numbers);
  EXPECT_THAT(order.blocks, ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(order.warning, IsEmpty());
}

TEST(ParameterOrder, FollowsFromShapesThatAreAllDifferent) {
  const std::vector<ListedParameter> listed = {{"b", 1, {3}}, {"w", 0, {3, 2}}, {"v", 2, {2, 3}}};
  const std::vector<NumberedParameter> numbers = {
      {.shape = {{3, 2}}}, {.shape = {{3}}}, {.group = 1, .shape = {{2, 3}}}};
  EXPECT_THAT(order_parameters(listed, numbers).blocks, ElementsAre(0, 1, 2));
}

TEST(ParameterOrder, FollowsFromShapesWithinGroups) {
  std::vector<ListedParameter> listed =
      matrices({"0.weight", "0.bias", "1.weight", "1.bias"}, {0, 1, 2, 3});
  listed[1].shape = listed[3].shape = kColumn;
  const std::vector<NumberedParameter> numbers = {
      {0, kMatrix}, {0, kMatrix}, {1, kColumn}, {1, kColumn}};
  EXPECT_THAT(order_parameters(listed, numbers).blocks, ElementsAre(0, 2, 1, 3));
}

TEST(ParameterOrder, IsUnknownWhereGroupsHoldEqualShapes) {
  const std::vector<NumberedParameter> numbers = {{0, kMatrix}, {0, kMatrix}, {1, kMatrix}};
  const ParameterOrder order = order_parameters(matrices({"z", "y", "x"}, {0, 1, 2}), numbers);
  EXPECT_THAT(order.blocks, IsEmpty());
  EXPECT_THAT(order.obstacle, HasSubstr("several groups of parameters"));
}

TEST(ParameterOrder, NamesWhatContradictsIt) {
  std::vector<ListedParameter> listed = matrices({"w", "z", "y"}, {0, 1, 2});
  std::vector<NumberedParameter> numbers = numbered(3);
  numbers[1].shape = kColumn;
  EXPECT_THAT(order_parameters(listed, numbers).obstacle,
              HasSubstr("parameter 1 has shape (3,), but 'z' has (3, 3)"));
  numbers.pop_back();
  EXPECT_THAT(order_parameters(listed, numbers).obstacle,
              HasSubstr("it is of 2 parameters, the model has 3"));
}

// Half a million ways to deal forty parameters out are not all tried.
TEST(ParameterOrder, GivesUpOnTooManyWays) {
  std::vector<std::string> names;
  std::vector<std::size_t> blocks;
  std::vector<NumberedParameter> numbers;
  for (std::size_t i = 0; i < 40; ++i) {
    names.push_back("p" + std::to_string(99 - i));
    blocks.push_back(i);
    numbers.push_back({i % 20, i == 39 ? kColumn : kMatrix});
  }
  EXPECT_FALSE(order_parameters(matrices(names, blocks), numbers).obstacle.empty());
}

TEST(ParameterNames, AreOursOrTheFilesWithoutKeysAndWrappers) {
  const std::vector<NamedParameter> ours = {{"layers.0.weight", "state.model.net.0.w", 0},
                                            {"layers.1.weight", "state.model.net.1.w", 1}};
  const auto blocks = [&](const std::vector<std::string>& theirs) {
    return blocks_by_name(theirs, ours);
  };
  EXPECT_THAT(blocks({"layers.1.weight", "layers.0.weight"}), ElementsAre(1, 0));
  EXPECT_THAT(blocks({"net.1.w", "net.0.w"}), ElementsAre(1, 0));
  EXPECT_THAT(blocks({"module.model.net.1.w", "other"}), ElementsAre(1, std::nullopt));
  EXPECT_THAT(blocks({"_orig_mod.net._fsdp_wrapped_module.0.w"}), ElementsAre(0));
  EXPECT_THAT(blocks({"w", "0.w"}), ElementsAre(std::nullopt, 0));
}

}  // namespace
}  // namespace hesscope::detail
