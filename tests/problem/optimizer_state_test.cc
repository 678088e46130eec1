// SPDX-License-Identifier: BSD-3-Clause
//
// What PyTorch's optimisers leave in checkpoints (make_optimizer_fixtures.py), and what looks like
// it.
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/problem/problem.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/tensors/tensor_file.h>

#include "problem/npz_writer.h"
#include "support/files.h"

namespace hesscope {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::filesystem::path kFolder = test::fixtures().parent_path() / "problem" / "optimizers";

class OptimizerStateTest : public testing::Test {
 protected:
  io::TensorFile file(const std::string& name) const {
    return io::open_tensor_file(kFolder / (name + ".pt"));
  }

  // For a problem that fits it.
  OptimizerState read(const io::TensorFile& checkpoint) const {
    const bool is_deep = checkpoint.find("layers.10.P") != nullptr;
    const std::string model =
        is_deep ? "kind = \"linear-attention\"\nlayers = 11\n"
                : "kind = \"mlp\"\nactivation = \"tanh\"\nloss = \"cross-entropy\"\n";
    test::write_bytes(folder_ / "problem.toml",
                      "[model]\n" + model + "[data]\nfile = \"" +
                          (kFolder / (is_deep ? "prompts.npz" : "points.npz")).string() + "\"\n");
    const Problem problem(read_problem_file(folder_ / "problem.toml"), checkpoint, 1);
    return problem.read_optimizer_state(checkpoint);
  }

  OptimizerState read(const std::string& name) const { return read(file(name).part("model")); }

  // A .npz of these and, under "net", the perceptron of adam.pt.
  OptimizerState read_with(const std::map<std::string, test::Tensor>& more) const {
    const io::TensorFile adam = file("adam").part("model");
    std::map<std::string, test::Tensor> all = more;
    for (const io::TensorInfo& tensor : adam.tensors()) {
      all["net." + tensor.name] = {tensor.shape, adam.read(tensor.name)};
    }
    test::write_npz(folder_ / "network.npz", all);
    return read(io::open_tensor_file(folder_ / "network.npz").part("net"));
  }

  // FIELD of numbered parameters, one after the other.
  static Eigen::VectorXd stored(const io::TensorFile& whole,
                                const std::vector<int>& numbers,
                                const std::string& field) {
    std::vector<double> all;
    for (const int number : numbers) {
      const auto part = whole.read("optimizer.state." + std::to_string(number) + "." + field);
      all.insert(all.end(), part.begin(), part.end());
    }
    return Eigen::Map<const Eigen::VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
  }

