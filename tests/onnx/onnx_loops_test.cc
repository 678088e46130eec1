// SPDX-License-Identifier: BSD-3-Clause
//
// Bodies of loops: nodes kept next to the graph's, with names of their own.
#include <string>
#include <vector>

#include "onnx/onnx_reading.h"

namespace hesscope::test::onnx {
namespace {

using hesscope::onnx::Body;
using hesscope::onnx::Node;
using hesscope::onnx::OnnxFile;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string loop(const Names& inputs,
                 const Names& outputs,
                 const std::string& body,
                 const std::string& name = "loop") {
  return node(
      {.op = "Loop", .inputs = inputs, .outputs = outputs, .attributes = {body}, .name = name});
}

TEST(OnnxLoops, HaveBodiesWithNamesOfTheirOwn) {
  // The body names its values as the graph does, takes x from it, and has a number of its own.
  const OnnxFile file = read(ModelText{
      .nodes = {
          unnamed("Relu", {"x"}, {"h"}),
          loop({"m", "c", "h"},
               {"y"},
               subgraph("body",
                        {"i", "c", "h"},
                        {unnamed("Add", {"h", "x"}, {"s"}), unnamed("Mul", {"s", "w"}, {"y"})},
                        {"c", "y"},
                        {tensor("w", kFloat, {}, floats({2}))})),
          unnamed("Relu", {"y"}, {"s"})}});
  ASSERT_EQ(file.nodes.size(), 3);
  const Node& node = file.nodes[1];
  EXPECT_THAT(node.inputs, ElementsAre("m", "c", "h", "x"));
  EXPECT_THAT(node.outputs, ElementsAre("y"));
  EXPECT_THAT(node.attributes, IsEmpty());
  ASSERT_NE(node.body, nullptr);
  const Body& body = *node.body;
  EXPECT_THAT(body.inputs, ElementsAre("loop/body/i", "loop/body/c", "loop/body/h"));
  EXPECT_THAT(body.outputs, ElementsAre("loop/body/c", "loop/body/y"));
  ASSERT_EQ(body.nodes.size(), 3);
  EXPECT_EQ(body.nodes[0].op, "Constant");
  EXPECT_THAT(body.nodes[0].outputs, ElementsAre("loop/body/w"));
  EXPECT_EQ(body.nodes[1].name, "loop/body/Add");
  EXPECT_THAT(body.nodes[1].inputs, ElementsAre("loop/body/h", "x"));
  EXPECT_THAT(body.nodes[2].inputs, ElementsAre("loop/body/s", "loop/body/w"));
  EXPECT_EQ(file.all_nodes().size(), 6);
  EXPECT_EQ(file.all_nodes()[4], &node);  // behind its body
}

TEST(OnnxLoops, MayStandInLoopsAndBranches) {
  const std::string inner =
      loop({"m", "", "h"},
           {"g"},
           subgraph("body", {"j", "c", "k"}, {unnamed("Add", {"k", "x"}, {"l"})}, {"c", "l"}),
           "inner");
  const std::string outer =
      loop({"m", "", "x"}, {"y"}, subgraph("body", {"i", "c", "h"}, {inner}, {"c", "g"}), "outer");
  const OnnxFile file =
      read(ModelText{.nodes = {node({.op = "If",
                                     .inputs = {"c"},
                                     .outputs = {"z"},
                                     .attributes = {subgraph("then_branch", {}, {outer}, {"y"}),
                                                    subgraph("else_branch", {}, {}, {"x"})},
                                     .name = "if"})}});
  ASSERT_EQ(file.nodes.size(), 2);
  const Node& node = file.nodes[0];
  EXPECT_EQ(node.guards.size(), 1);
  ASSERT_NE(node.body, nullptr);
  EXPECT_THAT(node.inputs, ElementsAre("m", "", "x", "m", "x"));  // the last two the body takes
  ASSERT_EQ(node.body->nodes.size(), 1);
  const Node& in_loop = node.body->nodes[0];
  EXPECT_THAT(in_loop.guards, IsEmpty());
  EXPECT_THAT(in_loop.inputs, ElementsAre("m", "", "if/then_branch/outer/body/h", "x"));
  ASSERT_NE(in_loop.body, nullptr);
  EXPECT_EQ(in_loop.body->nodes[0].name, "if/then_branch/outer/body/inner/body/Add");
}

TEST(OnnxLoops, HaveNamesThatTheFileSpellsNowhere) {
  const OnnxFile file =
      read(ModelText{.nodes = {loop({"m", "", "x"},
                                    {"y"},
                                    subgraph("body",
                                             {"i", "c", "h"},
                                             {unnamed("Add", {"h", "loop/body/h"}, {"l"})},
                                             {"c", "l"}))}});
  EXPECT_EQ(file.nodes[0].body->inputs[2], "loop/body/h_2");
  EXPECT_THAT(file.nodes[0].inputs, ElementsAre("m", "", "x", "loop/body/h"));
}

TEST(OnnxLoops, AreRefusedIfTheyDoNotFit) {
  const auto of = [](const std::string& stored) { return ModelText{.nodes = {stored}}; };
  expect_refused(of(unnamed("Loop", {"m", "c"}, {"y"})), "it has no body");
  expect_refused(of(loop({"m", "c"}, {"y"}, subgraph("body", {"i", "c", "h"}, {}, {"c"}))),
                 "it has 2 inputs, but its body has 3");
  expect_refused(of(loop({"m", "c"}, {"y"}, subgraph("body", {"i", "i"}, {}, {"i"}))),
                 "'i' is made twice in loop/body");
  expect_refused(
      of(loop(
          {"m", "c"}, {"y"}, subgraph("body", {"i", "c"}, {unnamed("Relu", {"x"}, {"i"})}, {"i"}))),
      "'i' is made twice in loop/body");
  std::string deep = loop({"m", "c"}, {"y"}, subgraph("body", {"i", "c"}, {}, {"c"}));
  for (int k = 0; k < 3; ++k) {
    deep = loop({"m", "c"}, {"y"}, subgraph("body", {"i", "c"}, {deep}, {"c"}));
  }
  expect_refused(
      of(deep), "branches and loops are nested more than 3 deep", {.max_function_depth = 3});
  expect_refused(of(deep), "more than 3 nodes", {.max_nodes = 3});
  EXPECT_EQ(read(of(deep)).all_nodes().size(), 4);
}

}  // namespace
}  // namespace hesscope::test::onnx
