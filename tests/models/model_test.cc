// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/model.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/models/tensor_shapes.h>

#include "models/model_oracle.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using test::expect_refusal;

using Extents = std::vector<std::int64_t>;

Model ridge() {
  ModelBuilder b("ridge");
  const Var w = b.parameter("weight", {3});
  const auto stack = b.parameter_stack("stack", 2, 2, 1);
  const Var x = b.array("inputs", {3});
  const Var y = b.array("target", {});
  const Var label = b.one_hot("label", 4);
  return b.finish(square(matmul_tn(w, x) - y) + sum(square(stack[0] - stack[1])) + sum(label));
}

TEST(ModelBuilder, PlacesParametersAndArraysOneAfterTheOther) {
  const Model model = ridge();
  EXPECT_EQ(model.kind, "ridge");
  EXPECT_EQ(model.num_parameters(), 7);
  EXPECT_EQ(model.record_size(), 8);
  ASSERT_EQ(model.parameters.size(), 2U);
  EXPECT_EQ(model.parameters[1].name, "stack");
  EXPECT_EQ(model.parameters[1].shape, (Extents{2, 2, 1}));
  EXPECT_EQ(model.parameters[1].offset, 3);
  EXPECT_EQ(model.parameters[1].size, 4);
  ASSERT_EQ(model.arrays.size(), 3U);
  EXPECT_EQ(model.arrays[1].offset, 3);
  EXPECT_EQ(model.arrays[1].width, 1);
  EXPECT_EQ(model.arrays[2].content, DataArray::Content::kClass);
  EXPECT_EQ(model.arrays[2].width, 4);
  EXPECT_EQ(model.graph->num_parameters(), 7);
  EXPECT_EQ(model.graph->record_size(), 8);
}

TEST(ModelBuilder, ReadsStacksMatrixByMatrix) {
  const Model model = ridge();
  Eigen::VectorXd theta(7);
  theta << 0, 0, 0, 1, 2, 10, 20;  // stack[0] - stack[1] = (-9, -18)
  const SampleTable sample = SampleTable::Zero(1, 8);
  EXPECT_EQ(test::objective_of(model, sample).value(theta), 81 + 324);
}

TEST(ModelBuilder, RefusesShapesItCannotHold) {
  ModelBuilder b("bad");
  const auto refused = [](const auto& call) { expect_refusal<PreconditionError>(call, "'w'"); };
  refused([&] { b.parameter("w", {2, 0}); });
  refused([&] { b.parameter("w", Extents(9, 1)); });
  refused([&] { b.parameter("w", Extents(8, 1 << 20)); });
  refused([&] { b.parameter_stack("w", 0, 2, 2); });
  refused([&] { b.array("w", Extents(9, 1)); });
  refused([&] { b.array("w", {-1}); });
  refused([&] { b.array("w", {2}, DataArray::Content::kClass); });
  refused([&] { b.array("w", {2}, DataArray::Content::kInteger); });
  refused([&] { b.one_hot("w", 0); });
  refused([&] { b.one_hot("w", {2, 0}, 3); });
  refused([&] { b.one_hot("w", {2}, 0); });
  refused([&] { b.one_hot("w", {1 << 30}, 1 << 30); });
  refused([&] { b.integers("w", {0}, 0, 1); });
  refused([&] { b.integers("w", {2}, 1, 0); });
}

TEST(ModelBuilder, RefusesNamesThatNoFileHolds) {
  const std::string what = "a name must be UTF-8 text";
  ModelBuilder b("bad");
  for (const std::string& name : {std::string(), std::string("a\n"), std::string("\xff")}) {
    expect_refusal<PreconditionError>([&] { b.parameter(name, {2}); }, what);
    expect_refusal<PreconditionError>([&] { b.parameter_stack(name, 1, 2, 2); }, what);
    expect_refusal<PreconditionError>([&] { b.array(name, {2}); }, what);
    expect_refusal<PreconditionError>([&] { b.one_hot(name, 2); }, what);
    expect_refusal<PreconditionError>([&] { b.integers(name, {2}, 0, 1); }, what);
    expect_refusal<PreconditionError>([&] { ModelBuilder{name}; }, "the kind of a model must be");
  }
}

