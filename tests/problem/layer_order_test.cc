// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/problem/internal/layer_order.h>

namespace hesscope::detail {
namespace {

using Rules = std::vector<io::TensorRule>;
using Tensors = std::vector<io::TensorInfo>;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

bool anything(const Rules& rules) { return !rules.empty(); }

/// A layer (out, in) with its vector.
void add(Tensors& tensors, const std::string& name, std::int64_t out, std::int64_t in) {
  tensors.push_back({.name = name + ".weight", .shape = {out, in}});
  tensors.push_back({.name = name + ".bias", .shape = {out}});
}

Tensors chain_of(const std::vector<std::string>& names) {  // 3, 8, ..., 8, 4
  Tensors tensors;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_last = i + 1 == names.size();
    add(tensors, names[i], is_last ? 4 : 8, i == 0 ? 3 : 8);
  }
  return tensors;
}

std::vector<std::string> weights(const LayerOrder& order) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < order.rules.size(); i += 2) all.push_back(order.rules[i].source);
  return all;
}

std::vector<std::string> sources(const LayerOrder& order) {
  std::vector<std::string> all;
  for (const io::TensorRule& rule : order.rules) all.push_back(rule.source);
  return all;
}

TEST(LayersByShapes, TakesNoOrderOfEqualShapesFromASortedFile) {
  Tensors tensors = chain_of({"embed", "ffn", "hidden", "out"});
  const LayerOrder sorted = layers_by_shapes(tensors, false, anything);
  EXPECT_THAT(sorted.rules, IsEmpty());
  EXPECT_EQ(sorted.doubt, "'ffn.weight' and 'hidden.weight' could be either way round");
  const LayerOrder kept = layers_by_shapes(tensors, true, anything);
  EXPECT_EQ(kept.doubt, "");
  EXPECT_THAT(weights(kept),
              ElementsAre("embed.weight", "ffn.weight", "hidden.weight", "out.weight"));
  Tensors by_name = tensors;
  std::ranges::sort(by_name, {}, &io::TensorInfo::name);
  EXPECT_EQ(layers_by_shapes(by_name, true, anything).doubt, sorted.doubt);
  // If the order of a file is not an order of layers, it says nothing about layers of equal shape
  // either.
  std::swap(tensors[0], tensors[6]);
  std::swap(tensors[1], tensors[7]);
  EXPECT_EQ(layers_by_shapes(tensors, true, anything).doubt, sorted.doubt);
}

TEST(LayersByShapes, TakesTheOrderOfDifferentShapesFromTheirChain) {
  Tensors tensors;
  add(tensors, "z", 8, 3);
  add(tensors, "a", 2, 4);
  add(tensors, "m", 4, 8);
  const LayerOrder order = layers_by_shapes(tensors, false, anything);
  EXPECT_EQ(order.doubt, "");
  EXPECT_THAT(weights(order), ElementsAre("z.weight", "m.weight", "a.weight"));
  EXPECT_EQ(order.rules[1].source, "z.bias");
}

TEST(LayersByShapes, NumbersInNamesDecide) {
  const std::vector<std::string> expected = {
      "net.0.weight", "net.2.weight", "net.10.weight", "net.head.weight"};
  Tensors tensors = chain_of({"net.0", "net.10", "net.2", "net.head"});
  EXPECT_EQ(weights(layers_by_shapes(tensors, false, anything)), expected);
  // The file's order is not theirs: either may be meant.
  EXPECT_EQ(layers_by_shapes(tensors, true, anything).doubt,
            "'net.2.weight' and 'net.10.weight' could be either way round");
  EXPECT_THAT(weights(layers_by_shapes(chain_of({"d_9", "d_11", "d", "d_10"}), false, anything)),
              IsEmpty());  // 8 to 8 before 3 to 8
  EXPECT_THAT(weights(layers_by_shapes(chain_of({"d", "d_10", "d_9", "d_11"}), false, anything)),
              ElementsAre("d.weight", "d_9.weight", "d_10.weight", "d_11.weight"));
  // If the numbers cannot be those of layers, they mean something else.
  EXPECT_THAT(weights(layers_by_shapes(chain_of({"l3", "l2", "l1"}), false, anything)),
              ElementsAre("l3.weight", "l2.weight", "l1.weight"));
}

