// SPDX-License-Identifier: BSD-3-Clause
//
// Checkpoints and data that fit a problem, and the messages about those that nearly fit.
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/problem/problem.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/storage/sha256.h>
#include <hesscope/tensors/tensor_file.h>
#include <hesscope/tensors/tensor_map.h>

#include "problem/npz_writer.h"
#include "problem/problem_files.h"
#include "support/files.h"

namespace hesscope {
namespace {

using Tensors = std::map<std::string, test::Tensor>;
using test::kMlpMse;
using test::kPerceptron;
using test::ProblemTest;

TEST_F(ProblemTest, LoadsModelDataAndParameters) {
  const Problem problem = load(kPerceptron, network(), points());
  EXPECT_EQ(problem.model().kind, "mlp");
  EXPECT_EQ(problem.objective().num_parameters(), 17);
  EXPECT_EQ(problem.objective().num_samples(), 4);
  EXPECT_EQ(problem.data_sha256(), io::sha256_of_file(data_));
  const Eigen::VectorXd theta = problem.read_parameters(io::open_tensor_file(checkpoint_));
  Eigen::VectorXd expected(17);
  expected << 0.5, 1, -1, 0.25, 2, 1, 0.1, 0.2, 0.3, 1, -1, 0.5, 0.25, 1, 2, -0.5, 0.5;
  EXPECT_EQ(theta, expected);

  // The mean of log(exp z_0 + exp z_1) - z_target, by hand.
  double loss = 0;
  for (const auto& [x, y, c] : {std::tuple{1, 2, 0}, {3, 4, 1}, {5, 6, 1}, {7, 8, 0}}) {
    const double a = std::tanh(0.5 * x + y + 0.1);
    const double b = std::tanh(-x + 0.25 * y + 0.2);
    const double d = std::tanh(2 * x + y + 0.3);
    const double z[] = {a - b + 0.5 * d - 0.5, 0.25 * a + b + 2 * d + 0.5};
    loss += (std::log(std::exp(z[0]) + std::exp(z[1])) - z[c]) / 4;
  }
  EXPECT_NEAR(problem.objective().value(theta), loss, 1e-15);
}

// Adam's second moments of the network above; entry j of parameter vector order is j / 8.
Tensors adam_of(Tensors checkpoint) {
  double next = 0;
  for (const char* name :
       {"layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"}) {
    test::Tensor moments = checkpoint.at(name);
    for (double& value : moments.values) value = next++ / 8;
    checkpoint["optimizer.exp_avg_sq." + std::string(name)] = moments;
  }
  return checkpoint;
}

TEST_F(ProblemTest, ReadsAdamsSecondMomentsInTheOrderOfTheParameters) {
  const Tensors checkpoint = with(adam_of(network()), "optimizer.step", {{}, {12}});
  const Problem problem = load(kPerceptron, checkpoint, points());
  const io::TensorFile file = io::open_tensor_file(checkpoint_);
  EXPECT_EQ(problem.read_parameters(file).size(), 17);
  const OptimizerState state = problem.read_optimizer_state(file);
  EXPECT_EQ(state.kind, OptimizerKind::kAdam);
  EXPECT_EQ(state.obstacle, "");
  EXPECT_EQ(state.second_moments, Eigen::VectorXd::LinSpaced(17, 0, 2));
  ASSERT_EQ(state.blocks.size(), 4U);
  for (const auto& block : state.blocks) EXPECT_EQ(block.step, 12);
}

TEST_F(ProblemTest, AnOptimisersStateIsOptional) {
  const Problem problem = load(kPerceptron, network(), points());
  EXPECT_EQ(problem.read_optimizer_state(io::open_tensor_file(checkpoint_)).kind,
            OptimizerKind::kNone);
  const Tensors momentum = with(network(), "optimizer.exp_avg.layers.0.bias", {{3}, {1, 2, 3}});
  test::write_npz(checkpoint_, momentum);
  const OptimizerState lion = problem.read_optimizer_state(io::open_tensor_file(checkpoint_));
  EXPECT_EQ(lion.kind, OptimizerKind::kUnknown);
  EXPECT_FALSE(lion.has_second_moments());
  EXPECT_EQ(lion.obstacle, "");
  test::write_npz(checkpoint_, adam_of(network()));
  const OptimizerState adam = problem.read_optimizer_state(io::open_tensor_file(checkpoint_));
  EXPECT_TRUE(adam.has_second_moments());
  EXPECT_FALSE(adam.blocks.front().step.has_value());
}

// What PyTorch has for the same network, see tests/tensors/make_torch_fixtures.py.
io::TensorFile torch_file(const std::string& name) {
  return io::open_tensor_file(test::fixtures().parent_path() / "tensors" / "torch" / name);
}

TEST_F(ProblemTest, ReadsAdamsStateAsPyTorchStoresIt) {
  const Problem problem = load(kPerceptron, network(), points());
  const io::TensorFile file = torch_file("training.pt");
  const OptimizerState state = problem.read_optimizer_state(file.part("model_state_dict"));
  EXPECT_EQ(state.obstacle, "");
  EXPECT_EQ(state.kind, OptimizerKind::kAdam);
  EXPECT_EQ(state.groups.at(0).learning_rate, 0.01);
  EXPECT_EQ(state.blocks.at(0).step, 3);
  std::vector<double> expected;
  for (const std::string number : {"0", "1", "2", "3"}) {
    const auto part = file.read("optimizer_state_dict.state." + number + ".exp_avg_sq");
    expected.insert(expected.end(), part.begin(), part.end());
  }
  EXPECT_EQ(state.second_moments, Eigen::Map<const Eigen::VectorXd>(expected.data(), 17));

  const OptimizerState old = problem.read_optimizer_state(torch_file("old-adam.pt").part("net"));
  EXPECT_EQ(old.second_moments, state.second_moments);
  EXPECT_EQ(old.blocks.at(3).step, 3);

  // Two groups, weights and biases: shapes say which is which.
  const io::TensorFile two = torch_file("groups.pt");
  const OptimizerState groups = problem.read_optimizer_state(two.part("model"));
  EXPECT_EQ(groups.obstacle, "");
  ASSERT_EQ(groups.groups.size(), 2U);
  EXPECT_EQ(groups.groups[1].weight_decay, 0.1);
  EXPECT_EQ(groups.blocks.at(0).group, 0U);
  EXPECT_EQ(groups.blocks.at(1).group, 1U);
  const std::vector<double> bias = two.read("optimizer.state.2.exp_avg_sq");
  EXPECT_EQ(groups.second_moments.segment(6, 3), Eigen::Map<const Eigen::Vector3d>(bias.data()));
  EXPECT_EQ(problem.read_optimizer_state(torch_file("parallel.pt").part("ema")).kind,
            OptimizerKind::kNone);
}

// The state is outside of the part that the map renames, and its moments have the layout of the
// file.
TEST_F(ProblemTest, ReadsAdamsStateBesideParametersThatAMapRenamesAndTransposes) {
  const Problem problem = load(kPerceptron, network(), points());
  const io::TensorFile file = torch_file("training.pt");
  const Eigen::VectorXd moments =
      problem.read_optimizer_state(file.part("model_state_dict")).second_moments;
  const io::TensorMap names{.rules = {{.name = "layers.*.weight", .source = "w*"},
                                      {.name = "layers.*.bias", .source = "b*"}}};
  const io::TensorMap backwards{.rules = {{.name = "w*", .source = "layers.*.weight"},
                                          {.name = "b*", .source = "layers.*.bias"}}};
  const io::TensorFile renamed = mapped(mapped(file.part("model_state_dict"), backwards), names);
  EXPECT_EQ(problem.read_optimizer_state(renamed).second_moments, moments);

  // As Keras stores them: the kernel as (in, out), and so its moments.
  Tensors keras = without(adam_of(network()), "layers.0.weight");
  keras["kernel"] = {{2, 3}, {0.5, -1, 2, 1, 0.25, 1}};
  keras["optimizer.exp_avg_sq.layers.0.weight"] = {{2, 3}, {0, 0.25, 0.5, 0.125, 0.375, 0.625}};
  test::write_npz(checkpoint_, keras);
  const io::TensorMap turned{
      .rules = {{.name = "layers.0.weight", .source = "kernel", .transpose = true}}};
  const io::TensorFile view = mapped(io::open_tensor_file(checkpoint_), turned);
  EXPECT_NE(view.whole().find("kernel"), nullptr);
  EXPECT_EQ(problem.read_optimizer_state(view).second_moments,
            Eigen::VectorXd::LinSpaced(17, 0, 2));
}

TEST_F(ProblemTest, NamesTheKeysUnderWhichACheckpointFits) {
  load(kPerceptron, network(), points());
  const auto refused = [&](const io::TensorFile& file, const std::string& part) {
    EXPECT_THAT([&] { Problem(read_problem_file(folder_ / "problem.toml"), file, 1); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr(part)));
  };
  refused(torch_file("training.pt"), "'model_state_dict' does: choose `key` model_state_dict");
  refused(torch_file("parallel.pt"),
          "'ema', 'state_dict' does: choose one of them, as by `key` ema");
  refused(torch_file("unreadable.pt"), "its elements are torch.ComplexFloatStorage");
  const Problem problem(
      read_problem_file(folder_ / "problem.toml"), torch_file("groups.pt").part("model"), 1);
  EXPECT_EQ(problem.objective().num_parameters(), 17);
}

TEST_F(ProblemTest, ReadsNamesThatAWrapperBeginsWithoutIt) {
  load(kPerceptron, network(), points());
  const io::TensorFile file = torch_file("parallel.pt");
  const Problem problem(read_problem_file(folder_ / "problem.toml"), file.part("state_dict"), 1);
  EXPECT_EQ(problem.read_parameters(file.part("state_dict")),
            problem.read_parameters(file.part("ema")));
}

TEST_F(ProblemTest, ReadsArraysUnderTheNamesOfTheDataFile) {
  const Eigen::VectorXd theta = Eigen::VectorXd::LinSpaced(17, -1, 1);
  const double loss = load(kPerceptron, network(), points()).objective().value(theta);
  test::write_npz(data_,
                  {{"train.X", points().at("inputs")},
                   {"y", points().at("target")},
                   {"target", {{4}, {3, 3, 3, 3}}}});  // not this one
  const auto open = [&](const std::string& arrays) {
    test::write_bytes(folder_ / "problem.toml",
                      kPerceptron + "[data]\nfile = \"data.npz\"\n[data.arrays]\n" + arrays);
    return Problem(
        read_problem_file(folder_ / "problem.toml"), io::open_tensor_file(checkpoint_), 1);
  };
  const Problem problem = open("inputs = \"train.X\"\ntarget = \"y\"\n");
  EXPECT_EQ(problem.objective().value(theta), loss);
  EXPECT_THAT([&] { open("inputs = \"train.Y\"\ntarget = \"y\"\n"); },
              testing::ThrowsMessage<InputError>(testing::AllOf(
                  testing::HasSubstr("there is no tensor 'train.Y'"),
                  testing::HasSubstr("problem.toml:8 reads as 'inputs' (did you mean 'train.X'"))));
  EXPECT_THAT([&] { open("inputs = \"train.X\"\ntarget = \"y\"\nweights = \"y\"\n"); },
              testing::ThrowsMessage<ConfigError>(testing::AllOf(
                  testing::HasSubstr("problem.toml:10: unknown array 'weights' in [data.arrays]"),
                  testing::HasSubstr("takes inputs, target"))));
}

TEST_F(ProblemTest, SaysWhichArraysWouldFit) {
  const std::string culprit = data_.string();
  const Tensors unnamed = {{"X", points().at("inputs")}, {"y", points().at("target")}};
  expect_error(kPerceptron,
               network(),
               unnamed,
               culprit,
               "no tensor 'inputs'",
               "[data.arrays] inputs = ",
               "target = ");
  expect_error(
      kPerceptron, network(), with(unnamed, "other", {{9}, {}}), culprit, "[data.arrays] inputs");
  // Two could be meant.
  try {
    load(kPerceptron, network(), with(unnamed, "z", {{4}, {}}));
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("[data.arrays]")));
  }
}