TEST(ModelBuilder, IsSpentOnceItHasFinishedOrIsMovedFrom) {
  ModelBuilder finished("ridge");
  finished.finish(finished.parameter("w", {}));
  ModelBuilder moved("ridge");
  const ModelBuilder other = std::move(moved);
  Graph elsewhere;
  const Var z = elsewhere.parameter(0, 1, 1);
  for (ModelBuilder* const b : {&finished, &moved}) {
    const auto refused = [](const auto& call) {
      expect_refusal<PreconditionError>(call, "ModelBuilder: finish() was called");
    };
    refused([&] { b->parameter("a", {2}); });
    refused([&] { b->parameter_stack("a", 1, 2, 2); });
    refused([&] { b->array("a", {2}); });
    refused([&] { b->one_hot("a", 2); });
    refused([&] { b->one_hot("a", {2}, 2); });
    refused([&] { b->integers("a", {2}, 0, 1); });
    refused([&] { b->constant(Eigen::Matrix2d::Ones()); });
    refused([&] { b->graph(); });
    refused([&] { b->set_prediction(z); });
    refused([&] { b->finish(z); });
  }
}

TEST(ModelBuilder, NothingIsAddedToAFinishedModel) {
  static_assert(!std::is_copy_constructible_v<ModelBuilder>);
  ModelBuilder b("ridge");
  const Var w = b.parameter("w", {});
  const Model model = b.finish(square(w));
  const std::size_t size = model.graph->nodes().size();
  const Eigen::MatrixXd one = Eigen::MatrixXd::Ones(1, 1);
  const std::vector<std::int32_t> first = {0};
  const auto refused = [](const auto& call) {
    expect_refusal<PreconditionError>(call, "the graph is finished");
  };
  refused([&] { w + w; });
  refused([&] { gather(w, first, 1, 1); });
  refused([&] { w.graph().parameter(1, 1, 1); });
  refused([&] { w.graph().input(0, 1, 1); });
  refused([&] { w.graph().constant(one); });
  refused([&] { w.graph().set_output(w); });
  refused([&] { w.graph().set_prediction(w); });
  EXPECT_EQ(model.graph->nodes().size(), size);
  EXPECT_EQ(model.graph->num_parameters(), 1);
  Graph copy = *model.graph;
  copy.parameter(1, 2, 2);
  EXPECT_EQ(copy.num_parameters(), 5);
}

TEST(ModelBuilder, MakesMatricesOfTensorsOfAnyRank) {
  ModelBuilder b("ranks");
  const Var scalar = b.parameter("scalar", {});
  const Var filters = b.parameter("filters", {2, 3, 1, 4});
  const Var image = b.array("image", {3, 2, 4});
  const Var tokens = b.integers("tokens", {5}, -1, 9);
  const Var classes = b.one_hot("classes", {2, 3}, 7);
  const auto expect_size = [](Var v, Eigen::Index rows, Eigen::Index cols) {
    EXPECT_EQ(v.rows(), rows);
    EXPECT_EQ(v.cols(), cols);
  };
  expect_size(scalar, 1, 1);
  expect_size(filters, 6, 4);
  expect_size(image, 6, 4);
  expect_size(tokens, 5, 1);
  expect_size(classes, 6, 7);
  const Model model = b.finish(sum(hadamard(filters, image)) + square(scalar) + sum(tokens) +
                               sum(slice(classes, 5, 6, 1, 1)));
  EXPECT_EQ(model.num_parameters(), 25);
  EXPECT_EQ(model.parameters[0].shape, Extents());
  EXPECT_EQ(model.parameters[1].shape, (Extents{2, 3, 1, 4}));
  EXPECT_EQ(model.record_size(), 24 + 5 + 42);
  EXPECT_EQ(model.arrays[1].minimum, -1);
  EXPECT_EQ(model.arrays[1].maximum, 9);
  EXPECT_EQ(model.arrays[2].num_values(), 6);
  EXPECT_EQ(model.arrays[2].num_classes(), 7);
  // Both are row-major: entry e of the one meets entry e of the other. The last class is 6.
  Eigen::VectorXd theta = Eigen::VectorXd::LinSpaced(25, 0, 24);
  theta[0] = 3;
  SampleTable sample = SampleTable::Zero(1, model.record_size());
  sample(0, 7) = 10;                         // image, meets theta[1 + 7]
  sample(0, 24 + 2) = 5;                     // a token
  sample(0, model.record_size() - 1) = 100;  // class 6 of the last
  EXPECT_EQ(test::objective_of(model, sample).value(theta), 10 * 8 + 9 + 5 + 100);
}

