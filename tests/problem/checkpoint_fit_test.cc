// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/problem/checkpoint_fit.h>
#include <hesscope/problem/problem.h>
#include <hesscope/problem/tensor_map_file.h>

#include "problem/npz_writer.h"

namespace hesscope {
namespace {

using State = ParameterFit::State;
using Tensors = std::map<std::string, test::Tensor>;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CheckpointFitTest : public ::testing::Test {
 protected:
  CheckpointFit fit(const std::string& model, const Tensors& data, const Tensors& checkpoint) {
    test::write_bytes(folder_ / "p.toml", "[model]\n" + model + "[data]\nfile = \"d.npz\"\n");
    test::write_npz(folder_ / "d.npz", data);
    test::write_npz(folder_ / "c.npz", checkpoint);
    return fit_checkpoint(read_problem_file(folder_ / "p.toml"), open());
  }

  io::TensorFile open() const { return io::open_tensor_file(folder_ / "c.npz"); }

  /// What Problem says of the checkpoint as the suggestion names its tensors.
  bool is_accepted(const CheckpointFit& found) const {
    const io::TensorFile file = io::mapped(open(), found.suggestion);
    const Problem problem(read_problem_file(folder_ / "p.toml"), file, 1);
    return problem.read_parameters(file).size() > 0;
  }

  static std::vector<std::string> rules(const CheckpointFit& found) {
    std::vector<std::string> all;
    for (const io::TensorRule& rule : found.suggestion.rules) {
      all.push_back(rule.name + "=" + rule.source + (rule.transpose ? "^T" : ""));
    }
    return all;
  }

  test::ScratchFolder folder_;
};

const std::string kLinear = "kind = \"linear-attention\"\nlayers = 2\n";  // sparse: 2 x 2
const Tensors kPrompts = {{"Z", {{4, 3, 5}, {}}}, {"target", {{4}, {}}}};
const std::string kMlp = "kind = \"mlp\"\nactivation = \"tanh\"\nloss = \"mse\"\n";
const Tensors kSamples = {{"inputs", {{4, 2}, {}}}, {"target", {{4, 1}, {}}}};

TEST_F(CheckpointFitTest, FindsWhatIsThere) {
  const Tensors checkpoint = {{"layers.0.P", {{2, 2}, {}}},
                              {"layers.0.Q", {{2, 2}, {}}},
                              {"layers.1.P", {{2, 2}, {}}},
                              {"layers.1.Q", {{2, 2}, {}}},
                              {"optimizer.step", {{}, {1}}}};
  const CheckpointFit found = fit(kLinear, kPrompts, checkpoint);
  EXPECT_TRUE(found.fits());
  EXPECT_EQ(found.model_kind, "linear-attention");
  EXPECT_EQ(found.parameters.size(), 4U);
  EXPECT_TRUE(found.unused.empty());
  EXPECT_THAT(rules(found), ElementsAre());
}

TEST_F(CheckpointFitTest, SuggestsThePartThatFitsAndWhatToIgnore) {
  const Tensors checkpoint = {{"model.layers.0.weight", {{3, 2}, {}}},
                              {"model.layers.0.bias", {{3}, {}}},
                              {"model.layers.1.weight", {{1, 3}, {}}},
                              {"model.layers.1.bias", {{1}, {}}},
                              {"model.seen", {{5}, {}}},
                              {"opt.state.0.momentum_buffer", {{3, 2}, {}}},
                              {"opt.state.1.momentum_buffer", {{3}, {}}},
                              {"opt.state.2.momentum_buffer", {{1, 3}, {}}},
                              {"opt.state.3.momentum_buffer", {{1}, {}}},
                              {"epoch", {{}, {4}}}};
  const CheckpointFit found = fit(kMlp, kSamples, checkpoint);
  EXPECT_FALSE(found.fits());
  EXPECT_EQ(found.suggestion.key, "model");
  EXPECT_THAT(found.suggestion.ignored, ElementsAre("seen"));
  EXPECT_THAT(rules(found), ElementsAre());
  EXPECT_TRUE(is_accepted(found));
  // If the part fits as it is, the message says so; otherwise it names what the whole lacks.
  EXPECT_THAT(found.obstacle, HasSubstr("layers.0.weight"));
  Tensors as_it_is = checkpoint;
  as_it_is.erase("model.seen");
  EXPECT_THAT(fit(kMlp, kSamples, as_it_is).obstacle,
              HasSubstr("as a whole; what stands under 'model' does"));
  // A perceptron of other names within a part.
  const CheckpointFit named = fit(kMlp,
                                  kSamples,
                                  {{"net.fc1.weight", {{3, 2}, {}}},
                                   {"net.fc1.bias", {{3}, {}}},
                                   {"net.fc2.weight", {{1, 3}, {}}},
                                   {"net.fc2.bias", {{1}, {}}},
                                   {"moments.0", {{3, 2}, {}}}});
  EXPECT_EQ(named.suggestion.key, "net");
  EXPECT_EQ(rules(named).size(), 4U);
  EXPECT_TRUE(is_accepted(named));
  // Something after it: a layer, not the model.
  const CheckpointFit layer =
      fit("kind = \"mlp\"\nactivation = \"tanh\"\nloss = \"cross-entropy\"\n",
          {{"inputs", {{4, 2}, {}}}, {"target", {{4}, {}}}},
          {{"net.fc1.weight", {{3, 2}, {}}},
           {"net.fc1.bias", {{3}, {}}},
           {"norm.scale", {{3}, {}}},
           {"net2.fc2.weight", {{1, 3}, {}}},
           {"net2.fc2.bias", {{1}, {}}}});
  EXPECT_THAT(rules(layer), ElementsAre());
  EXPECT_THAT(layer.doubt,
              HasSubstr("under 'net' could be the whole model, or its first layers, before "
                        "'net2.fc2.weight'"));
  // If two parts fit, neither is suggested.
  Tensors two = checkpoint;
  for (const auto& [name, tensor] : checkpoint) {
    if (name.starts_with("model.")) two["average" + name.substr(5)] = tensor;
  }
  EXPECT_EQ(fit(kMlp, kSamples, two).suggestion.key, "");
}

TEST_F(CheckpointFitTest, FindsPerceptronsWithoutBiases) {
  const CheckpointFit none =
      fit(kMlp, kSamples, {{"0.weight", {{3, 2}, {}}}, {"2.weight", {{1, 3}, {}}}});
  EXPECT_THAT(rules(none), ElementsAre("layers.0.weight=0.weight", "layers.1.weight=2.weight"));
  EXPECT_TRUE(is_accepted(none));
  const Tensors hidden = {
      {"0.weight", {{3, 2}, {}}}, {"0.bias", {{3}, {}}}, {"2.weight", {{1, 3}, {}}}};
  const CheckpointFit unsaid = fit(kMlp, kSamples, hidden);
  EXPECT_THAT(rules(unsaid), ElementsAre());
  EXPECT_THAT(unsaid.doubt, HasSubstr("no tensor 'layers.1.bias'"));
  EXPECT_THAT(unsaid.doubt, HasSubstr("bias = \"hidden\""));
  const CheckpointFit said = fit(kMlp + "bias = \"hidden\"\n", kSamples, hidden);
  EXPECT_THAT(
      rules(said),
      ElementsAre("layers.0.weight=0.weight", "layers.0.bias=0.bias", "layers.1.weight=2.weight"));
  EXPECT_TRUE(is_accepted(said));
}

TEST_F(CheckpointFitTest, ReadsNamesWithoutAWrapper) {
  const Tensors checkpoint = {{"module.layers.0.P", {{2, 2}, {}}},
                              {"module.layers.0.Q", {{2, 2}, {}}},
                              {"module.layers.1.P", {{2, 2}, {}}},
                              {"module.layers.1.Q", {{2, 2}, {}}}};
  const CheckpointFit found = fit(kLinear, kPrompts, checkpoint);
  EXPECT_TRUE(found.fits());
  EXPECT_EQ(found.wrapper, "module.");
}

TEST_F(CheckpointFitTest, TellsMissingWrongAndUnusedTensors) {
  const Tensors checkpoint = {{"layers.0.P", {{2, 2}, {}}},
                              {"layers.0.Q", {{2, 3}, {}}},
                              {"layers.1.P", {{2, 2}, {}}},
                              {"epoch", {{}, {1}}},  // how far the training is: not unused
                              {"scale", {{3}, {}}}};
  const CheckpointFit found = fit(kLinear, kPrompts, checkpoint);
  EXPECT_FALSE(found.fits());
  ASSERT_EQ(found.parameters.size(), 4U);
  EXPECT_EQ(found.parameters[0].state, State::kFound);
  EXPECT_EQ(found.parameters[1].state, State::kWrongShape);
  EXPECT_THAT(found.parameters[1].expected, ElementsAre(2, 2));
  EXPECT_THAT(found.parameters[1].found, ElementsAre(2, 3));
  EXPECT_EQ(found.parameters[3].name, "layers.1.Q");
  EXPECT_EQ(found.parameters[3].state, State::kMissing);
  ASSERT_EQ(found.unused.size(), 1U);
  EXPECT_EQ(found.unused[0].name, "scale");
  EXPECT_THAT(rules(found), ElementsAre());
}

TEST_F(CheckpointFitTest, SuggestsTheOneTensorOfAShapeOrTheOneOfASimilarName) {
  const CheckpointFit one = fit(kLinear,
                                kPrompts,
                                {{"layers.0.P", {{2, 2}, {}}},
                                 {"layers.0.Q", {{2, 2}, {}}},
                                 {"layers.1.P", {{2, 2}, {}}},
                                 {"q_last", {{2, 2}, {}}}});
  EXPECT_THAT(rules(one), ElementsAre("layers.1.Q=q_last"));
  EXPECT_TRUE(is_accepted(one));
  const CheckpointFit ends = fit(kLinear,
                                 kPrompts,
                                 {{"blocks/0/P", {{2, 2}, {}}},
                                  {"blocks/0/Q", {{2, 2}, {}}},
                                  {"blocks/1/P", {{2, 2}, {}}},
                                  {"blocks/1/Q", {{2, 2}, {}}}});
  EXPECT_THAT(rules(ends),
              ElementsAre("layers.0.P=blocks/0/P",
                          "layers.0.Q=blocks/0/Q",
                          "layers.1.P=blocks/1/P",
                          "layers.1.Q=blocks/1/Q"));
  EXPECT_TRUE(is_accepted(ends));
  const CheckpointFit none =
      fit(kLinear,
          kPrompts,
          {{"a", {{2, 2}, {}}}, {"b", {{2, 2}, {}}}, {"c", {{2, 2}, {}}}, {"d", {{2, 2}, {}}}});
  EXPECT_THAT(rules(none), ElementsAre());
}

TEST_F(CheckpointFitTest, SuggestsTransposesWhereNoOtherShapeIsThere) {
  const std::string full = kLinear + "parametrization = \"full\"\n";
  const CheckpointFit mlp = fit(full,
                                kPrompts,
                                {{"layers.0.P", {{3, 3}, {}}},
                                 {"layers.0.Q", {{3, 3}, {}}},
                                 {"layers.1.P", {{3, 3}, {}}},
                                 {"layers.1.Q", {{3, 3}, {}}},
                                 {"mlp.0.weight", {{5, 2}, {}}},
                                 {"mlp.0.bias", {{5}, {}}},
                                 {"mlp.1.kernel", {{5, 2}, {}}},
                                 {"mlp.1.bias", {{2}, {}}}});
  EXPECT_THAT(rules(mlp), ElementsAre("mlp.2.bias=mlp.1.bias", "mlp.2.weight=mlp.1.kernel^T"));
  EXPECT_TRUE(is_accepted(mlp));
}

TEST_F(CheckpointFitTest, RecognisesAPerceptronByItsChainOfShapes) {
  const CheckpointFit torch = fit(kMlp,
                                  kSamples,
                                  {{"net.0.weight", {{3, 2}, {}}},
                                   {"net.0.bias", {{3}, {}}},
                                   {"net.2.weight", {{3, 3}, {}}},
                                   {"net.2.bias", {{3}, {}}},
                                   {"net.10.weight", {{1, 3}, {}}},
                                   {"net.10.bias", {{1}, {}}}});
  EXPECT_FALSE(torch.fits());
  EXPECT_EQ(torch.obstacle, "");
  EXPECT_EQ(torch.unused.size(), 6U);
  EXPECT_THAT(rules(torch),
              ElementsAre("layers.0.weight=net.0.weight",
                          "layers.0.bias=net.0.bias",
                          "layers.1.weight=net.2.weight",
                          "layers.1.bias=net.2.bias",
                          "layers.2.weight=net.10.weight",
                          "layers.2.bias=net.10.bias"));
  EXPECT_TRUE(is_accepted(torch));
  Tensors dense;
  std::vector<std::string> expected;
  for (std::int64_t i = 0; i < 12; ++i) {  // by name, dense_10 comes before dense_2
    const std::string theirs = "layers/dense" + (i == 0 ? "" : "_" + std::to_string(i)) + "/vars/";
    dense[theirs + "0"] = {{i + 2, i == 11 ? 1 : i + 3}, {}};
    dense[theirs + "1"] = {{i == 11 ? 1 : i + 3}, {}};
    const std::string ours = "layers." + std::to_string(i) + ".";
    expected.push_back(ours + "weight=" + theirs + "0^T");
    expected.push_back(ours + "bias=" + theirs + "1");
  }
  const CheckpointFit keras = fit(kMlp, kSamples, dense);
  EXPECT_EQ(rules(keras), expected);
  EXPECT_TRUE(is_accepted(keras));
  // Square matrices could be either way round: nothing is guessed.
  const CheckpointFit square = fit(kMlp, kSamples, {{"a", {{2, 2}, {}}}, {"b", {{2}, {}}}});
  EXPECT_THAT(rules(square), ElementsAre());
  EXPECT_THAT(square.obstacle, HasSubstr("layers.0.weight"));
}

TEST_F(CheckpointFitTest, SaysWhyTheSizesCannotBeTold) {
  const CheckpointFit found = fit(kMlp, kSamples, {{"dense/kernel", {{2, 3}, {}}}});
  EXPECT_FALSE(found.fits());
  EXPECT_THAT(found.obstacle, HasSubstr("layers.0.weight"));
  EXPECT_TRUE(found.parameters.empty());
  EXPECT_EQ(found.unused.size(), 1U);
}

}  // namespace
}  // namespace hesscope
