// SPDX-License-Identifier: BSD-3-Clause
//
// Models of the kind "onnx" from small files: which of their tensors are parameters, and what of
// the others is refused.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/model_registry.h>

#include "support/files.h"
#include "support/onnx_bytes.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using test::onnx::floats;
using test::onnx::int_attribute;
using test::onnx::kFloat;
using test::onnx::kString;
using test::onnx::node;
using test::onnx::tensor;

using Extents = std::vector<std::int64_t>;

// The model that the nodes and initializers make of x, (samples, shape), with y as its output.
Model model_of(const std::vector<std::string>& nodes,
               const std::vector<std::string>& initializers,
               const Extents& shape,
               const Extents& shape_of_target) {
  namespace text = test::onnx;
  std::string axes = text::axis("batch");
  for (const std::int64_t size : shape) axes += text::axis(size);
  const test::ScratchFolder folder;
  test::write_bytes(folder / "model.onnx",
                    text::model({.nodes = nodes,
                                 .initializers = initializers,
                                 .inputs = {text::value_info("x", kFloat, axes)},
                                 .outputs = {text::value_info("y", kFloat, "")}}));
  const auto of_samples = [](Extents sizes) {
    sizes.insert(sizes.begin(), 5);
    return sizes;
  };
  const ModelKind& kind = *find_model_kind("onnx");
  const Settings settings =
      Settings::checked({{"file", std::string("model.onnx")}, {"loss", std::string("mse")}},
                        kind.keys_with_sizes(),
                        "[model]");
  const TensorShapes data{"data.npz",
                          {{"x", of_samples(shape)}, {"target", of_samples(shape_of_target)}}};
  return kind.create({settings, data, folder.path()});
}

std::vector<std::string> names_of(const std::vector<ParameterBlock>& blocks) {
  std::vector<std::string> names;
  for (const ParameterBlock& block : blocks) names.push_back(block.name);
  return names;
}

using Names = std::vector<std::string>;

const std::string kNone = tensor("none", kFloat, {0}, "");

TEST(OnnxModel, TakesATensorWithoutEntriesForAnInputLeftOut) {
  const Model resized =
      model_of({node({"Mul", {"x", "w"}, {"h"}}), node({"Resize", {"h", "none", "scales"}, {"y"}})},
               {tensor("w", kFloat, {2}, floats({1, 2})),
                kNone,
                tensor("scales", kFloat, {4}, floats({1, 1, 2, 2}))},
               {1, 1, 2},
               {1, 2, 4});
  EXPECT_EQ(names_of(resized.parameters), (Names{"w"}));
  const Model clipped =
      model_of({node({"Mul", {"x", "w"}, {"h"}}), node({"Clip", {"h", "none", "none"}, {"y"}})},
               {tensor("w", kFloat, {2}, floats({1, 2})), kNone},
               {2},
               {2});
  EXPECT_EQ(names_of(clipped.parameters), (Names{"w"}));
}

TEST(OnnxModel, TakesNoTensorWithoutEntriesForAParameter) {
  const Model model =
      model_of({node({"Concat", {"w", "e"}, {"v"}, {int_attribute("axis", 1)}}),
                node({"MatMul", {"x", "v"}, {"y"}})},
               {tensor("w", kFloat, {2, 1}, floats({1, 2})), tensor("e", kFloat, {2, 0}, "")},
               {2},
               {1});
  EXPECT_EQ(names_of(model.parameters), (Names{"w"}));
}

TEST(OnnxModel, SaysWhichTensorHasNoEntriesToComputeWith) {
  test::expect_refusal<InputError>(
      [] {
        model_of({node({"Mul", {"x", "w"}, {"h"}}), node({"Mul", {"h", "none"}, {"y"}})},
                 {tensor("w", kFloat, {2}, floats({1, 2})), kNone},
                 {2},
                 {2});
      },
      "computes with a tensor that has no entries");
}

TEST(OnnxModel, SaysWhichTensorHasElementsThatAreNotRead) {
  test::expect_refusal<InputError>(
      [] {
        model_of({node({"Mul", {"x", "w"}, {"h"}}), node({"Add", {"h", "s"}, {"y"}})},
                 {tensor("w", kFloat, {2}, floats({1, 2})),
                  tensor("s", kString, {1}, test::onnx::part(6, "a"))},
                 {2},
                 {2});
      },
      "'s' has elements of type string, which are not read");
}

}  // namespace
}  // namespace hesscope