TEST_F(ProblemTest, RemarksOnDataThatFitButAreOdd) {
  // NumPy's float64 for classes.
  EXPECT_THAT(
      load(kPerceptron, network(), points()).remarks(),
      testing::ElementsAre(testing::AllOf(testing::StartsWith(data_.string() + ": array 'target'"),
                                          testing::HasSubstr("class labels as float64"))));
  const Tensors pixels = with(points(), "inputs", {{4, 2}, {0, 255, 3, 17, 128, 254, 1, 9}});
  EXPECT_THAT(load(kPerceptron, network(), pixels).remarks(),
              testing::ElementsAre(testing::HasSubstr("whole numbers from 0 to 255"), testing::_));
  const Tensors scaled = with(points(), "inputs", {{4, 2}, {0, 255, 3.5, 17, 128, 254, 1, 9}});
  EXPECT_EQ(load(kPerceptron, network(), scaled).remarks().size(), 1U);
}

TEST_F(ProblemTest, ACounterBesideTheParametersIsNone) {
  const Tensors counted = with(with(network(), "epoch", {{}, {3}}), "loss", {{1}, {0.5}});
  EXPECT_EQ(load(kPerceptron, counted, points()).objective().num_parameters(), 17);
  expect_error(
      kPerceptron, with(network(), "epochs", {{}, {3}}), points(), checkpoint_, "'epochs'");
}

