// SPDX-License-Identifier: BSD-3-Clause
//
// Local functions: what a call becomes.
#include <set>
#include <string>
#include <vector>

#include "onnx/onnx_reading.h"

namespace hesscope::test::onnx {
namespace {

using hesscope::onnx::Node;
using hesscope::onnx::OnnxFile;
using hesscope::onnx::OnnxLimits;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kDomain = "local";

NodeText call(const std::string& function,
              const Names& inputs,
              const Names& outputs,
              const std::string& name = "call",
              const std::vector<std::string>& attributes = {}) {
  return {.op = function,
          .inputs = inputs,
          .outputs = outputs,
          .attributes = attributes,
          .name = name,
          .domain = kDomain};
}

NodeText plain(const std::string& op,
               const Names& inputs,
               const Names& outputs,
               const std::string& name = "") {
  return {.op = op, .inputs = inputs, .outputs = outputs, .name = name};
}

/// scaled(a, b) = LeakyRelu(a + b) with the slope that the call gives, or 0.25
FunctionText scaled() {
  return {
      .name = "scaled",
      .domain = kDomain,
      .inputs = {"a", "b"},
      .outputs = {"c"},
      .nodes = {node(plain("Add", {"a", "b"}, {"sum"}, "add")),
                node({.op = "LeakyRelu",
                      .inputs = {"sum"},
                      .outputs = {"c"},
                      .attributes = {reference("alpha", "slope"), reference("other", "absent")}})},
      .defaults = {float_attribute("slope", 0.25F)}};
}

ModelText model_of(const std::vector<NodeText>& nodes, const std::vector<FunctionText>& functions) {
  ModelText text;
  for (const NodeText& each : nodes) text.nodes.push_back(node(each));
  for (const FunctionText& each : functions) text.functions.push_back(function(each));
  return text;
}

double slope_of(const Node& node) { return std::get<double>(node.find("alpha")->value); }

TEST(OnnxFunction, BecomesItsNodes) {
  const OnnxFile file =
      read(model_of({call("scaled", {"x", "W"}, {"y"}, "first", {float_attribute("slope", 0.5F)}),
                     call("scaled", {"y", "sum"}, {"z"}, "second")},
                    {scaled()}));
  ASSERT_EQ(file.nodes.size(), 4);
  EXPECT_EQ(file.nodes[0].name, "first/add");
  EXPECT_EQ(file.nodes[0].op, "Add");
  EXPECT_EQ(file.nodes[0].domain, "");
  EXPECT_THAT(file.nodes[0].inputs, ElementsAre("x", "W"));
  EXPECT_THAT(file.nodes[0].outputs, ElementsAre("first/sum"));
  EXPECT_EQ(file.nodes[1].name, "first/LeakyRelu");
  EXPECT_THAT(file.nodes[1].inputs, ElementsAre("first/sum"));
  EXPECT_THAT(file.nodes[1].outputs, ElementsAre("y"));
  EXPECT_EQ(slope_of(file.nodes[1]), 0.5);
  EXPECT_EQ(file.nodes[1].find("other"), nullptr);
  EXPECT_THAT(file.nodes[2].inputs, ElementsAre("y", "sum"));  // the graph's own
  EXPECT_THAT(file.nodes[2].outputs, ElementsAre("second/sum"));
  EXPECT_THAT(file.nodes[3].outputs, ElementsAre("z"));
  EXPECT_EQ(slope_of(file.nodes[3]), 0.25);
}

TEST(OnnxFunction, MayCallOthers) {
  FunctionText outer{
      .name = "outer",
      .domain = kDomain,
      .inputs = {"a"},
      .outputs = {"c"},
      .nodes = {node(call("scaled", {"a", "a"}, {"b"}, "inner", {reference("slope", "steep")})),
                node(call("scaled", {"b", "a"}, {"c"}, ""))}};
  const OnnxFile file = read(model_of(
      {call("outer", {"x"}, {"y"}, "call", {float_attribute("steep", 2)})}, {outer, scaled()}));
  ASSERT_EQ(file.nodes.size(), 4);
  EXPECT_EQ(file.nodes[0].name, "call/inner/add");
  EXPECT_THAT(file.nodes[0].inputs, ElementsAre("x", "x"));
  EXPECT_EQ(slope_of(file.nodes[1]), 2);
  EXPECT_THAT(file.nodes[1].outputs, ElementsAre("call/b"));
  EXPECT_EQ(file.nodes[2].name, "call/scaled/add");
  EXPECT_THAT(file.nodes[2].inputs, ElementsAre("call/b", "x"));
  EXPECT_THAT(file.nodes[3].outputs, ElementsAre("y"));
  EXPECT_EQ(slope_of(file.nodes[3]), 0.25);
}

TEST(OnnxFunction, NamesItsValuesLikeNoOthers) {
  // Calls of one name, and a value of the graph that is named as the first would name its own.
  const OnnxFile file = read(model_of({plain("Relu", {"x"}, {"call/sum"}),
                                       call("scaled", {"x", "x"}, {"y"}),
                                       call("scaled", {"y", "y"}, {"z"}),
                                       call("scaled", {"z", "z"}, {"u"}, ""),
                                       call("scaled", {"u", "u"}, {"v"}, "")},
                                      {scaled()}));
  std::multiset<std::string> names;
  for (const Node& node : file.nodes) names.insert(node.outputs.begin(), node.outputs.end());
  EXPECT_THAT(names,
              ElementsAre("call/sum",
                          "call/sum_2",
                          "call/sum_3",
                          "scaled/sum",
                          "scaled/sum_2",
                          "u",
                          "v",
                          "y",
                          "z"));
}

TEST(OnnxFunction, MayLeaveOutInputsAndOutputs) {
  const FunctionText two{.name = "two",
                         .domain = kDomain,
                         .inputs = {"a", "low", "high"},
                         .outputs = {"b", "c"},
                         .nodes = {node(plain("Clip", {"a", "low", "high"}, {"b"})),
                                   node(plain("Relu", {"b"}, {"c"}))}};
  const OnnxFile file =
      read(model_of({call("two", {"x", "", "most"}, {"", "y"}), call("two", {"x"}, {"z"})}, {two}));
  ASSERT_EQ(file.nodes.size(), 4);
  EXPECT_THAT(file.nodes[0].inputs, ElementsAre("x", "", "most"));
  EXPECT_THAT(file.nodes[0].outputs, ElementsAre("call/b"));
  EXPECT_THAT(file.nodes[1].outputs, ElementsAre("y"));
  EXPECT_THAT(file.nodes[2].inputs, ElementsAre("x", "", ""));
  EXPECT_THAT(file.nodes[2].outputs, ElementsAre("z"));
}

TEST(OnnxFunction, MayPassOnAnInput) {
  const FunctionText same{.name = "same",
                          .domain = kDomain,
                          .inputs = {"a"},
                          .outputs = {"a", "b", "b"},
                          .nodes = {node(plain("Relu", {"a"}, {"b"}))}};
  const OnnxFile file = read(model_of({call("same", {"x"}, {"y", "z", "u"})}, {same}));
  ASSERT_EQ(file.nodes.size(), 3);
  EXPECT_EQ(file.nodes[0].op, "Relu");
  EXPECT_THAT(file.nodes[0].outputs, ElementsAre("z"));
  EXPECT_EQ(file.nodes[1].op, "Identity");
  EXPECT_THAT(file.nodes[1].inputs, ElementsAre("x"));
  EXPECT_THAT(file.nodes[1].outputs, ElementsAre("y"));
  EXPECT_EQ(file.nodes[2].op, "Identity");
  EXPECT_THAT(file.nodes[2].inputs, ElementsAre("z"));
  EXPECT_THAT(file.nodes[2].outputs, ElementsAre("u"));
}

TEST(OnnxFunction, IsFoundByItsDomain) {
  FunctionText relu{
      .name = "Relu", .domain = "other", .inputs = {"a"}, .outputs = {"b"}, .nodes = {}};
  const OnnxFile file = read(model_of({plain("Relu", {"x"}, {"y"})}, {relu}));
  ASSERT_EQ(file.nodes.size(), 1);
  EXPECT_EQ(file.nodes[0].op, "Relu");
}

TEST(OnnxFunction, IsFoundByItsOverload) {
  std::vector<FunctionText> functions;
  for (const std::string overload : {"", "other"}) {
    functions.push_back({.name = "f",
                         .domain = kDomain,
                         .inputs = {"a"},
                         .outputs = {"b"},
                         .nodes = {node(plain(overload.empty() ? "Relu" : "Tanh", {"a"}, {"b"}))},
                         .overload = overload});
  }
  NodeText other = call("f", {"y"}, {"z"});
  other.overload = "other";
  const OnnxFile file = read(model_of({call("f", {"x"}, {"y"}), other}, functions));
  ASSERT_EQ(file.nodes.size(), 2);
  EXPECT_EQ(file.nodes[0].op, "Relu");
  EXPECT_EQ(file.nodes[1].op, "Tanh");
}

TEST(OnnxFunctionIsRefused, WhenItCallsItself) {
  FunctionText one{.name = "one",
                   .domain = kDomain,
                   .inputs = {"a"},
                   .outputs = {"b"},
                   .nodes = {node(call("two", {"a"}, {"b"}, "deeper"))}};
  FunctionText two = one;
  two.name = "two";
  two.nodes = {node(call("one", {"a"}, {"b"}, "again"))};
  expect_refused(model_of({call("one", {"x"}, {"y"})}, {one, two}),
                 "node 'call/deeper/again' (one): the function calls itself");
  EXPECT_EQ(read(model_of({plain("Relu", {"x"}, {"y"})}, {one, two})).nodes.size(), 1);
}

/// f0 is a Relu, and f(i) calls f(i - 1) `width` times.
std::vector<FunctionText> tower(int height, int width) {
  std::vector<FunctionText> functions;
  for (int i = 0; i <= height; ++i) {
    FunctionText each{.name = "f" + std::to_string(i),
                      .domain = kDomain,
                      .inputs = {"a"},
                      .outputs = {"b"},
                      .nodes = {}};
    for (int j = 0; j < width; ++j) {
      const std::string output = j == 0 ? "b" : "b" + std::to_string(j);
      each.nodes.push_back(node(i == 0 ? plain("Relu", {"a"}, {output})
                                       : call("f" + std::to_string(i - 1), {"a"}, {output})));
    }
    functions.push_back(each);
  }
  return functions;
}

TEST(OnnxFunctionIsRefused, WhenItIsTooDeepOrTooLarge) {
  EXPECT_EQ(read(model_of({call("f15", {"x"}, {"y"})}, tower(15, 1))).nodes.size(), 1);
  expect_refused(model_of({call("f16", {"x"}, {"y"})}, tower(16, 1)),
                 "functions call each other more than 16 deep");
  expect_refused(model_of({call("f15", {"x"}, {"y"})}, tower(15, 10)),
                 "with its functions inlined, it has more than 100000 nodes");
  FunctionText heavy{
      .name = "heavy",
      .domain = kDomain,
      .inputs = {},
      .outputs = {"b"},
      .nodes = {
          node({.op = "Constant",
                .inputs = {},
                .outputs = {"b"},
                .attributes = {attribute(
                    "value_string", AttributeType::kString, part(4, std::string(10'000, 'x')))}})}};
  std::vector<NodeText> calls;
  for (int i = 0; i < 20; ++i) calls.push_back(call("heavy", {}, {"y" + std::to_string(i)}));
  OnnxLimits limits;
  limits.max_file_bytes = 100'000;
  expect_refused(model_of(calls, {heavy}),
                 "with its functions inlined, it has more than 100000 bytes",
                 limits);
}

TEST(OnnxFunctionIsRefused, WhenItsCallDoesNotFit) {
  expect_refused(model_of({call("scaled", {"x", "y", "z"}, {"u"})}, {scaled()}),
                 "node 'call' (scaled): it has 3 inputs, but the function only 2");
  expect_refused(model_of({call("scaled", {"x"}, {"u", "v"})}, {scaled()}),
                 "node 'call' (scaled): it has 2 outputs, but the function only 1");
  FunctionText older = scaled();
  older.opset = 13;
  expect_refused(
      model_of({call("scaled", {"x", "y"}, {"u"})}, {older}),
      "node 'call' (scaled): the function is written in opset 13, the model in opset 17");
  EXPECT_THAT(read(model_of({}, {older})).nodes, IsEmpty());
  expect_refused(model_of({}, {scaled(), scaled()}), "function 'scaled' occurs twice");
}

}  // namespace
}  // namespace hesscope::test::onnx
