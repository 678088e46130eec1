// SPDX-License-Identifier: BSD-3-Clause
//
// What holds for every update rule.
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>

#include "optim/rules.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::VectorXd;
using test::expect_refusal;
using test::mixed_blocks;
using test::numbers;
using ::testing::ElementsAre;

const Eigen::Index kSize = 23;

struct Configured {
  std::string name;
  test::SettingMap settings;
};

// Every kind as it is, and with everything switched on.
std::vector<Configured> configurations() {
  std::vector<Configured> all;
  for (const UpdateRuleKind& kind : update_rule_kinds()) all.push_back({kind.name, {}});
  const std::string direction = "direction";
  all.push_back({"sgd", {{"nesterov", true}, {"weight-decay", 0.1}}});
  all.push_back({"sgd", {{"dampening", 0.5}}});
  all.push_back({"adam", {{"weight-decay", 0.1}}});
  all.push_back({"sign", {{"momentum", 0.9}, {"momentum-of", direction}}});
  all.push_back({"sign", {{"momentum", 0.9}, {"magnitude", std::string("l1")}}});
  all.push_back({"normalized", {{"momentum", 0.9}, {"norm-of", std::string("block-rms")}}});
  all.push_back({"lion", {{"weight-decay", 0.1}}});
  all.push_back({"muon", {{"weight-decay", 0.1}, {"adam-blocks", std::vector<std::string>{"W"}}}});
  return all;
}

class EveryRule : public testing::TestWithParam<Configured> {
 protected:
  static std::unique_ptr<UpdateRule> make() {
    return make_update_rule(GetParam().name, GetParam().settings, mixed_blocks());
  }

  // Some steps from where the rule stands; the parameters after each.
  static std::vector<VectorXd> run(UpdateRule& rule, VectorXd& theta, std::uint64_t steps) {
    std::vector<VectorXd> path;
    for (std::uint64_t t = 0; t < steps; ++t) {
      const auto seed = static_cast<std::uint64_t>(rule.num_steps()) + 1;
      theta += 0.1 * rule.step(theta, numbers(kSize, seed));
      path.push_back(theta);
    }
    return path;
  }
};

INSTANTIATE_TEST_SUITE_P(All, EveryRule, testing::ValuesIn(configurations()), [](const auto& c) {
  return c.param.name + std::to_string(c.index);
});

TEST_P(EveryRule, GoesOnFromItsStateToTheSameBits) {
  const auto whole = make();
  VectorXd theta = numbers(kSize, 1000);
  const std::vector<VectorXd> path = run(*whole, theta, 8);
  for (const std::uint64_t stop : {0U, 1U, 5U}) {
    const auto first = make();
    VectorXd x = numbers(kSize, 1000);
    run(*first, x, stop);
    const auto second = make();
    VectorXd elsewhere = numbers(kSize, 1);
    run(*second, elsewhere, 3);  // its state is replaced
    second->restore(first->state());
    EXPECT_EQ(second->num_steps(), static_cast<std::int64_t>(stop));
    const std::vector<VectorXd> rest = run(*second, x, 8 - stop);
    for (std::size_t t = 0; t < rest.size(); ++t) EXPECT_EQ(rest[t], path[t + stop]);
  }
}

TEST_P(EveryRule, GoesDownhillAtFirst) {
  const auto rule = make();
  const VectorXd g = numbers(kSize, 7);
  EXPECT_LT(rule->step(VectorXd::Zero(kSize), g).dot(g), 0);
}

TEST_P(EveryRule, StaysAtZeroWithoutAGradient) {
  const auto rule = make();
  const VectorXd zero = VectorXd::Zero(kSize);
  for (int t = 0; t < 3; ++t) EXPECT_EQ(rule->step(zero, zero), zero);
}

TEST_P(EveryRule, DoesNotHideWhatIsNotFinite) {
  const auto rule = make();
  VectorXd g = numbers(kSize, 7);
  g[3] = kNaN;
  EXPECT_FALSE(std::isfinite(rule->step(VectorXd::Zero(kSize), g)[3]));
}

TEST_P(EveryRule, RefusesVectorsOfAnotherSize) {
  const auto rule = make();
  const VectorXd right = numbers(kSize, 7);
  const VectorXd wrong = numbers(kSize - 1, 7);
  expect_refusal([&] { rule->step(wrong, right); }, "must have 23 entries, got 22 and 23");
  expect_refusal([&] { rule->step(right, wrong); }, "must have 23 entries, got 23 and 22");
  EXPECT_EQ(rule->num_steps(), 0);
}

TEST_P(EveryRule, RefusesAStateThatDoesNotFitAndStaysAsItWas) {
  const auto rule = make();
  VectorXd theta = numbers(kSize, 2);
  run(*rule, theta, 2);
  const std::vector<StateTensor> before = rule->state();
  const auto refused = [&](const std::vector<StateTensor>& state, const std::string& message) {
    expect_refusal([&] { rule->restore(state); }, message);
    const std::vector<StateTensor> after = rule->state();
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i].values, before[i].values);
  };
  std::vector<StateTensor> state = before;
  state.erase(state.begin());
  refused(state, "'step' is missing");
  for (const double steps : {-1.0, 0.5, 1e300, kNaN}) {
    state = before;
    state[0].values[0] = steps;
    refused(state, "'step' must be a number of steps");
  }
  state = before;
  state.push_back({"exp_avg.Z", {1}, {0}});
  refused(state, "'exp_avg.Z' is not of this rule");
  if (before.size() == 1) return;
  state = before;
  state.back().shape.push_back(1);
  refused(state, "'" + before.back().name + "' must have the shape");
  state = before;
  state.back().values.push_back(1);
  refused(state, "'" + before.back().name + "' must have the shape");
}