TEST_F(ProblemTest, SaysWhyAnAdamStateThatDoesNotFitCannotBeUsed) {
  const std::string name = "optimizer.exp_avg_sq.layers.0.bias";
  const Problem problem = load(kPerceptron, network(), points());
  const auto refused = [&](const Tensors& checkpoint, const std::string& part) {
    test::write_npz(checkpoint_, checkpoint);
    const OptimizerState state = problem.read_optimizer_state(io::open_tensor_file(checkpoint_));
    EXPECT_THAT(state.obstacle, testing::HasSubstr(part));
    EXPECT_FALSE(state.has_second_moments());
    EXPECT_EQ(state.file, checkpoint_.string());
  };
  const Tensors good = adam_of(network());
  refused(without(good, name), "'exp_avg_sq' of 'layers.0.bias' is missing");
  refused(with(good, name, {{2}, {1, 2}}), "expected shape (3,), found (2,)");
  refused(with(good, name, {{3}, {1, -1, 2}}), "negative or not finite");
  refused(with(good, name, {{3}, {1, std::nan(""), 2}}), "negative or not finite");
  refused(with(good, "optimizer.step", {{}, {0}}), "must be one whole number, at least 1");
  refused(with(good, "optimizer.step", {{}, {1.5}}), "must be one whole number, at least 1");
  refused(with(good, "optimizer.step", {{2}, {1, 2}}), "must be one whole number, at least 1");
}