  test::ScratchFolder folder_;
};

TEST_F(OptimizerStateTest, KnowsTheKindByWhatIsStored) {
  const std::vector<std::tuple<std::string, OptimizerKind, std::string, std::int64_t>> all = {
      {"adam", OptimizerKind::kAdam, "exp_avg_sq", 7},
      {"amsgrad", OptimizerKind::kAmsgrad, "max_exp_avg_sq", 30},
      {"nadam", OptimizerKind::kNAdam, "exp_avg_sq", 400},
      {"radam", OptimizerKind::kRAdam, "exp_avg_sq", 12},
      {"adamax", OptimizerKind::kAdamax, "exp_inf", 7},
      {"rmsprop", OptimizerKind::kRmsprop, "square_avg", 7},
      {"adagrad", OptimizerKind::kAdagrad, "sum", 7}};
  for (const auto& [name, kind, field, steps] : all) {
    SCOPED_TRACE(name);
    const OptimizerState state = read(name);
    EXPECT_EQ(state.kind, kind);
    EXPECT_EQ(state.obstacle, "");
    if (kind == OptimizerKind::kRAdam) {  // other optimisers keep the same, with the same settings
      EXPECT_THAT(state.warnings, ElementsAre(HasSubstr("it is taken as RAdam")));
    } else {
      EXPECT_THAT(state.warnings, IsEmpty());
    }
    EXPECT_EQ(state.second_moments, stored(file(name), {0, 1, 2, 3}, field));
    EXPECT_EQ(state.prefix, "optimizer.");
    for (const auto& block : state.blocks) {
      EXPECT_EQ(block.group, 0U);
      EXPECT_EQ(block.step, steps);
    }
  }
  for (const std::string name : {"sgd", "momentum", "nesterov", "maximize"}) {
    const OptimizerState state = read(name);
    EXPECT_EQ(state.kind, OptimizerKind::kSgd);
    EXPECT_FALSE(state.has_second_moments());
    EXPECT_EQ(state.obstacle, "");
  }
}

TEST_F(OptimizerStateTest, ReadsSettings) {
  const OptimizerSettings adam = {
      .learning_rate = 0.02, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-4, .weight_decay = 0};
  EXPECT_THAT(read("adam").groups, ElementsAre(adam));
  EXPECT_THAT(read("adam-start").groups, ElementsAre(adam));
  const OptimizerSettings momentum = read("momentum").groups.at(0);
  EXPECT_EQ(momentum.learning_rate, 0.2);
  EXPECT_EQ(momentum.momentum, 0.9);
  EXPECT_EQ(momentum.dampening, 0.3);
  EXPECT_EQ(momentum.weight_decay, 0.01);
  EXPECT_FALSE(momentum.is_nesterov);
  EXPECT_TRUE(read("nesterov").groups.at(0).is_nesterov);
  EXPECT_TRUE(read("maximize").groups.at(0).is_maximizing);
  EXPECT_EQ(read("nadam").groups.at(0).momentum_decay, 4e-3);
  EXPECT_TRUE(read("nadam").blocks.at(2).momentum_product.has_value());
  EXPECT_EQ(read("adagrad").groups.at(0).learning_rate_decay, 0.05);
  const OptimizerState centered = read("rmsprop-centered");
  EXPECT_TRUE(centered.groups.at(0).is_centered);
  EXPECT_EQ(centered.first_moments, stored(file("rmsprop-centered"), {0, 1, 2, 3}, "grad_avg"));
}

TEST_F(OptimizerStateTest, HasNothingBeforeTheFirstStep) {
  for (const std::string name : {"adam-start", "adagrad-start"}) {
    SCOPED_TRACE(name);
    const OptimizerState state = read(name);
    EXPECT_FALSE(state.has_second_moments());
    EXPECT_EQ(state.obstacle, "");
    EXPECT_TRUE(state.groups.at(0).learning_rate.has_value());
    EXPECT_FALSE(state.blocks.at(0).step.has_value());
  }
}

TEST_F(OptimizerStateTest, FindsTheParametersOfGroupsByTheirShapes) {
  const OptimizerState state = read("adamw-groups");
  EXPECT_EQ(state.obstacle, "");
  ASSERT_EQ(state.groups.size(), 2U);
  EXPECT_EQ(state.groups[0].weight_decay, 0.1);
  EXPECT_EQ(state.groups[1].learning_rate, 0.005);
  std::vector<std::size_t> groups;
  for (const auto& block : state.blocks) groups.push_back(block.group.value());
  EXPECT_THAT(groups, ElementsAre(0, 1, 0, 1));  // weight, bias, weight, bias
  EXPECT_EQ(state.second_moments, stored(file("adamw-groups"), {0, 2, 1, 3}, "exp_avg_sq"));
}

TEST_F(OptimizerStateTest, GoesByNamesWhereTheyAreStored) {
  const Eigen::VectorXd moments = read("adam").second_moments;
  ASSERT_EQ(moments.size(), 17);
  for (const std::string name : {"by-name", "flattened", "wrapped"}) {
    SCOPED_TRACE(name);
    const OptimizerState state = read(name);
    EXPECT_EQ(state.kind, OptimizerKind::kAdam);
    EXPECT_EQ(state.obstacle, "");
    EXPECT_EQ(state.second_moments, moments);
    EXPECT_EQ(state.blocks.at(3).step, 7);
    if (name != "wrapped") {
      EXPECT_EQ(state.groups.at(0).learning_rate, 0.02);
    }
  }
}

// A state_dict that was sorted: the optimiser still numbers parameters as the model has them.
TEST_F(OptimizerStateTest, DoesNotPermuteTheStateOfASortedCheckpoint) {
  const OptimizerState sorted = read("sorted");
  EXPECT_EQ(file("sorted").part("model").tensors()[0].name, "layers.0.bias");
  EXPECT_EQ(sorted.obstacle, "");
  EXPECT_THAT(sorted.warnings, IsEmpty());  // shapes settle it
  EXPECT_EQ(sorted.second_moments, read("adam").second_moments);

  const OptimizerState deep = read("deep");
  EXPECT_THAT(deep.warnings, IsEmpty());
  const OptimizerState doubtful = read("deep-sorted");
  EXPECT_EQ(file("deep-sorted").part("model").tensors()[2].name, "layers.1.P");
  EXPECT_EQ(file("deep-sorted").part("model").tensors()[4].name, "layers.10.P");
  EXPECT_EQ(doubtful.second_moments, deep.second_moments);
  EXPECT_THAT(doubtful.warnings, ElementsAre(HasSubstr("alphabetical order")));
  const OptimizerState settled = read("deep-sorted-named");
  EXPECT_EQ(settled.second_moments, deep.second_moments);
  EXPECT_THAT(settled.warnings, IsEmpty());
}

// model.parameters() of a network whose first layer is frozen: the optimiser numbers all six, and
// keeps something for those that have gradients.
TEST_F(OptimizerStateTest, FindsTheParametersThatAreNotFrozen) {
  const io::TensorFile adam = file("adam").part("model");
  std::map<std::string, test::Tensor> tensors;
  for (const char* key : {"lr", "betas.0", "betas.1", "eps", "weight_decay", "amsgrad"}) {
    tensors[std::string("optimizer.param_groups.0.") + key] = {{}, {0}};
  }
  std::vector<double> all;
  for (int k = 0; k < 6; ++k) {
    tensors["optimizer.param_groups.0.params." + std::to_string(k)] = {{}, {1.0 * k}};
    if (k < 2) continue;
    const io::TensorInfo& tensor = adam.tensors()[static_cast<std::size_t>(k - 2)];
    std::vector<double> values = adam.read(tensor.name);
    for (double& value : values) value = std::abs(value);
    all.insert(all.end(), values.begin(), values.end());
    const std::string state = "optimizer.state." + std::to_string(k);
    tensors[state + ".exp_avg"] = {tensor.shape, values};
    tensors[state + ".exp_avg_sq"] = {tensor.shape, values};
    tensors[state + ".step"] = {{}, {7}};
  }
  const OptimizerState state = read_with(tensors);
  EXPECT_EQ(state.obstacle, "");
  EXPECT_EQ(state.second_moments,
            Eigen::Map<const Eigen::VectorXd>(all.data(), static_cast<Eigen::Index>(all.size())));
  // One more without a state is one that the model has.
  for (const char* field : {"exp_avg", "exp_avg_sq", "step"}) {
    tensors.erase(std::string("optimizer.state.5.") + field);
  }
  EXPECT_THAT(read_with(tensors).obstacle, HasSubstr("it is of 6 parameters, the model has 4"));
}

TEST_F(OptimizerStateTest, SaysWhatItDoesNotUnderstand) {
  EXPECT_THAT(read("adadelta").obstacle,
              AllOf(HasSubstr("which optimiser it is cannot be inferred"), HasSubstr("rho")));
  EXPECT_FALSE(read("lbfgs").obstacle.empty());
  const test::Tensor bias = {{3}, {1, 2, 3}};
  const auto obstacle = [&](const std::string& name) { return read_with({{name, bias}}).obstacle; };
  EXPECT_THAT(obstacle("optimizer.exp_avg_sqr.layers.0.bias"),
              AllOf(HasSubstr("'optimizer.exp_avg_sqr.layers.0.bias' is named as an optimiser's"),
                    HasSubstr("did you mean 'exp_avg_sq'?")));
  EXPECT_THAT(obstacle("optim.v.layers.0.bias"), HasSubstr("not understood"));
  EXPECT_THAT(obstacle("state.1.square_avg"), HasSubstr("nothing says which optimiser it is"));
  EXPECT_THAT(obstacle("optimizer.state.other.bias.exp_avg_sq"),
              HasSubstr("named otherwise than the model's, as 'other.bias'"));
  EXPECT_THAT(obstacle("optimizer.state.layers.0.bias.exp_avg_sq"),
              HasSubstr("'exp_avg_sq' of 'layers.0.weight' is missing"));
  EXPECT_THAT(obstacle("state.1.exp_avg_sq"),
              HasSubstr("nothing says which number is which parameter"));
  for (const std::string parameter : {"layers.0.bias", "1"}) {
    const OptimizerState state = read_with({{"optimizer.state." + parameter + ".exp_avg_sq", bias},
                                            {"optimizer.param_groups.0.lr", {{}, {0.1}}},
                                            {"optimizer.param_groups.0.betas.0", {{}, {0.9}}},
                                            {"optimizer.param_groups.0.betas.1", {{}, {0.999}}},
                                            {"optimizer.param_groups.0.eps", {{}, {1e-8}}}});
    EXPECT_FALSE(state.obstacle.empty()) << parameter;
    EXPECT_FALSE(state.has_second_moments()) << parameter;
  }
  EXPECT_EQ(read_with({}).obstacle, "");
  EXPECT_EQ(read_with({}).kind, OptimizerKind::kNone);
}

TEST_F(OptimizerStateTest, NamesWhatItLeavesOut) {
  std::map<std::string, test::Tensor> tensors;
  const io::TensorFile adam = file("adam").part("model");
  for (const io::TensorInfo& tensor : adam.tensors()) {
    tensors["optimizer.exp_avg_sq." + tensor.name] = {
        tensor.shape, std::vector<double>(static_cast<std::size_t>(tensor.num_elements()), 0.25)};
  }
  EXPECT_THAT(read_with(tensors).warnings, IsEmpty());
  tensors["optimizer.lookahead.layers.0.bias"] = {{3}, {1, 2, 3}};
  const OptimizerState state = read_with(tensors);
  EXPECT_TRUE(state.has_second_moments());
  EXPECT_THAT(state.warnings, ElementsAre(HasSubstr("'optimizer.lookahead.layers.0.bias'")));
}

TEST_F(OptimizerStateTest, AsksWhichOfTwoIsMeant) {
  std::map<std::string, test::Tensor> tensors;
  const io::TensorFile adam = file("adam").part("model");
  for (const io::TensorInfo& tensor : adam.tensors()) {
    for (const std::string owner : {"a.", "b."}) {
      tensors[owner + "optimizer.exp_avg_sq." + tensor.name] = {
          tensor.shape, std::vector<double>(static_cast<std::size_t>(tensor.num_elements()), 1)};
    }
  }
  EXPECT_THAT(read_with(tensors).obstacle,
              HasSubstr("states of optimisers under 'a.optimizer.' and 'b.optimizer.'"));
}

// As `hesscope train` writes them: one group that lists nothing is of all that is kept.
TEST_F(OptimizerStateTest, TakesAGroupWithoutAListForAll) {
  const auto with_settings = [](std::map<std::string, test::Tensor> tensors) {
    for (const auto& [key, value] : std::map<std::string, double>{{"lr", 0.5},
                                                                  {"betas.0", 0.25},
                                                                  {"betas.1", 0.75},
                                                                  {"eps", 1e-3},
                                                                  {"amsgrad", 0},
                                                                  {"weight_decay", 0}}) {
      tensors["optimizer.param_groups.0." + key] = {{}, {value}};
    }
    return tensors;
  };
  std::map<std::string, test::Tensor> tensors;
  const io::TensorFile adam = file("adam").part("model");
  for (const io::TensorInfo& tensor : adam.tensors()) {
    tensors["optimizer.exp_avg_sq." + tensor.name] = {
        tensor.shape, std::vector<double>(static_cast<std::size_t>(tensor.num_elements()), 0.25)};
  }
  tensors["optimizer.step"] = {{}, {7}};
  const OptimizerState state = read_with(with_settings(tensors));
  EXPECT_EQ(state.obstacle, "");
  EXPECT_EQ(state.kind, OptimizerKind::kAdam);
  ASSERT_EQ(state.groups.size(), 1U);
  EXPECT_EQ(state.groups[0].learning_rate, 0.5);
  EXPECT_EQ(state.groups[0].beta2, 0.75);
  EXPECT_TRUE(state.has_second_moments());
  for (const OptimizerState::Block& block : state.blocks) {
    EXPECT_EQ(block.group, 0U);
    EXPECT_EQ(block.step, 7);
  }
  // A parameter of which nothing is kept was not given to it.
  tensors.erase("optimizer.exp_avg_sq.layers.0.bias");
  const OptimizerState part = read_with(with_settings(tensors));
  EXPECT_EQ(part.obstacle, "");
  EXPECT_EQ(std::ranges::count_if(part.blocks, [](const auto& block) { return !block.group; }), 1);
  // Before the first step nothing is.
  const OptimizerState start = read_with(with_settings({}));
  EXPECT_EQ(start.obstacle, "");
  EXPECT_EQ(start.kind, OptimizerKind::kAdam);
  EXPECT_FALSE(start.has_second_moments());
  for (const OptimizerState::Block& block : start.blocks) EXPECT_EQ(block.group, 0U);
}

// Adam over a part of the model, and over another one, are refused; so is what keeps no squares.
TEST_F(OptimizerStateTest, IsOfThisModel) {
  const test::Tensor rate = {{}, {0.5}};
  const auto sgd_of = [&](int num_parameters, std::map<std::string, test::Tensor> more = {}) {
    for (const char* key : {"lr", "momentum", "dampening", "nesterov"}) {
      more[std::string("optimizer.param_groups.0.") + key] = rate;
    }
    for (int k = 0; k < num_parameters; ++k) {
      more["optimizer.param_groups.0.params." + std::to_string(k)] = {{}, {1.0 * k}};
    }
    return read_with(more);
  };
  const OptimizerState whole = sgd_of(4);
  EXPECT_EQ(whole.kind, OptimizerKind::kSgd);
  EXPECT_EQ(whole.obstacle, "");
  EXPECT_EQ(whole.num_not_given, 0U);
  EXPECT_EQ(whole.groups.at(0).learning_rate, 0.5);
  EXPECT_EQ(sgd_of(5).num_not_given, 0U);
  const OptimizerState part = sgd_of(2);
  EXPECT_EQ(part.num_not_given, 2U);
  EXPECT_THAT(part.obstacle, HasSubstr("it is of 2 parameters, the model has 4"));
  EXPECT_EQ(part.groups.at(0).learning_rate, 0.5);
  const test::Tensor strange = {{7}, {1, 2, 3, 4, 5, 6, 7}};
  EXPECT_THAT(sgd_of(4, {{"optimizer.state.2.momentum_buffer", strange}}).obstacle,
              HasSubstr("fits no parameter of the model"));

  std::map<std::string, test::Tensor> tensors;
  const io::TensorFile adam = file("adam").part("model");
  for (const io::TensorInfo& tensor : adam.tensors()) {
    const std::string name = tensor.name == "layers.1.bias" ? "head.shift" : tensor.name;
    tensors["optimizer.exp_avg_sq." + name] = {
        tensor.shape, std::vector<double>(static_cast<std::size_t>(tensor.num_elements()), 0.25)};
  }
  EXPECT_THAT(read_with(tensors).obstacle,
              HasSubstr("'head.shift' of it matches no parameter, and the model's 'layers.1.bias' "
                        "matches none of it"));
}

// Two groups of two parameters each, of which nothing says which they are.
TEST_F(OptimizerStateTest, AsksForTheOrderOfGroupsOnlyWhereItDecidesSomething) {
  using Numbers = std::map<std::string, double>;
  const auto read_groups = [&](const Numbers& common, const Numbers& first, const Numbers& second) {
    std::map<std::string, test::Tensor> tensors;
    for (int g = 0; g < 2; ++g) {
      const std::string group = "optimizer.param_groups." + std::to_string(g) + ".";
      for (const Numbers& numbers : {common, g == 0 ? first : second}) {
        for (const auto& [key, value] : numbers) tensors[group + key] = {{}, {value}};
      }
      for (int k = 0; k < 2; ++k) {
        tensors[group + "params." + std::to_string(k)] = {{}, {2.0 * g + k}};
      }
    }
    return read_with(tensors);
  };
  const auto groups_in = [](const OptimizerState& state) {
    std::vector<std::size_t> groups;
    for (const auto& block : state.blocks) groups.push_back(block.group.value());
    return groups;
  };
  const Numbers sgd = {{"lr", 0.5}, {"momentum", 0}, {"dampening", 0}, {"nesterov", 0}};
  const OptimizerState plain = read_groups(sgd, {{"weight_decay", 0.1}}, {{"weight_decay", 0}});
  EXPECT_EQ(plain.obstacle, "");
  EXPECT_THAT(groups_in(plain), ElementsAre(0, 0, 0, 0));
  const OptimizerState momenta = read_groups(sgd, {{"momentum", 0.9}}, {});
  EXPECT_EQ(momenta.obstacle, "");
  EXPECT_THAT(groups_in(momenta), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(read_groups(sgd, {{"lr", 0.1}}, {}).obstacle, HasSubstr("several groups"));

  const Numbers adam = {
      {"lr", 0.5}, {"betas.0", 0.9}, {"betas.1", 0.99}, {"eps", 1e-8}, {"amsgrad", 0}};
  const OptimizerState decays = read_groups(adam, {{"weight_decay", 0.1}}, {{"weight_decay", 0}});
  EXPECT_EQ(decays.obstacle, "");
  EXPECT_THAT(groups_in(decays), ElementsAre(0, 0, 0, 0));
  const OptimizerState rates = read_groups(adam, {{"lr", 0.1}}, {});
  EXPECT_EQ(rates.kind, OptimizerKind::kAdam);
  EXPECT_EQ(rates.obstacle, "");
  EXPECT_FALSE(rates.has_second_moments());
  EXPECT_THAT(rates.blocks, IsEmpty());
}

TEST_F(OptimizerStateTest, DoesNotUseNumbersThatCannotBe) {
  for (const double rate : {-0.5, std::nan(""), HUGE_VAL}) {
    const OptimizerState state = read_with({{"optimizer.param_groups.0.lr", {{}, {rate}}},
                                            {"optimizer.param_groups.0.momentum", {{}, {0.9}}},
                                            {"optimizer.param_groups.0.dampening", {{}, {0.0}}},
                                            {"optimizer.param_groups.0.nesterov", {{}, {0.0}}}});
    EXPECT_FALSE(state.groups.at(0).learning_rate.has_value());
    EXPECT_EQ(state.groups.at(0).momentum, 0.9);
    EXPECT_THAT(state.warnings, ElementsAre(HasSubstr("its 'lr' is")));
  }
}

}  // namespace
}  // namespace hesscope
