// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <hesscope/storage/sha256.h>

#include "onnx/onnx_reading.h"

namespace hesscope::test::onnx {
namespace {

using hesscope::onnx::Attribute;
using hesscope::onnx::ElementKind;
using hesscope::onnx::OnnxFile;
using hesscope::onnx::OnnxLimits;
using hesscope::onnx::Tensor;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// y = Gemm(x, W, b)
ModelText small_model() {
  return {
      .nodes = {node({.op = "Gemm",
                      .inputs = {"x", "W", "b"},
                      .outputs = {"y"},
                      .attributes = {int_attribute("transB", 1), float_attribute("alpha", 0.1F)},
                      .name = "dense"})},
      .initializers = {tensor("W", kFloat, {2, 3}, floats({1, 2, 3, 4, 5, 6})),
                       tensor("b", kDouble, {2}, raw_data(little(std::vector<double>{0.5, -1})))},
      .inputs = {value_info("x", kFloat, axis("batch") + axis(3))},
      .outputs = {value_info("y", kFloat, axis("") + axis(2))}};
}

template <typename T>
const T& value_of(const hesscope::onnx::Node& node, const std::string& attribute) {
  return std::get<T>(node.find(attribute)->value);
}

TEST(OnnxFile, IsReadWhole) {
  const WrittenModel written(small_model());
  const OnnxFile file = written.read();
  EXPECT_EQ(file.path, written.path());
  EXPECT_EQ(file.ir_version, 8);
  EXPECT_EQ(file.opset, 17);
  EXPECT_EQ(file.producer, "test");
  EXPECT_EQ(file.files.size(), 1);
  EXPECT_EQ(file.sha256, io::sha256_of_file(written.path()));

  ASSERT_EQ(file.nodes.size(), 1);
  EXPECT_EQ(file.nodes[0].op, "Gemm");
  EXPECT_EQ(file.nodes[0].name, "dense");
  EXPECT_EQ(file.nodes[0].domain, "");
  EXPECT_THAT(file.nodes[0].inputs, ElementsAre("x", "W", "b"));
  EXPECT_THAT(file.nodes[0].outputs, ElementsAre("y"));
  EXPECT_EQ(value_of<std::int64_t>(file.nodes[0], "transB"), 1);
  EXPECT_EQ(file.nodes[0].find("beta"), nullptr);

  ASSERT_EQ(file.initializers.size(), 2);
  EXPECT_EQ(file.find_initializer("W"), &file.initializers[0]);
  EXPECT_EQ(file.find_initializer("x"), nullptr);
  EXPECT_THAT(file.initializers[0].shape, ElementsAre(2, 3));
  EXPECT_THAT(file.initializers[0].reals, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(file.initializers[1].reals, ElementsAre(0.5, -1));

  ASSERT_EQ(file.inputs.size(), 1);
  EXPECT_EQ(file.inputs[0].name, "x");
  EXPECT_EQ(file.inputs[0].kind, ElementKind::kReal);
  ASSERT_TRUE(file.inputs[0].shape && file.inputs[0].shape->size() == 2);
  EXPECT_EQ((*file.inputs[0].shape)[0].size, -1);
  EXPECT_EQ((*file.inputs[0].shape)[0].symbol, "batch");
  EXPECT_EQ((*file.inputs[0].shape)[1].size, 3);
  ASSERT_EQ(file.outputs.size(), 1);
  EXPECT_EQ((*file.outputs[0].shape)[0].size, -1);
  EXPECT_EQ((*file.outputs[0].shape)[0].symbol, "");
}

TEST(OnnxFile, TakesFloatAttributesAsTheDecimalsThatWereWritten) {
  const std::vector<float> values = {1e-5F, 0.1F, -2.5F, 1.67326319F, 3e38F, 1e-45F, 0.0F};
  ModelText text = small_model();
  text.nodes = {
      node({.op = "Op",
            .inputs = {"x"},
            .outputs = {"y"},
            .attributes = {float_attribute("epsilon", 1e-5F),
                           attribute("list", AttributeType::kFloats, part(7, little(values))),
                           float_attribute("most", std::numeric_limits<float>::infinity())}})};
  const OnnxFile file = read(text);
  EXPECT_EQ(value_of<double>(file.nodes[0], "epsilon"), 1e-5);
  EXPECT_THAT(value_of<std::vector<double>>(file.nodes[0], "list"),
              ElementsAre(1e-5, 0.1, -2.5, 1.6732632, 3e38, 1e-45, 0.0));
  EXPECT_EQ(value_of<double>(file.nodes[0], "most"), std::numeric_limits<double>::infinity());
}

TEST(OnnxFile, HasAttributesOfEveryType) {
  const std::string value = tensor("", kInt64, {2}, int64s({7, -8}));
  ModelText text = small_model();
  text.nodes = {node(
      {.op = "Op",
       .inputs = {"x"},
       .outputs = {"y"},
       .attributes = {attribute("text", AttributeType::kString, part(4, "constant")),
                      attribute("tensor", AttributeType::kTensor, part(5, value)),
                      attribute("graph", AttributeType::kGraph, part(6, part(2, "inner"))),
                      attribute("integers", AttributeType::kInts, number(8, 1) + number(8, -2)),
                      attribute("none", AttributeType::kInts, ""),
                      attribute("texts", AttributeType::kStrings, part(9, "a") + part(9, "")),
                      attribute("type", static_cast<AttributeType>(13), part(14, "")),
                      part(1, "untyped") + number(3, 5)},
       .domain = "ai.onnx"})};
  const OnnxFile file = read(text);
  const hesscope::onnx::Node& node = file.nodes.at(0);
  EXPECT_EQ(node.domain, "");
  EXPECT_EQ(value_of<std::string>(node, "text"), "constant");
  EXPECT_THAT(value_of<std::shared_ptr<const Tensor>>(node, "tensor")->integers,
              ElementsAre(7, -8));
  EXPECT_TRUE(std::holds_alternative<Attribute::Graph>(node.find("graph")->value));
  EXPECT_TRUE(std::holds_alternative<Attribute::Graph>(node.find("type")->value));
  EXPECT_THAT(value_of<std::vector<std::int64_t>>(node, "integers"), ElementsAre(1, -2));
  EXPECT_THAT(value_of<std::vector<std::int64_t>>(node, "none"), IsEmpty());
  EXPECT_THAT(value_of<std::vector<std::string>>(node, "texts"), ElementsAre("a", ""));
  EXPECT_EQ(value_of<std::int64_t>(node, "untyped"), 5);
}

TEST(OnnxFile, LeavesInitializersOutOfTheInputs) {
  ModelText text = small_model();
  text.ir_version = 3;
  text.inputs.push_back(value_info("W", kFloat, axis(2) + axis(3)));
  text.inputs.push_back(value_info("b", kDouble, axis(2)));
  const OnnxFile file = read(text);
  ASSERT_EQ(file.inputs.size(), 1);
  EXPECT_EQ(file.inputs[0].name, "x");
}

TEST(OnnxFile, KnowsNothingOfInputsThatAreNoTensors) {
  ModelText text = small_model();
  text.inputs.push_back(part(1, "untyped"));
  text.inputs.push_back(part(1, "sequence") +
                        part(2, part(4, part(1, part(1, number(1, kFloat))))));
  text.inputs.push_back(part(1, "unranked") + part(2, part(1, number(1, kInt64))));
  const OnnxFile file = read(text);
  EXPECT_EQ(file.inputs.at(1).kind, ElementKind::kOther);
  EXPECT_EQ(file.inputs.at(2).kind, ElementKind::kOther);
  EXPECT_EQ(file.inputs.at(3).kind, ElementKind::kInteger);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_FALSE(file.inputs[i].shape) << i;
}

TEST(OnnxFile, NamesTypes) {
  EXPECT_EQ(hesscope::onnx::type_name(1), "float32");
  EXPECT_EQ(hesscope::onnx::type_name(16), "bfloat16");
  EXPECT_EQ(hesscope::onnx::type_name(17), "float8e4m3fn");
  EXPECT_EQ(hesscope::onnx::type_name(99), "type 99");
  EXPECT_EQ(hesscope::onnx::type_name(-1), "type -1");
  EXPECT_EQ(hesscope::onnx::element_kind(11), ElementKind::kReal);
  EXPECT_EQ(hesscope::onnx::element_kind(13), ElementKind::kInteger);
  EXPECT_EQ(hesscope::onnx::element_kind(9), ElementKind::kBoolean);
  EXPECT_EQ(hesscope::onnx::element_kind(8), ElementKind::kOther);
  EXPECT_EQ(hesscope::onnx::element_kind(99), ElementKind::kOther);
}

TEST(OnnxFileRefuses, NoFileAtAll) {
  expect_refusal([] { hesscope::onnx::read_onnx_file(std::shared_ptr<const io::InputFile>()); },
                 "read_onnx_file: file must not be null");
}

TEST(OnnxFileRefuses, WhatIsNoModel) {
  expect_refused(std::string(), "the file is empty");
  expect_refused(std::string("ir_version: 8\ngraph {}\n"),
                 "is no ONNX model (it begins with 'ir_versi')");
  expect_refused(std::string("PK\3\4"), "is no ONNX model");
  expect_refused(number(1, 8) + part(2, "test"), "the ONNX model has no graph");
  expect_refusal<InputError>([] { hesscope::onnx::read_onnx_file("/nowhere/model.onnx"); },
                             "/nowhere/model.onnx: cannot be opened");
}

TEST(OnnxFileRefuses, VersionsThatItDoesNotKnow) {
  ModelText text = small_model();
  for (const std::int64_t version : {2, 14}) {
    text.ir_version = version;
    expect_refused(text, "is of IR version " + std::to_string(version) + "; 3 to 13 are read");
  }
  text = small_model();
  for (const std::int64_t opset : {0, 24, 99, -1}) {
    text.opset = opset;
    expect_refused(text, "is of opset " + std::to_string(opset) + "; 1 to 23 are read");
  }
  for (const std::int64_t opset : {1, 23}) {
    text.opset = opset;
    EXPECT_EQ(read(text).opset, opset);
  }
  const std::string without_opset = number(1, 8) + part(7, graph(small_model()));
  expect_refused(without_opset, "does not say its opset");
  expect_refused(without_opset + part(8, opset_import("ai.onnx.ml", 3)), "does not say its opset");
  expect_refused(model(small_model()) + part(8, opset_import("ai.onnx", 13)),
                 "is of opset 17 and of opset 13");
  EXPECT_EQ(read(model(small_model()) + part(8, opset_import("com.microsoft", 1))).opset, 17);
}

TEST(OnnxFileRefuses, ValuesOfOneName) {
  ModelText text = small_model();
  text.nodes.push_back(node({.op = "Relu", .inputs = {"x"}, .outputs = {"y"}}));
  expect_refused(text, "an output of node '' (Relu) 'y': there is another value of this name");
  text = small_model();
  text.nodes[0] = node({.op = "Relu", .inputs = {"x"}, .outputs = {"W"}});
  expect_refused(text, "an output of node '' (Relu) 'W'");
  text = small_model();
  text.initializers.push_back(text.initializers[0]);
  expect_refused(text, "an initializer 'W'");
  text = small_model();
  text.inputs.push_back(text.inputs[0]);
  expect_refused(text, "an input of the graph 'x'");
  text = small_model();
  text.nodes.push_back(node({.op = "Op", .inputs = {"x"}, .outputs = {"", "z", ""}}));
  EXPECT_EQ(read(text).nodes.size(), 2);  // two outputs left out have no name
}

TEST(OnnxFileRefuses, NamesThatAreNone) {
  ModelText text = small_model();
  text.initializers.push_back(tensor("", kFloat, {0}, ""));
  expect_refused(text, "an initializer has no name");
  text = small_model();
  text.initializers.push_back(tensor("a\nb", kFloat, {0}, ""));
  expect_refused(
      text, "the name of an initializer, 'a\\x0ab', is not UTF-8 text without control characters");
  text = small_model();
  text.nodes.push_back(node({.op = "Op\xff", .inputs = {}, .outputs = {}}));
  expect_refused(text,
                 "the operator of a node, 'Op\\xff', is not UTF-8 text without control characters");
  text = small_model();
  text.nodes.push_back(node({.op = "Op", .inputs = {"\x80"}, .outputs = {}, .name = "n"}));
  expect_refused(
      text,
      "node 'n' (Op): the name of an input, '\\x80', is not UTF-8 text without control characters");
}

TEST(OnnxFileRefuses, AttributesWithoutMeaning) {
  ModelText text = small_model();
  text.nodes = {node({.op = "Op",
                      .inputs = {},
                      .outputs = {"y"},
                      .attributes = {int_attribute("axis", 1), int_attribute("axis", 2)}})};
  expect_refused(text, "node '' (Op): attribute 'axis' occurs twice");
  text.nodes = {
      node({.op = "Op", .inputs = {}, .outputs = {"y"}, .attributes = {part(1, "axis")}})};
  expect_refused(text, "attribute 'axis' has neither a type nor a value");
  text.nodes = {
      node({.op = "Op", .inputs = {}, .outputs = {"y"}, .attributes = {reference("axis", "a")}})};
  expect_refused(text, "attribute 'axis' refers to one of a function, but the node is in none");
}

TEST(OnnxFileRefuses, SparseInitializers) {
  const std::string sparse = part(1, tensor("S", kFloat, {1}, floats({1}))) + number(3, 4);
  const std::string bytes = number(1, 8) + part(7, graph(small_model()) + part(15, sparse)) +
                            part(8, opset_import("", 17));
  expect_refused(bytes, "initializer 'S' is sparse, which is not read");
}

TEST(OnnxFileRefuses, WhatIsBeyondTheLimits) {
  ModelText text = small_model();
  text.nodes.push_back(node({.op = "Relu", .inputs = {"x"}, .outputs = {"z"}}));
  OnnxLimits limits;
  limits.max_nodes = 1;
  expect_refused(text, "has 2 nodes; at most 1 are read", limits);
  limits = {};
  limits.max_tensors = 1;
  expect_refused(text, "has 2 initializers; at most 1 are read", limits);
  limits = {};
  limits.max_file_bytes = 100;
  expect_refused(text, "at most 100 are read", limits);
  text = small_model();
  std::string axes;
  for (int i = 0; i < 9; ++i) axes += axis(1);
  text.inputs = {value_info("x", kFloat, axes)};
  expect_refused(text, "'x' has 9 dimensions; at most 8 are read");
}

}  // namespace
}  // namespace hesscope::test::onnx