TEST(ModelBuilder, RefusesASecondTensorOfTheSameName) {
  ModelBuilder b("bad");
  b.parameter("w", {2});
  b.array("x", {2});
  expect_refusal<PreconditionError>([&] { b.parameter("w", {3}); }, "two 'w'");
  expect_refusal<PreconditionError>([&] { b.parameter_stack("w", 2, 2, 2); }, "two 'w'");
  expect_refusal<PreconditionError>([&] { b.array("x", {}); }, "two 'x'");
  expect_refusal<PreconditionError>([&] { b.one_hot("x", 3); }, "two 'x'");
}

// As of an autoencoder, whose input is its target.
TEST(ModelBuilder, TakesAnArrayTwice) {
  ModelBuilder b("twice");
  const Var w = b.parameter("w", {2});
  const Var x = b.array("x", {2});
  const Var again = b.array("x", {2});
  const Model model = b.finish(sum(square(hadamard(w, x) - again)));
  EXPECT_EQ(model.arrays.size(), 1U);
  EXPECT_EQ(model.record_size(), 2);
  const SampleTable sample = (SampleTable(1, 2) << 3, 5).finished();
  EXPECT_EQ(test::objective_of(model, sample).value(Eigen::Vector2d(2, 1)), 9);
}

TEST(TensorShapes, SuggestsTheNearestName) {
  const TensorShapes file{"a.npz", {{"layers.0.P", {2, 2}}, {"layers.0.Q", {2, 2}}}};
  EXPECT_EQ(file.at("layers.0.P"), (Extents{2, 2}));
  expect_refusal<InputError>([&] { file.at("layer.0.P"); },
                             "a.npz: no tensor 'layer.0.P' (did you mean 'layers.0.P'?); the file "
                             "holds layers.0.P, layers.0.Q");
  const TensorShapes empty{"b.npz", {}};
  expect_refusal<InputError>([&] { empty.at("w"); }, "b.npz: no tensor 'w'; the file holds none");
}

TEST(TensorShapes, ChecksRankAndExtents) {
  const TensorShapes file{"a.npz", {{"w", {2, 3}}, {"none", {0, 3}}}};
  EXPECT_EQ(file.at("w", 2, "(out, in)"), (Extents{2, 3}));
  expect_refusal<InputError>([&] { file.at("w", 3, "(heads, D, d)"); },
                             "a.npz: tensor 'w': expected shape (heads, D, d) with no empty "
                             "dimension, found (2, 3)");
  expect_refusal<InputError>([&] { file.at("none", 2, "(out, in)"); }, "found (0, 3)");
}

