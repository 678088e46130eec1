// SPDX-License-Identifier: BSD-3-Clause
//
// The many ways in which checkpoints and data do not fit a problem, and what names them.
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/problem/problem.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/tensors/tensor_file.h>

#include "problem/npz_writer.h"
#include "problem/problem_files.h"
#include "support/files.h"

namespace hesscope {
namespace {

using Tensors = std::map<std::string, test::Tensor>;
using test::kMlpMse;
using test::kPerceptron;
using test::ProblemTest;

const std::string kLinearAttention = "[model]\nkind = \"linear-attention\"\nlayers = 2\n";
const std::string kAttention = "[model]\nkind = \"attention\"\nkernel = \"softmax\"\n";
const std::string kSignalNoise = "[model]\nkind = \"signal-noise\"\n";

TEST_F(ProblemTest, NamesMissingTensors) {
  expect_error(kPerceptron,
               without(network(), "layers.0.weight"),
               points(),
               checkpoint_,
               "no tensor 'layers.0.weight'",
               "did you mean 'layers.1.weight'?");
  expect_error(kPerceptron,
               without(network(), "layers.1.bias"),
               points(),
               checkpoint_,
               "no tensor 'layers.1.bias'");
  expect_error(kPerceptron, network(), without(points(), "target"), data_, "no tensor 'target'");
  expect_error(kPerceptron,
               network(),
               with(without(points(), "inputs"), "input", {{4, 2}, {}}),
               data_,
               "no tensor 'inputs' (did you mean 'input'?)");
}

TEST_F(ProblemTest, NamesTensorsTooMany) {
  expect_error(kPerceptron,
               with(network(), "scheduler.step", {{1}, {}}),
               points(),
               checkpoint_,
               "tensor 'scheduler.step' of shape (1,) is no parameter of the mlp model");
  // A gap in the layers ends the network before the third.
  expect_error(kPerceptron,
               with(network(), "layers.3.weight", {{2, 2}, {}}),
               points(),
               checkpoint_,
               "'layers.3.weight' of shape (2, 2) is no parameter");
  expect_error(kLinearAttention,
               {{"layers.0.P", {{1, 1}, {}}},
                {"layers.0.Q", {{1, 1}, {}}},
                {"layers.1.P", {{1, 1}, {}}},
                {"layers.1.Q", {{1, 1}, {}}},
                {"layers.2.P", {{1, 1}, {}}}},
               {{"Z", {{3, 2, 5}, {}}}, {"target", {{3}, {}}}},
               checkpoint_,
               "tensor 'layers.2.P'",
               "check the number of layers");
}

TEST_F(ProblemTest, NamesParametersOfAnotherShape) {
  expect_error(kPerceptron,
               with(network(), "layers.0.bias", {{2}, {}}),
               points(),
               checkpoint_,
               "tensor 'layers.0.weight': expected shape (out, in) = (2, 3), found (3, 2)");
  expect_error(kPerceptron,
               with(network(), "layers.1.weight", {{3, 2}, {}}),
               points(),
               checkpoint_,
               "tensor 'layers.1.weight': expected shape (out, in) = (2, 3), found (3, 2)");
  expect_error(kPerceptron,
               with(network(), "layers.0.weight", {{6}, {}}),
               points(),
               checkpoint_,
               "tensor 'layers.0.weight': expected shape (out, in)",
               "found (6,)");
  // Sizes come from the data here: the checkpoint must fit them.
  expect_error(kLinearAttention,
               {{"layers.0.P", {{2, 2}, {}}}},
               {{"Z", {{3, 2, 5}, {}}}, {"target", {{3}, {}}}},
               checkpoint_,
               "tensor 'layers.0.P': expected shape (1, 1), found (2, 2)");
}

TEST_F(ProblemTest, NamesDataOfAnotherShape) {
  expect_error(kPerceptron,
               network(),
               with(points(), "inputs", {{4, 3}, {}}),
               data_,
               "array 'inputs': expected shape (samples, 2), found (4, 3)");
  expect_error(kPerceptron,
               network(),
               with(points(), "target", {{4, 3}, {}}),
               data_,
               "array 'target' has the shape (samples, 3); for outputs (samples, 2) a class for");
  expect_error(kMlpMse,
               network(),
               points(),
               data_,
               "array 'target': expected shape (samples, 2), found (4,)");
  const Tensors linear = {{"layers.0.P", {{1, 1}, {}}}};
  expect_error(kLinearAttention,
               linear,
               {{"Z", {{3, 2}, {}}}, {"target", {{3}, {}}}},
               data_,
               "tensor 'Z': expected shape (samples, d+1, n+1)",
               "found (3, 2)");
  expect_error(kLinearAttention,
               linear,
               {{"Z", {{3, 2, 1}, {}}}, {"target", {{3}, {}}}},
               data_,
               "array 'Z': expected shape (samples, d+1, n+1) with d >= 1 and n >= 1");
  const Tensors heads = {
      {"WQ", {{1, 3, 2}, {}}}, {"WK", {{1, 3, 2}, {}}}, {"WV", {{1, 3, 2}, {}}}, {"WO", {{2}, {}}}};
  expect_error(kAttention,
               heads,
               {{"inputs", {{5, 4, 2}, {}}}, {"target", {{5, 4}, {}}}},
               data_,
               "array 'inputs': expected shape (samples, n, 3) to fit 'WQ'",
               checkpoint_.string(),
               "found (5, 4, 2)");
  expect_error(kAttention,
               heads,
               {{"inputs", {{5, 4, 3}, {}}}, {"target", {{5}, {}}}},
               data_,
               "array 'target': expected shape (samples, 4), found (5,)");
}

TEST_F(ProblemTest, NamesArraysWithOtherNumbersOfSamples) {
  expect_error(kPerceptron,
               network(),
               with(points(), "target", {{5}, {}}),
               data_,
               "array 'target' has 5 samples, but 'inputs' has 4");
  expect_error(kPerceptron,
               network(),
               {{"inputs", {{0, 2}, {}}}, {"target", {{0}, {}}}},
               data_,
               "array 'inputs' has no samples");
}

TEST_F(ProblemTest, NamesSamplesWithImpossibleLabels) {
  expect_error(kPerceptron,
               network(),
               with(points(), "target", {{4}, {0, 1, 2, 0}}),
               data_,
               "array 'target', sample 2: expected a class index 0 ... 1, found 2");
  expect_error(kPerceptron,
               network(),
               with(points(), "target", {{4}, {0, 0.5, 1, 0}}),
               data_,
               "array 'target', sample 1: expected a class index 0 ... 1, found 0.5");
  const Tensors transformer = {{"WQ", {{2, 3}, {}}},
                               {"WK", {{2, 3}, {}}},
                               {"WV.pos", {{2, 3}, {}}},
                               {"WV.neg", {{2, 3}, {}}}};
  expect_error(kSignalNoise,
               transformer,
               {{"inputs", {{2, 2, 3}, {}}}, {"target", {{2}, {1, 0}}}},
               data_,
               "array 'target', sample 1: expected +1 or -1, found 0");
  expect_error(kSignalNoise,
               transformer,
               {{"inputs", {{2, 3, 3}, {}}}, {"target", {{2}, {1, -1}}}},
               data_,
               "array 'inputs': expected shape (samples, 2, 3) to fit 'WQ'",
               "found (2, 3, 3)");
}

TEST_F(ProblemTest, NamesADataFileThatIsNotThere) {
  test::write_bytes(folder_ / "problem.toml", kPerceptron + "[data]\nfile = \"absent.npz\"\n");
  test::write_npz(checkpoint_, network());
  const auto open = [&] {
    const Problem problem(read_problem_file(folder_ / "problem.toml"),
                          io::open_tensor_file(checkpoint_));
  };
  try {
    open();
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr((folder_ / "absent.npz").string()));
  }
}

}  // namespace
}  // namespace hesscope
