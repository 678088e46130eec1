// SPDX-License-Identifier: BSD-3-Clause
//
// Models of the kind "onnx" from small files: which of their tensors are parameters, and what of
// the others is refused.
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/objective/graph_objective.h>

#include "support/files.h"
#include "support/onnx_bytes.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using test::onnx::floats;
using test::onnx::int64s;
using test::onnx::int_attribute;
using test::onnx::ints_attribute;
using test::onnx::kFloat;
using test::onnx::kInt64;
using test::onnx::kString;
using test::onnx::node;
using test::onnx::tensor;
using test::onnx::text_attribute;

using Extents = std::vector<std::int64_t>;

// The model that the nodes and initializers make of x, (samples, shape), with y as its output.
Model model_of(const std::vector<std::string>& nodes,
               const std::vector<std::string>& initializers,
               const Extents& shape,
               const Extents& shape_of_target,
               const std::map<std::string, SettingValue>& loss = {{"loss", std::string("mse")}}) {
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
  std::map<std::string, SettingValue> values = loss;
  values["file"] = std::string("model.onnx");
  const Settings settings = Settings::checked(values, kind.keys_with_sizes(), "[model]");
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

// y = x w, where x is (samples, 3, 2), with its first two axes made one unless `shape` is another.
Model folded_model(const std::map<std::string, SettingValue>& loss,
                   const Extents& target,
                   const Extents& shape = {-1, 2}) {
  return model_of(
      {node({"MatMul", {"x", "w"}, {"h"}}), node({"Reshape", {"h", "shape"}, {"y"}})},
      {tensor("w", kFloat, {2, 2}, floats({1, 2, 3, 4})),
       tensor("shape", kInt64, {static_cast<std::int64_t>(shape.size())}, int64s(shape))},
      {3, 2},
      target,
      loss);
}

// The loss at some parameters, with classes 0, 1, 1 and 0 again as targets.
double loss_of(const Model& model, double last = 0.4) {
  const SampleTable table = make_sample_table(
      model,
      5,
      [&](const std::string& name) {
        std::vector<double> values(5 * (name == "x" ? 6 : 3));
        for (std::size_t i = 0; i < values.size(); ++i) {
          const auto e = static_cast<double>(i);
          values[i] = name == "x" ? std::sin(1 + e) : static_cast<double>(i % 4 == 1 || i % 4 == 2);
        }
        return values;
      },
      "data.npz");
  const GraphObjective objective(model, table);
  Eigen::VectorXd theta = Eigen::VectorXd::Constant(model.num_parameters(), last);
  theta.head(4) << 0.3, -0.7, 1.1, 0.4;
  return objective.value(theta, objective.all_samples());
}

TEST(OnnxModel, TakesAnOutputWhoseFirstAxisIsOfSamplesAndPositions) {
  const SettingValue loss = std::string("cross-entropy");
  const double expected =
      loss_of(folded_model({{"loss", loss}, {"class_axis", std::int64_t{-1}}}, {3}, {-1, 3, 2}));
  EXPECT_GT(expected, 0);
  EXPECT_EQ(loss_of(folded_model({{"loss", loss}}, {3})), expected);
  for (const std::int64_t axis : {1, -1}) {
    const Model model = folded_model({{"loss", loss}, {"class_axis", axis}}, {3});
    EXPECT_EQ(loss_of(model), expected) << axis;
  }
  const Model numbers = folded_model({{"loss", std::string("mse")}}, {6}, {-1, 1});
  EXPECT_EQ(numbers.arrays.back().shape, (Extents{6, 1}));
}

// x, (samples, 3, 2), through some nodes to the model's own loss y, with w and v as parameters.
Model own_loss(const std::vector<std::string>& nodes, const std::string& loss = "output") {
  return model_of(nodes,
                  {tensor("w", kFloat, {2, 2}, floats({1, 2, 3, 4})),
                   tensor("v", kFloat, {1}, floats({0.25})),
                   tensor("one", kInt64, {1}, int64s({1})),
                   tensor("zero", kInt64, {}, int64s({0}))},
                  {3, 2},
                  {},
                  {{"loss", loss}});
}

const std::string kProduct = node({"MatMul", {"x", "w"}, {"h"}});

std::string mean_of(const std::string& input,
                    const std::string& output,
                    const Extents& axes = {},
                    std::int64_t keeps = 0) {
  std::vector<std::string> attributes = {int_attribute("keepdims", keeps)};
  if (!axes.empty()) attributes.push_back(ints_attribute("axes", axes));
  return node({"ReduceMean", {input}, {output}, attributes});
}

TEST(OnnxModel, TakesTheMeanOverSamplesAsItsLoss) {
  const std::string squares = node({"Mul", {"h", "h"}, {"s"}});
  const double expected = loss_of(own_loss({kProduct, squares, mean_of("s", "y", {1, 2})}));
  EXPECT_GT(expected, 0);
  EXPECT_EQ(loss_of(own_loss({kProduct, squares, mean_of("s", "y")})), expected);
  // Over samples first, then over what is left.
  const Model in_steps =
      own_loss({kProduct, squares, mean_of("s", "m", {0}, 1), mean_of("m", "y")});
  EXPECT_EQ(loss_of(in_steps), expected);
  // v mean - v + mean / v, in numbers of shape (1, 1, 1).
  const Model linear = own_loss({kProduct,
                                 squares,
                                 mean_of("s", "m", {}, 1),
                                 node({"Mul", {"v", "m"}, {"a"}}),
                                 node({"Div", {"m", "v"}, {"b"}}),
                                 node({"Sub", {"a", "v"}, {"c"}}),
                                 node({"Add", {"b", "c"}, {"d"}}),
                                 node({"Squeeze", {"d"}, {"y"}})});
  ASSERT_EQ(names_of(linear.parameters), (Names{"w", "v"}));
  constexpr double kV = 0.9;
  EXPECT_NEAR(loss_of(linear, kV), kV * expected - kV + expected / kV, 1e-14);
}

// The number of samples, by some factor, as a real number.
Names count_of(const std::string& output, std::int64_t factor = 1) {
  Names nodes = {node({"Shape", {"x"}, {"shape"}}), node({"Gather", {"shape", "zero"}, {"N"}})};
  std::string count = "N";
  for (; factor > 1; --factor) {
    nodes.push_back(node({"Add", {count, "N"}, {count + "N"}}));
    count += "N";
  }
  nodes.push_back(node({"Cast", {count}, {output}, {int_attribute("to", kFloat)}}));
  return nodes;
}

Names joined(Names first, const Names& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::string sum_of(const std::string& input, const std::string& output) {
  return node({"ReduceSum", {input}, {output}, {int_attribute("keepdims", 0)}});
}

TEST(OnnxModel, TakesTheSumOverSamplesDividedByTheirNumberAsItsLoss) {
  const Names squares = {kProduct, node({"Mul", {"h", "h"}, {"s"}})};
  const double mean = loss_of(own_loss(joined(squares, {mean_of("s", "y")})));
  const Names sums = joined(squares, {sum_of("s", "t")});
  EXPECT_NEAR(
      loss_of(own_loss(joined(joined(sums, count_of("n")), {node({"Div", {"t", "n"}, {"y"}})}))),
      6 * mean,
      1e-14);
  // (v sum - sum) / 3 N + v
  constexpr double kV = 0.9;
  const Names linear = {node({"Mul", {"v", "t"}, {"a"}}),
                        node({"Sub", {"a", "t"}, {"b"}}),
                        node({"Div", {"b", "n"}, {"c"}}),
                        node({"Add", {"c", "v"}, {"y"}})};
  EXPECT_NEAR(loss_of(own_loss(joined(joined(sums, count_of("n", 3)), linear)), kV),
              (kV - 1) * 2 * mean + kV,
              1e-14);
}

TEST(OnnxModel, RefusesSumsOverSamplesThatAreNoMeans) {
  const Names sums = {kProduct, sum_of("h", "t")};
  const auto refuses = [&](const Names& last, const std::string& reason) {
    test::expect_refusal<InputError>([&] { own_loss(joined(joined(sums, count_of("n")), last)); },
                                     reason);
  };
  refuses({node({"Neg", {"t"}, {"y"}})}, "output 'y' is a sum over the batch (N), taken by");
  refuses({node({"Identity", {"n"}, {"y"}})}, "output 'y' is the number of samples (N)");
  refuses({node({"Add", {"t", "v"}, {"y"}})}, "which takes a sum over the batch (N), and others");
  refuses({node({"Mul", {"t", "t"}, {"y"}})}, "only a loss may be such a sum");
  refuses({node({"Mul", {"t", "n"}, {"y"}})}, "computes with the number of samples");
  refuses({node({"Div", {"h", "n"}, {"y"}})}, "computes with the number of samples");
  refuses({node({"Div", {"v", "n"}, {"y"}})}, "computes with the number of samples");
  refuses({node({"Div", {"t", "n"}, {"m"}}), node({"Div", {"m", "n"}, {"y"}})},
          "computes with the number of samples");
  refuses({node({"Div", {"t", "n"}, {"m"}}), node({"Add", {"m", "t"}, {"y"}})},
          "which takes a mean over the batch (N), and others do not");
}

// Scores of three classes at two places, whose labels count the entries of x above v.
Model own_cross_entropy(const std::vector<std::string>& attributes, const std::string& last = {}) {
  std::vector<std::string> nodes = {
      kProduct,
      node({"Greater", {"x", "v"}, {"g"}}),
      node({"Cast", {"g"}, {"c"}, {int_attribute("to", kInt64)}}),
      node({"ReduceSum", {"c", "one"}, {"l"}, {int_attribute("keepdims", 0)}}),
      node({"SoftmaxCrossEntropyLoss", {"h", "l"}, {last.empty() ? "y" : "e"}, attributes})};
  if (!last.empty()) nodes.push_back(last);
  return own_loss(nodes);
}

TEST(OnnxModel, TakesAMeanOfCrossEntropiesAsItsLoss) {
  const double expected =
      loss_of(own_cross_entropy({text_attribute("reduction", "none")}, mean_of("e", "y", {1})));
  EXPECT_GT(expected, 0);
  EXPECT_NEAR(loss_of(own_cross_entropy({})), expected, 1e-15);
  // As PyTorch exports it: ignoring a label that does not occur changes nothing.
  EXPECT_NEAR(loss_of(own_cross_entropy({int_attribute("ignore_index", -100)})), expected, 1e-15);
  for (const auto& [attributes, words] : std::vector<std::pair<Names, std::string>>{
           {{text_attribute("reduction", "sum")}, "output 'y' is a sum over the batch (N)"},
           {{int_attribute("ignore_index", 1)}, "the batch (N), with weights or ignored labels"}}) {
    test::expect_refusal<InputError>(
        [&, &attributes = attributes] { own_cross_entropy(attributes); }, words);
  }
}

TEST(OnnxModel, RefusesWhatIsNotLinearInAMeanOverSamples) {
  const std::string squares = node({"Mul", {"h", "h"}, {"s"}});
  const std::string reason = "takes a mean over the batch (N)";
  const auto refuses = [&](const std::string& last) {
    test::expect_refusal<InputError>(
        [&] {
          own_loss({kProduct, squares, mean_of("s", "m"), last});
        },
        reason);
  };
  refuses(node({"Sqrt", {"m"}, {"y"}}));
  refuses(node({"Mul", {"m", "m"}, {"y"}}));
  refuses(node({"Div", {"v", "m"}, {"y"}}));
  refuses(node({"Sub", {"h", "m"}, {"y"}}));
  refuses(node({"MatMul", {"h", "m"}, {"y"}}));
  test::expect_refusal<InputError>(
      [&] {
        own_loss({kProduct, squares, mean_of("s", "y")}, "mse");
      },
      "is a mean over the batch (N), taken by node 'y' (ReduceMean");
}

TEST(OnnxModel, AsksWhereTheClassesOfAFoldedOutputAre) {
  const SettingValue loss = std::string("cross-entropy");
  const auto refuses = [&](const Extents& shape, const std::string& reason) {
    test::expect_refusal<InputError>([&] { folded_model({{"loss", loss}}, {3}, shape); }, reason);
  };
  refuses({-1}, "the output has samples on the first of its 1 axes, together with others: classes");
  refuses({-1, 2, 1}, "together with others: say by `class_axis` on which of them its classes are");
  for (const std::int64_t axis : {0, 2, -2}) {
    test::expect_refusal<ConfigError>(
        [&] {
          folded_model({{"loss", loss}, {"class_axis", axis}}, {3});
        },
        "of the 2 axes of the graph's output samples are on the first");
  }
}

}  // namespace
}  // namespace hesscope