TEST(LayersByShapes, TellsWhichVectorGoesWithWhichMatrix) {
  const Tensors by_word = {{.name = "b/w", .shape = {4, 4}},
                           {.name = "a/w", .shape = {4, 3}},
                           {.name = "a/b", .shape = {4}},
                           {.name = "b/b", .shape = {4}}};
  const LayerOrder order = layers_by_shapes(by_word, false, anything);
  ASSERT_EQ(order.rules.size(), 4U);
  EXPECT_EQ(order.rules[1].source, "a/b");
  EXPECT_EQ(order.rules[3].source, "b/b");
  const Tensors without = {{.name = "first", .shape = {4, 3}},
                           {.name = "second", .shape = {4, 4}},
                           {.name = "one_shift", .shape = {4}},
                           {.name = "other_shift", .shape = {4}}};
  EXPECT_EQ(layers_by_shapes(without, false, anything).doubt,
            "'one_shift' and 'other_shift' could be either way round");
  EXPECT_THAT(weights(layers_by_shapes(without, true, anything)), ElementsAre("first", "second"));
}

TEST(LayersByShapes, AllOfThemOrTheLastMayLackAVector) {
  Tensors tensors = chain_of({"z", "m", "a"});
  tensors.pop_back();
  const LayerOrder hidden = layers_by_shapes(tensors, true, anything);
  ASSERT_EQ(hidden.rules.size(), 5U);
  EXPECT_EQ(hidden.rules[3].source, "m.bias");
  EXPECT_EQ(hidden.rules[4].source, "a.weight");
  std::erase_if(tensors, [](const io::TensorInfo& tensor) { return tensor.shape.size() == 1; });
  std::ranges::reverse(tensors);
  EXPECT_EQ(layers_by_shapes(tensors, false, anything).doubt,
            "its matrices could all be (out, in), or all (in, out)");
  const auto takes_three = [](const Rules& rules) { return rules.front().source == "z.weight"; };
  EXPECT_THAT(sources(layers_by_shapes(tensors, false, takes_three)),
              ElementsAre("z.weight", "m.weight", "a.weight"));
  // The first layer has none, the others have one.
  Tensors first = chain_of({"z", "m", "a"});
  first.erase(first.begin() + 1);
  EXPECT_THAT(layers_by_shapes(first, true, anything).rules, IsEmpty());
}

TEST(LayersByShapes, SquareMatricesCouldBeTransposed) {
  Tensors tensors;
  add(tensors, "net.0", 2, 2);
  add(tensors, "net.2", 2, 2);
  const LayerOrder order = layers_by_shapes(tensors, true, anything);
  EXPECT_THAT(order.rules, IsEmpty());
  EXPECT_EQ(order.doubt, "its matrices could all be (out, in), or all (in, out)");
}

TEST(LayersByShapes, LooksAtWhatTheDataSay) {
  // 3 to 8 to 3, from either.
  Tensors tensors;
  add(tensors, "one", 8, 3);
  add(tensors, "other", 3, 8);
  EXPECT_EQ(layers_by_shapes(tensors, false, anything).doubt,
            "'one.weight' and 'other.weight' could be either way round");
  const auto takes_eight = [](const Rules& rules) {
    return rules.front().source == "other.weight";
  };
  EXPECT_THAT(weights(layers_by_shapes(tensors, false, takes_eight)),
              ElementsAre("other.weight", "one.weight"));
  const LayerOrder none = layers_by_shapes(tensors, false, [](const Rules&) { return false; });
  EXPECT_THAT(none.rules, IsEmpty());
  EXPECT_EQ(none.doubt, "");
}

TEST(LayersByShapes, HoldsManyLayers) {
  std::vector<std::string> names;
  for (int i = 0; i < 400; ++i) names.push_back("net." + std::to_string(i));
  EXPECT_EQ(layers_by_shapes(chain_of(names), false, anything).rules.size(), 800U);
  for (std::string& name : names) name += "x" + name.substr(4);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = std::string(i % 26 + 1, 'a') + names[i];
  EXPECT_NE(layers_by_shapes(chain_of(names), false, anything).doubt, "");
  for (int i = 400; i < 501; ++i) names.push_back("net." + std::to_string(i));
  EXPECT_EQ(layers_by_shapes(chain_of(names), true, anything).doubt,
            "it has 501 layers; of more than 500 the order is not looked for");
}

}  // namespace
}  // namespace hesscope::detail
