// SPDX-License-Identifier: BSD-3-Clause
//
// Branches of an If: nodes of the graph, under a condition.
#include <string>
#include <vector>

#include "onnx/onnx_reading.h"

namespace hesscope::test::onnx {
namespace {

using hesscope::onnx::Guard;
using hesscope::onnx::Node;
using hesscope::onnx::OnnxFile;
using hesscope::onnx::OnnxLimits;
using hesscope::onnx::Tensor;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string branch(const std::string& name,
                   const std::vector<std::string>& nodes,
                   const Names& outputs,
                   const std::vector<std::string>& initializers = {}) {
  return subgraph(name, {}, nodes, outputs, initializers);
}

std::string choice(const std::string& condition,
                   const Names& outputs,
                   const std::string& first,
                   const std::string& second,
                   const std::string& name = "if") {
  return node({.op = "If",
               .inputs = {condition},
               .outputs = outputs,
               .attributes = {first, second},
               .name = name});
}

std::vector<Guard> under(const std::string& condition, bool is_true) {
  return {{.condition = condition, .is_true = is_true}};
}

TEST(OnnxBranches, StandBeforeTheirIf) {
  // Both branches name their values alike, and as one of the graph's.
  const OnnxFile file = read(ModelText{
      .nodes = {unnamed("Relu", {"x"}, {"a"}),
                choice("c",
                       {"y"},
                       branch("then_branch",
                              {unnamed("Abs", {"a"}, {"b"}), unnamed("Neg", {"b"}, {"z"})},
                              {"z"}),
                       branch("else_branch", {unnamed("Exp", {"x"}, {"b"})}, {"b"})),
                unnamed("Relu", {"y"}, {"z"})}});
  ASSERT_EQ(file.nodes.size(), 6);
  EXPECT_THAT(file.nodes[0].guards, IsEmpty());
  EXPECT_EQ(file.nodes[1].name, "if/then_branch/Abs");
  EXPECT_THAT(file.nodes[1].inputs, ElementsAre("a"));
  EXPECT_THAT(file.nodes[1].outputs, ElementsAre("if/then_branch/b"));
  EXPECT_EQ(file.nodes[1].guards, under("c", true));
  EXPECT_THAT(file.nodes[2].inputs, ElementsAre("if/then_branch/b"));
  EXPECT_THAT(file.nodes[3].inputs, ElementsAre("x"));
  EXPECT_EQ(file.nodes[3].guards, under("c", false));
  EXPECT_EQ(file.nodes[4].op, "If");
  EXPECT_THAT(file.nodes[4].inputs, ElementsAre("c", "if/then_branch/z", "if/else_branch/b"));
  EXPECT_THAT(file.nodes[4].outputs, ElementsAre("y"));
  EXPECT_THAT(file.nodes[4].attributes, IsEmpty());
  EXPECT_THAT(file.nodes[5].outputs, ElementsAre("z"));
}

TEST(OnnxBranches, MayStandInBranches) {
  const std::string inner = choice("d",
                                   {"p"},
                                   branch("then_branch", {unnamed("Abs", {"q"}, {"r"})}, {"r"}),
                                   branch("else_branch", {}, {"q"}),
                                   "inner");
  const OnnxFile file = read(ModelText{
      .nodes = {choice("c",
                       {"y"},
                       branch("then_branch", {unnamed("Exp", {"x"}, {"q"}), inner}, {"p"}),
                       branch("else_branch", {}, {"x"}))}});
  ASSERT_EQ(file.nodes.size(), 4);
  EXPECT_THAT(file.nodes[1].inputs, ElementsAre("if/then_branch/q"));
  EXPECT_EQ(file.nodes[1].guards, (std::vector<Guard>{{.condition = "c"}, {.condition = "d"}}));
  EXPECT_EQ(file.nodes[2].op, "If");
  EXPECT_EQ(file.nodes[2].guards, under("c", true));
  EXPECT_EQ(file.nodes[2].inputs[2], "if/then_branch/q");
  EXPECT_EQ(file.nodes[2].outputs[0], "if/then_branch/p");
  EXPECT_THAT(file.nodes[3].inputs, ElementsAre("c", "if/then_branch/p", "x"));
}

TEST(OnnxBranches, MayHaveInitializers) {
  const OnnxFile file =
      read(ModelText{.nodes = {choice("c",
                                      {"y"},
                                      branch("then_branch",
                                             {unnamed("Add", {"x", "w"}, {"z"})},
                                             {"z"},
                                             {tensor("w", kFloat, {2}, floats({1, 2}))}),
                                      branch("else_branch", {}, {"x"}))}});
  ASSERT_EQ(file.nodes.size(), 3);
  EXPECT_EQ(file.nodes[0].op, "Constant");
  EXPECT_EQ(file.nodes[0].guards, under("c", true));
  const auto& value = std::get<std::shared_ptr<const Tensor>>(file.nodes[0].find("value")->value);
  EXPECT_THAT(value->reals, ElementsAre(1, 2));
  EXPECT_EQ(file.nodes[1].inputs[1], file.nodes[0].outputs[0]);
  EXPECT_THAT(file.initializers, IsEmpty());
}

TEST(OnnxBranches, AreRefusedWhereTheyDoNotFit) {
  const std::string none = branch("else_branch", {}, {"x"});
  const std::string wrong = branch("then_branch", {}, {"x", "x"});
  expect_refused(ModelText{.nodes = {choice("c", {"y"}, none, none)}}, "occurs twice");
  expect_refused(ModelText{.nodes = {choice("c", {"y"}, none, int_attribute("then_branch", 1))}},
                 "node 'if' (If): it has no then_branch");
  expect_refused(ModelText{.nodes = {choice("c", {"y"}, wrong, none)}},
                 "node 'if' (If): it has 1 outputs, but its branch if/then_branch has 2");
  expect_refused(ModelText{.nodes = {choice("", {"y"}, wrong, none)}}, "not one input");
  expect_refused(ModelText{.nodes = {choice(
                               "c",
                               {"y"},
                               branch("then_branch",
                                      {unnamed("Abs", {"x"}, {"z"}), unnamed("Abs", {"x"}, {"z"})},
                                      {"z"}),
                               none)}},
                 "'z' is made twice in if/then_branch");
}

TEST(OnnxBranches, HaveLimits) {
  const std::string none = branch("else_branch", {}, {"x"});
  std::string deep = unnamed("Abs", {"x"}, {"y"});
  for (int i = 0; i < 4; ++i) deep = choice("c", {"y"}, branch("then_branch", {deep}, {"y"}), none);
  const ModelText text{.nodes = {deep}};
  EXPECT_EQ(read(text).nodes.size(), 5);
  expect_refused(text, "nested more than 3 deep", OnnxLimits{.max_function_depth = 3});
  expect_refused(text, "more than 4 nodes", OnnxLimits{.max_nodes = 4});
}

// The name of a condition is held by each node that stands under it.
TEST(OnnxBranches, HaveTheirConditionsCounted) {
  std::vector<std::string> nodes;
  for (int i = 0; i < 100; ++i) nodes.push_back(unnamed("Abs", {"x"}, {"z" + std::to_string(i)}));
  const std::string none = branch("else_branch", {}, {"x"});
  const ModelText text{
      .nodes = {
          choice(std::string(10'000, 'c'), {"y"}, branch("then_branch", nodes, {"z0"}), none)}};
  EXPECT_EQ(read(text).nodes.size(), 101);
  expect_refused(text,
                 "with its functions inlined, it has more than 100000 bytes",
                 OnnxLimits{.max_file_bytes = 100'000});
}

}  // namespace
}  // namespace hesscope::test::onnx