TEST(RequireParameters, AcceptsExactlyTheModelsParameters) {
  const Model model = ridge();
  const auto checkpoint = [](std::map<std::string, Extents> shapes) {
    return TensorShapes{"c.npz", std::move(shapes)};
  };
  EXPECT_NO_THROW(require_parameters(model, checkpoint({{"weight", {3}}, {"stack", {2, 2, 1}}})));
  expect_refusal<InputError>(
      [&] {
        require_parameters(model, checkpoint({{"weight", {3}}}));
      },
      "c.npz: no tensor 'stack'");
  expect_refusal<InputError>(
      [&] {
        require_parameters(model, checkpoint({{"weight", {4}}, {"stack", {2, 2, 1}}}));
      },
      "c.npz: tensor 'weight': expected shape (3,), found (4,)");
  // A transposed or flattened parameter is another parameter.
  expect_refusal<InputError>(
      [&] {
        require_parameters(model, checkpoint({{"weight", {3, 1}}, {"stack", {2, 2, 1}}}));
      },
      "expected shape (3,), found (3, 1)");
  expect_refusal<InputError>(
      [&] {
        require_parameters(model,
                           checkpoint({{"weight", {3}}, {"stack", {2, 2, 1}}, {"bias", {1}}}));
      },
      "c.npz: tensor 'bias' of shape (1,) is no parameter of the ridge model");
}

TEST(RequireArrays, ReturnsTheCommonNumberOfSamples) {
  const Model model = ridge();
  const auto samples = [&](Extents inputs, Extents target, Extents label) {
    return require_arrays(
        model, {"d.npz", {{"inputs", inputs}, {"target", target}, {"label", label}, {"x", {9}}}});
  };
  EXPECT_EQ(samples({5, 3}, {5}, {5}), 5);
  EXPECT_EQ(samples({5, 3}, {5, 1}, {5}), 5);  // (samples, 1) for (samples,)
  EXPECT_EQ(samples({1, 3}, {1}, {1}), 1);
  expect_refusal<InputError>(
      [&] {
        samples({5, 4}, {5}, {5});
      },
      "d.npz: array 'inputs': expected shape (samples, 3), found (5, 4)");
  expect_refusal<InputError>(
      [&] {
        samples({5, 3}, {5, 2}, {5});
      },
      "d.npz: array 'target': expected shape (samples,), found (5, 2)");
  expect_refusal<InputError>([&] { samples({5, 3}, {}, {5}); }, "'target': expected shape");
  expect_refusal<InputError>(
      [&] {
        samples({5, 3}, {4}, {5});
      },
      "d.npz: array 'target' has 4 samples, but 'inputs' has 5");
  expect_refusal<InputError>([&] { samples({0, 3}, {0}, {0}); }, "'inputs' has no samples");
  expect_refusal<InputError>(
      [&] {
        require_arrays(model, {"d.npz", {{"inputs", {5, 3}}}});
      },
      "d.npz: no tensor 'target'");
}

TEST(RequireArrays, AcceptsAVectorWhereRowsHaveOneEntry) {
  ModelBuilder b("scalar");
  const Var w = b.parameter("w", {1});
  const Model model = b.finish(square(w - b.array("target", {1})));
  EXPECT_EQ(require_arrays(model, {"d.npz", {{"target", {7}}}}), 7);
  EXPECT_EQ(require_arrays(model, {"d.npz", {{"target", {7, 1}}}}), 7);
  EXPECT_THROW(require_arrays(model, {"d.npz", {{"target", {7, 2}}}}), InputError);
}

TEST(ModelRegistry, FindsEachKindByItsName) {
  std::vector<std::string> names;
  for (const ModelKind& kind : model_kinds()) {
    names.push_back(kind.name);
    EXPECT_EQ(find_model_kind(kind.name), &kind);
    EXPECT_FALSE(kind.summary.empty());
  }
  EXPECT_THAT(names,
              testing::UnorderedElementsAre("linear-attention",
                                            "linear-attention-population",
                                            "attention",
                                            "attention-classifier",
                                            "signal-noise",
                                            "mlp",
                                            "onnx",
                                            "plugin"));
  EXPECT_EQ(find_model_kind("linear"), nullptr);
}

}  // namespace
}  // namespace hesscope