TEST_F(ProblemTest, IgnoresFurtherArraysOfADataFile) {
  const Tensors data = with(points(), "seed", {{}, {7}});
  EXPECT_EQ(load(kPerceptron, network(), data).objective().num_samples(), 4);
}

TEST_F(ProblemTest, AcceptsAVectorOfTargetsForOneOutput) {
  Tensors checkpoint = network();
  checkpoint["layers.1.weight"] = {{1, 3}, {1, 2, 3}};
  checkpoint["layers.1.bias"] = {{1}, {0.5}};
  const test::Tensor column{{4, 1}, {0.5, 1, 2, -1}};
  const test::Tensor vector{{4}, column.values};
  const auto value_with = [&](const test::Tensor& target) {
    const Problem problem = load(kMlpMse, checkpoint, with(points(), "target", target));
    return problem.objective().value(problem.read_parameters(io::open_tensor_file(checkpoint_)));
  };
  EXPECT_EQ(value_with(vector), value_with(column));
}

TEST_F(ProblemTest, ChecksEveryFurtherCheckpoint) {
  const Problem problem = load(kPerceptron, network(), points());
  test::write_npz(folder_ / "step-000001.npz", with(network(), "layers.1.bias", {{3}, {}}));
  const io::TensorFile other = io::open_tensor_file(folder_ / "step-000001.npz");
  EXPECT_THROW(problem.read_parameters(other), InputError);
}

TEST_F(ProblemTest, PassesNonFiniteWeightsAndRefusesSuchData) {
  try {
    load(kPerceptron,
         network(),
         with(points(), "inputs", {{4, 2}, {1, 2, std::nan(""), 4, 5, 6, 7, 8}}));
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("array 'inputs', sample 1: expected finite numbers, found nan"));
  }
  // The loss shows weights that are not; a file is not refused for them.
  const Problem bad_weights =
      load(kPerceptron, with(network(), "layers.0.bias", {{3}, {HUGE_VAL, 0, 0}}), points());
  EXPECT_EQ(bad_weights.read_parameters(io::open_tensor_file(checkpoint_))(6), HUGE_VAL);
}

}  // namespace
}  // namespace hesscope
