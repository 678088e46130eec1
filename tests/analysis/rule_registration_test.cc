// SPDX-License-Identifier: BSD-3-Clause
//
// Update rules and samplers that a program adds to those built in, named by an experiment file.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/optim/update_rule_registry.h>
#include <hesscope/sampling/sampler_registry.h>
#include <hesscope/tensors/tensor_file.h>
#include <hesscope/training/training.h>

#include "support/files.h"

namespace hesscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// -sign of an average of gradients.
class Signum final : public UpdateRule {
 public:
  Signum(double beta, std::span<const ParameterBlock> blocks)
      : UpdateRule(blocks), beta_(beta), average_(add_state("average")) {
    add_setting("beta", beta);
  }

 private:
  Eigen::VectorXd update(const ConstVectorRef& /*theta*/, const ConstVectorRef& gradient) override {
    average_ = beta_ * average_ + (1 - beta_) * gradient;
    return -average_.cwiseSign();
  }

  double beta_;
  Eigen::VectorXd& average_;
};

UpdateRuleKind signum(const std::string& name) {
  return {.name = name,
          .summary = "the sign of an average of gradients",
          .keys = {{.name = "beta",
                    .type = SettingKey::Type::kReal,
                    .meaning = "decay of the average",
                    .fallback = SettingValue(0.9)}},
          .create = [](const Settings& settings, std::span<const ParameterBlock> blocks) {
            return std::make_unique<Signum>(settings.real("beta"), blocks);
          }};
}

// Points on a circle, and in which half they are.
class Ring final : public Sampler {
 public:
  explicit Ring(double radius) : radius_(radius) {
    add_array("inputs", {2});
    add_array("target", {});
  }

  void draw(std::uint64_t seed,
            Stream stream,
            std::uint64_t index,
            std::span<double> record) const override {
    RandomStream random(seed, stream, index);
    const double angle = 6.283185307179586 * random.uniform();
    record[0] = radius_ * std::cos(angle);
    record[1] = radius_ * std::sin(angle);
    record[2] = record[1] > 0 ? 1 : 0;
  }

 private:
  double radius_;
};

SamplerKind ring(const std::string& name) {
  return {.name = name,
          .summary = "points on a circle",
          .keys = {{.name = "radius",
                    .type = SettingKey::Type::kReal,
                    .meaning = "of the circle",
                    .fallback = SettingValue(1.0)}},
          .create = [](const Settings& settings, const std::filesystem::path& /*folder*/) {
            return std::make_unique<Ring>(settings.real("radius"));
          }};
}

constexpr const char* kExperiment = R"(
[model]
kind = "mlp"
activation = "tanh"
loss = "cross-entropy"
hidden = "3"
classes = 2
[data]
kind = "own-ring"
radius = 2.0
samples = 30
seed = 1
[evaluation]
samples = 20
seed = 2
[initialization]
distribution = "normal"
std = 0.5
[training]
steps = 4
batch = 0
seeds = [0]
checkpoint_every = 1
[[run]]
name = "own"
rule = "own-signum"
beta = 0.5
learning_rate = 0.125
)";

TEST(RegisterUpdateRuleKind, TrainsAsAnExperimentSays) {
  register_update_rule_kind(signum("own-signum"));
  register_sampler_kind(ring("own-ring"));
  const test::ScratchFolder folder;
  test::write_bytes(folder / "own.toml", kExperiment);
  TrainingRequest request;
  request.experiment = folder / "own.toml";
  request.output = folder / "out";
  const TrainingResult result = run_training(request);
  ASSERT_EQ(result.outcomes.size(), 1);
  EXPECT_EQ(result.outcomes[0].num_steps, 4);
  // Every parameter goes by the learning rate, one way or the other.
  const io::TensorFile before = io::open_tensor_file(request.output / "step-000002.h5");
  const io::TensorFile after = io::open_tensor_file(request.output / "step-000003.h5");
  std::size_t num_parameters = 0;
  for (const io::TensorInfo& tensor : after.tensors()) {
    if (tensor.name.starts_with("optimizer")) continue;
    const std::vector<double> from = before.read(tensor.name);
    const std::vector<double> to = after.read(tensor.name);
    for (std::size_t i = 0; i < to.size(); ++i) {
      EXPECT_NEAR(std::abs(to[i] - from[i]), 0.125, 1e-15) << tensor.name;
      ++num_parameters;
    }
  }
  EXPECT_EQ(num_parameters, 3 * 2 + 3 + 2 * 3 + 2);
  // What the rule remembers and what it was made with is in checkpoints.
  EXPECT_THAT(after.read("optimizer.param_groups.0.beta"), ElementsAre(0.5));
  EXPECT_EQ(after.read("optimizer.average.layers.0.bias").size(), 3);
}

TEST(RegisterUpdateRuleKind, RefusesWhatCannotBeNamedOrMade) {
  const auto refusal = [](const UpdateRuleKind& kind, const char* text) {
    EXPECT_THAT([&] { register_update_rule_kind(kind); },
                ThrowsMessage<PreconditionError>(
                    AllOf(HasSubstr("register_update_rule_kind"), HasSubstr(text))));
  };
  refusal(signum("adam"), "rule 'adam' is there already");
  refusal(signum(""), "no file can say");
  refusal({.name = "own-empty"}, "no function `create`");
  UpdateRuleKind kind = signum("own-key");
  kind.keys.front().name = "learning_rate";
  refusal(kind, "two keys 'learning_rate'");
  kind.keys.front() = {.name = "beta", .type = SettingKey::Type::kReal, .meaning = "decay"};
  refusal(kind, "'beta' without a fallback");
  kind.keys.front().fallback = SettingValue(std::int64_t{1});
  refusal(kind, "a fallback of another type");
  EXPECT_THAT([] { find_update_rule_kind("own-key"); }, testing::Throws<ConfigError>());
}

TEST(RegisterUpdateRuleKind, NamesARuleThatMakesNothing) {
  UpdateRuleKind kind = signum("own-nothing");
  kind.create = [](const Settings&, std::span<const ParameterBlock>) { return nullptr; };
  register_update_rule_kind(kind);
  EXPECT_THAT(
      [] { make_update_rule("own-nothing", {}, {}); },
      ThrowsMessage<PreconditionError>(AllOf(HasSubstr("own-nothing"), HasSubstr("made nothing"))));
}

TEST(RegisterSamplerKind, NamesASamplerThatMakesNothing) {
  SamplerKind kind = ring("own-nothing");
  kind.create = [](const Settings&, const std::filesystem::path&) { return nullptr; };
  register_sampler_kind(kind);
  EXPECT_THAT(
      [] { make_sampler("own-nothing", Settings(), {}); },
      ThrowsMessage<PreconditionError>(AllOf(HasSubstr("own-nothing"), HasSubstr("made nothing"))));
}

TEST(RegisterSamplerKind, RefusesWhatCannotBeNamedOrMade) {
  const auto refusal = [](const SamplerKind& kind, const char* text) {
    EXPECT_THAT([&] { register_sampler_kind(kind); },
                ThrowsMessage<PreconditionError>(
                    AllOf(HasSubstr("register_sampler_kind"), HasSubstr(text))));
  };
  refusal(ring("linear-regression"), "sampler 'linear-regression' is there already");
  refusal(ring(""), "no file can say");
  refusal({.name = "own-empty"}, "no function `create`");
  SamplerKind kind = ring("own-key");
  kind.keys.front().name = "seed";
  refusal(kind, "two keys 'seed'");
}

}  // namespace
}  // namespace hesscope