std::vector<std::string> state_names(const std::string& rule) {
  std::vector<std::string> names;
  for (const StateTensor& tensor : make_update_rule(rule, {}, mixed_blocks())->state()) {
    std::string shape;
    for (const std::int64_t length : tensor.shape) shape += " " + std::to_string(length);
    names.push_back(tensor.name + shape);
  }
  return names;
}

TEST(UpdateRule, NamesItsStateAsPyTorchDoes) {
  EXPECT_THAT(state_names("gd"), ElementsAre("step"));
  EXPECT_THAT(state_names("adam"),
              ElementsAre("step",
                          "exp_avg.W 3 2",
                          "exp_avg.b 4",
                          "exp_avg.H 2 2 3",
                          "exp_avg.s",
                          "exp_avg_sq.W 3 2",
                          "exp_avg_sq.b 4",
                          "exp_avg_sq.H 2 2 3",
                          "exp_avg_sq.s"));
  EXPECT_THAT(state_names("muon"),
              ElementsAre("step",
                          "momentum_buffer.W 3 2",
                          "momentum_buffer.H 2 2 3",
                          "exp_avg.b 4",
                          "exp_avg.s",
                          "exp_avg_sq.b 4",
                          "exp_avg_sq.s"));
  EXPECT_THAT(state_names("adafactor"),
              ElementsAre("step",
                          "exp_avg_sq_row.W 3",
                          "exp_avg_sq_row.H 2 2",
                          "exp_avg_sq_col.W 2",
                          "exp_avg_sq_col.H 2 3",
                          "exp_avg_sq.b 4",
                          "exp_avg_sq.s"));
}

TEST(UpdateRule, RefusesBlocksThatDoNotTile) {
  for (const std::string name : {"gd", "adafactor"}) {
    std::vector<ParameterBlock> gap = mixed_blocks();
    gap[1].offset = 7;
    expect_refusal([&] { make_update_rule(name, {}, gap); },
                   "block 'b' has the offset 7, expected 6");
    std::vector<ParameterBlock> wrong = mixed_blocks();
    wrong[0].shape = {3, 0};
    expect_refusal([&] { make_update_rule(name, {}, wrong); },
                   "has the size 6, but its shape (3, 0) says 0");
  }
}

/// What somebody else may have written.
class Careless final : public UpdateRule {
 public:
  explicit Careless(const std::vector<std::string>& arrays) : UpdateRule(mixed_blocks()) {
    for (const std::string& name : arrays) add_state(name);
  }

  using UpdateRule::add_setting;

 private:
  VectorXd update(const ConstVectorRef&, const ConstVectorRef&) override {
    return VectorXd::Ones(1);
  }
};

TEST(UpdateRule, RefusesUpdatesOfAnotherSize) {
  Careless rule({"a", "b"});
  const VectorXd zeros = VectorXd::Zero(rule.num_parameters());
  expect_refusal([&] { rule.step(zeros, zeros); },
                 "UpdateRule::update() returned 1 entries, which must be 23");
  EXPECT_EQ(rule.num_steps(), 0);
}

TEST(UpdateRule, RefusesTwoArraysOfOneName) {
  expect_refusal([] { Careless({"a", "b", "a"}); }, "has an array 'a' already");
}

TEST(UpdateRule, RefusesASettingThatIsNoNumber) {
  Careless rule({});
  expect_refusal([&] { rule.add_setting("beta", kNaN); }, "add_setting: 'beta' is NaN");
}

TEST(UpdateRuleRegistry, RefusesAnUnknownRuleWithTheNearest) {
  expect_refusal<ConfigError>([] { find_update_rule_kind("adamv"); }, "did you mean 'adam");
  expect_refusal<ConfigError>(
      [] {
        make_update_rule("adam", {{"beta", 0.9}}, mixed_blocks());
      },
      "unknown key 'beta' in update rule 'adam'");
}

TEST(UpdateRuleRegistry, RefusesNumbersOutOfTheirRange) {
  const double nan = kNaN;
  const double infinity = kInfinity;
  const auto refused = [](const std::string& rule, const std::string& key, double value) {
    expect_refusal<ConfigError>(
        [&] {
          make_update_rule(rule, {{key, value}}, mixed_blocks());
        },
        "'" + key + "' must be at least");
  };
  for (const auto& [rule, key] : {std::pair("sgd", "momentum"),
                                  std::pair("sgd", "dampening"),
                                  std::pair("adam", "beta1"),
                                  std::pair("adam", "beta2"),
                                  std::pair("lion", "beta1"),
                                  std::pair("lion", "beta2"),
                                  std::pair("sign", "momentum"),
                                  std::pair("normalized", "momentum")}) {
    for (const double value : {-1e-9, 1.0, nan}) refused(rule, key, value);
  }
  for (const auto& [rule, key] : {std::pair("sgd", "weight-decay"),
                                  std::pair("adam", "epsilon"),
                                  std::pair("adamw", "weight-decay"),
                                  std::pair("lion", "weight-decay"),
                                  std::pair("adafactor", "decay-exponent"),
                                  std::pair("adafactor", "epsilon1"),
                                  std::pair("adafactor", "epsilon2"),
                                  std::pair("adafactor", "clip-threshold")}) {
    for (const double value : {-1e-9, infinity, nan}) refused(rule, key, value);
  }
  refused("adafactor", "epsilon1", 0);
  refused("adafactor", "clip-threshold", 0);
}

TEST(UpdateRuleRegistry, HasFallbacksForEveryKey) {
  for (const UpdateRuleKind& kind : update_rule_kinds()) {
    EXPECT_NO_THROW(make_update_rule(kind.name, {}, mixed_blocks())) << kind.name;
    EXPECT_FALSE(kind.summary.empty());
  }
}

}  // namespace
}  // namespace hesscope
