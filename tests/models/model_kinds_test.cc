// SPDX-License-Identifier: BSD-3-Clause
//
// Models from settings and shapes: with a checkpoint that says their sizes, and without.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/model_registry.h>

#include "models/invariance_cases.h"
#include "models/model_oracle.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using test::expect_refusal;

using Dimensions = std::vector<std::int64_t>;
using Values = std::map<std::string, SettingValue>;

std::string text(const char* value) { return value; }

constexpr std::int64_t operator""_i(unsigned long long value) {
  return static_cast<std::int64_t>(value);
}

struct Case {
  std::string name;
  std::string kind;
  Values settings;
  Values sizes;
  std::map<std::string, Dimensions> data;
  Eigen::Index num_parameters;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const ModelKind& kind_of(const std::string& name) {
  const ModelKind* kind = find_model_kind(name);
  if (kind == nullptr) throw std::runtime_error("no kind " + name);
  return *kind;
}

Model create(const std::string& name,
             const Values& values,
             const std::map<std::string, Dimensions>& data) {
  const ModelKind& kind = kind_of(name);
  return kind.create(
      {Settings::checked(values, kind.keys_with_sizes(), "[model]"), {"the sampler", data}});
}

class ModelKinds : public testing::TestWithParam<Case> {};

TEST_P(ModelKinds, GiveOneModelWithAndWithoutACheckpoint) {
  const Case& c = GetParam();
  Values all = c.settings;
  all.insert(c.sizes.begin(), c.sizes.end());
  const Model created = create(c.kind, all, c.data);
  EXPECT_EQ(created.kind, c.kind);
  EXPECT_EQ(created.num_parameters(), c.num_parameters);
  EXPECT_EQ(require_arrays(created, {"the sampler", c.data}), 7);

  TensorShapes checkpoint{"c.npz", {}};
  for (const ParameterBlock& block : created.parameters) {
    checkpoint.shapes[block.name] = block.shape;
  }
  const ModelKind& kind = kind_of(c.kind);
  const Model built = kind.build(
      {Settings::checked(c.settings, kind.keys, "[model]"), {"d.npz", c.data}}, checkpoint);
  require_parameters(built, checkpoint);
  ASSERT_EQ(built.num_parameters(), created.num_parameters());
  EXPECT_EQ(built.invariances.size(), created.invariances.size());
  const SampleTable samples = test::random_samples(created, 5, 71);
  const Eigen::VectorXd theta = test::Numbers(72).vector(created.num_parameters());
  EXPECT_EQ(test::objective_of(built, samples).value(theta),
            test::objective_of(created, samples).value(theta));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds,
    ModelKinds,
    testing::Values(Case{"LinearAttention",
                         "linear-attention",
                         {{"layers", 3_i}},
                         {},
                         {{"Z", {7, 6, 21}}, {"target", {7}}},
                         150},
                    Case{"LinearAttentionPerceptron",
                         "linear-attention",
                         {{"layers", 3_i}, {"parametrization", text("full")}},
                         {{"mlp_hidden", 30_i}},
                         {{"Z", {7, 6, 21}}, {"target", {7}}},
                         551},
                    Case{"LinearAttentionSparseSplitQk",
                         "linear-attention",
                         {{"layers", 2_i}, {"parametrization", text("sparse-split-qk")}},
                         {},
                         {{"Z", {7, 6, 21}}, {"target", {7}}},
                         150},
                    Case{"LinearAttentionSoftmax",
                         "linear-attention",
                         {{"layers", 2_i},
                          {"parametrization", text("split-qk")},
                          {"activation", text("softmax")}},
                         {},
                         {{"Z", {7, 3, 4}}, {"target", {7}}},
                         54},
                    Case{"LinearAttentionPopulation",
                         "linear-attention-population",
                         {{"parametrization", text("full")},
                          {"covariates", text("gamma")},
                          {"gamma_shape", 0.1},
                          {"gamma_scale", 10.0}},
                         {{"dimension", 5_i}},
                         {{"context", {7}}},
                         72},
                    Case{"LinearAttentionPopulationSparse",
                         "linear-attention-population",
                         {},
                         {{"dimension", 5_i}},
                         {{"context", {7}}},
                         50},
                    Case{"Attention",
                         "attention",
                         {{"kernel", text("gaussian")}},
                         {{"heads", 2_i}, {"head_width", 3_i}},
                         {{"inputs", {7, 6, 4}}, {"target", {7, 6}}},
                         78},
                    Case{"AttentionClassifier",
                         "attention-classifier",
                         {{"kernel", text("softmax")}, {"activation", text("relu")}},
                         {{"layers", 2_i}, {"heads", 2_i}, {"head_width", 2_i}, {"classes", 3_i}},
                         {{"inputs", {7, 5, 4}}, {"target", {7}}},
                         2 * (4 * 16 + 2 * 4 * 128 + 128 + 4) + 3 * 5},
                    Case{"SignalNoise",
                         "signal-noise",
                         {},
                         {{"key_width", 4_i}, {"value_width", 3_i}},
                         {{"inputs", {7, 2, 10}}, {"target", {7}}},
                         140},
                    Case{"MlpClassifier",
                         "mlp",
                         {{"activation", text("tanh")}, {"loss", text("cross-entropy")}},
                         {{"hidden", text("12,12")}, {"classes", 3_i}},
                         {{"inputs", {7, 2}}, {"target", {7}}},
                         231},
                    Case{"MlpRegression",
                         "mlp",
                         {{"activation", text("relu")}, {"loss", text("mse")}},
                         {{"hidden", text("5")}},
                         {{"inputs", {7}}, {"target", {7, 2}}},
                         2 * 5 + 2 * 6},
                    Case{"MlpLinear",
                         "mlp",
                         {{"activation", text("tanh")}, {"loss", text("mse")}},
                         {},
                         {{"inputs", {7, 3}}, {"target", {7}}},
                         4}),
    [](const auto& instance) { return instance.param.name; });

TEST(ModelKindCreate, NeedsTheSizesThatNothingElseGives) {
  const ModelKind& kind = kind_of("attention");
  expect_refusal<ConfigError>(
      [&] {
        Settings::checked({{"kernel", text("softmax")}}, kind.keys_with_sizes(), "[model]");
      },
      "[model] needs the key 'heads' (number of heads)");
  expect_refusal<ConfigError>(
      [&] {
        Settings::checked({{"kernel", text("softmax")}, {"heads", 0_i}, {"head_width", 2_i}},
                          kind.keys_with_sizes(),
                          "[model]");
      },
      "'heads' must be between 1 and 1000000, got 0");
  expect_refusal<InputError>(
      [&] {
        create("attention",
               {{"kernel", text("softmax")}, {"heads", 2_i}, {"head_width", 2_i}},
               {{"inputs", {7, 4}}});
      },
      "the sampler: tensor 'inputs': expected shape (samples, n, D)");
}

TEST(ModelKindCreate, ReadsTheHiddenWidthsOfAPerceptron) {
  const auto with_hidden = [](const char* hidden) {
    return create("mlp",
                  {{"activation", text("tanh")}, {"loss", text("mse")}, {"hidden", text(hidden)}},
                  {{"inputs", {7, 3}}, {"target", {7}}});
  };
  EXPECT_EQ(with_hidden("15,2").parameters[2].shape, (Dimensions{2, 15}));
  for (const char* bad : {",",
                          "15,",
                          ",15",
                          "15,,15",
                          "15;15",
                          "0",
                          "-3",
                          "1.5",
                          "1000001",
                          "a",
                          " ",
                          "99999999999999999999"}) {
    expect_refusal<ConfigError>([&] { with_hidden(bad); }, "'hidden' must be widths between 1 and");
  }
}

TEST(ModelKindCreate, TakesClassesForCrossEntropyOnly) {
  const auto with = [](const char* loss, Values sizes) {
    sizes.insert({{"activation", text("tanh")}, {"loss", text(loss)}});
    return create("mlp", sizes, {{"inputs", {7, 3}}, {"target", {7}}});
  };
  expect_refusal<ConfigError>([&] { with("cross-entropy", {}); }, "needs the key 'classes'");
  expect_refusal<ConfigError>([&] { with("mse", {{"classes", 3_i}}); }, "'classes' is for loss");
}

TEST(ModelKindCreate, TakesTheWeightDecayOfTheSettings) {
  const std::map<std::string, Dimensions> data = {{"inputs", {7, 5, 4}}, {"target", {7}}};
  Values classifier = {{"kernel", text("softmax")},
                       {"activation", text("gelu")},
                       {"layers", 1_i},
                       {"heads", 1_i},
                       {"head_width", 2_i},
                       {"classes", 3_i}};
  EXPECT_EQ(create("attention-classifier", classifier, data).weight_decay, 0);
  classifier["weight_decay"] = 0.5;
  EXPECT_EQ(create("attention-classifier", classifier, data).weight_decay, 0.5);
  Values perceptron = {{"activation", text("tanh")}, {"loss", text("mse")}, {"weight_decay", 1_i}};
  const std::map<std::string, Dimensions> points = {{"inputs", {7, 2}}, {"target", {7}}};
  EXPECT_EQ(create("mlp", perceptron, points).weight_decay, 1);
  perceptron["weight_decay"] = -0.5;
  expect_refusal<ConfigError>([&] { create("mlp", perceptron, points); },
                              "'weight_decay' must be at least 0, got -0.5");
  EXPECT_EQ(kind_of("signal-noise").keys.size(), 0U);
}

TEST(ModelKindCreate, TakesTheGammaLawWithItsTwoNumbersAlone) {
  const auto with = [](Values values) {
    values["dimension"] = 2_i;
    return create("linear-attention-population", values, {{"context", {7}}});
  };
  EXPECT_NO_THROW(with({{"covariates", text("sphere")}}));
  expect_refusal<ConfigError>(
      [&] {
        with({{"covariates", text("gamma")}, {"gamma_shape", 1.0}});
      },
      "covariates = \"gamma\" needs the key 'gamma_scale'");
  expect_refusal<ConfigError>(
      [&] {
        with({{"gamma_shape", 1.0}});
      },
      "covariates = \"gaussian\" does not take the key 'gamma_shape'");
  expect_refusal<ConfigError>(
      [&] {
        with({{"covariates", text("gamma")}, {"gamma_shape", 0.0}, {"gamma_scale", 1.0}});
      },
      "'gamma_shape' must be above 0, got 0");
}

TEST(ModelKindBuild, NamesWhatDoesNotFitTheClassifier) {
  const ModelKind& kind = kind_of("attention-classifier");
  const Settings settings = Settings::checked(
      {{"kernel", text("softmax")}, {"activation", text("gelu")}}, kind.keys, "[model]");
  expect_refusal<InputError>(
      [&] {
        kind.build({settings, {"d.npz", {{"inputs", {7, 5, 6}}}}},
                   {"c.npz", {{"layers.0.WQ", {2, 4, 3}}}});
      },
      "d.npz: array 'inputs': expected shape (samples, n, 4) to fit 'layers.0.WQ' in c.npz, found "
      "(7, 5, 6)");
  expect_refusal<InputError>(
      [&] {
        kind.build({settings, {"d.npz", {{"inputs", {7, 5, 4}}}}}, {"c.npz", {{"WQ", {2, 4, 3}}}});
      },
      "c.npz: no tensor 'layers.0.WQ'; the file holds WQ");
}

TEST(RegisterModelKind, RefusesAFallbackOfAnotherTypeThanItsKey) {
  using Type = SettingKey::Type;
  const std::vector<std::pair<Type, SettingValue>> fitting = {
      {Type::kBoolean, true},
      {Type::kInteger, 1_i},
      {Type::kReal, 1.0},
      {Type::kText, text("a")},
      {Type::kTexts, std::vector<std::string>{"a"}},
      {Type::kReals, std::vector<double>{1}},
      {Type::kTable, SettingTable()},
  };
  std::vector<SettingKey> keys;
  for (const auto& [type, value] : fitting) {
    keys.push_back({.name = fmt::format("fine-{}", keys.size()),
                    .type = type,
                    .meaning = "",
                    .fallback = value});
  }
  keys.push_back({.name = "k", .type = Type::kReal, .meaning = "", .fallback = SettingValue(1_i)});
  ModelKind kind{.name = "fallbacks",
                 .keys = keys,
                 .build = [](const ModelSources&, const TensorShapes&) { return Model(); }};
  const std::string message = "kind 'fallbacks' has a key 'k' that is a number, with a fallback";
  expect_refusal([&] { register_model_kind(kind); }, message);
  std::swap(kind.keys, kind.size_keys);
  expect_refusal([&] { register_model_kind(kind); }, message);
}

}  // namespace
}  // namespace hesscope
