// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/optim/clipping.h>
#include <hesscope/optim/training_run.h>

#include "optim/rules.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::expect_refusal;
using test::numbers;

// f_t(x) = x^T H x / 2 + s_t <b, x> with s_t = scale(t).
class Quadratic final : public BatchLoss {
 public:
  Quadratic(std::vector<ParameterBlock> blocks, MatrixXd hessian, VectorXd slope)
      : blocks_(std::move(blocks)), hessian_(std::move(hessian)), slope_(std::move(slope)) {}

  std::span<const ParameterBlock> parameter_blocks() const override { return blocks_; }

  Objective::ValueAndGradient value_and_gradient(const Objective::ConstVectorRef& x,
                                                 std::int64_t step) override {
    const VectorXd slope = scale(step) * slope_;
    return {0.5 * x.dot(hessian_ * x) + slope.dot(x), hessian_ * x + slope};
  }

  static double scale(std::int64_t step) { return std::cos(static_cast<double>(step)); }

 private:
  std::vector<ParameterBlock> blocks_;
  MatrixXd hessian_;
  VectorXd slope_;
};

MatrixXd positive_definite(Eigen::Index n) {
  const MatrixXd root = numbers(n * n, 3).reshaped(n, n);
  return root * root.transpose() / static_cast<double>(n) + MatrixXd::Identity(n, n) / 2;
}

Quadratic quadratic(Eigen::Index n) {
  return {test::one_block(n), positive_definite(n), numbers(n, 4)};
}

TrainingRun::Options with_rate(double learning_rate) {
  TrainingRun::Options options;
  options.learning_rate = learning_rate;
  return options;
}

TEST(TrainingRun, OfGradientDescentOnAQuadraticIsAPowerOfAMatrix) {
  const Eigen::Index n = 6;
  const MatrixXd h = positive_definite(n);
  Quadratic losses(test::one_block(n), h, VectorXd::Zero(n));
  const VectorXd start = numbers(n, 5);
  TrainingRun run(losses, test::rule("gd", n), start, with_rate(0.2));
  MatrixXd power = MatrixXd::Identity(n, n);
  for (int t = 0; t < 25; ++t) {
    const double loss = 0.5 * run.parameters().dot(h * run.parameters());
    ASSERT_EQ(run.step(), Status::kOk);
    EXPECT_NEAR(run.batch_loss(), loss, 1e-15);
    power *= MatrixXd::Identity(n, n) - 0.2 * h;
    EXPECT_LE(test::distance(run.parameters(), power * start), 1e-13);
  }
  EXPECT_EQ(run.num_steps(), 25);
}

TEST(TrainingRun, ClipsTheNormThenTheCoordinates) {
  const Eigen::Index n = 8;
  Quadratic losses = quadratic(n);
  TrainingRun::Options options = with_rate(0.5);
  options.clip_norm = 0.25;
  options.clip_fraction = 0.25;
  const VectorXd start = numbers(n, 6);
  TrainingRun run(losses, test::rule("gd", n), start, options);
  run.step();
  const VectorXd gradient = losses.value_and_gradient(start, 0).gradient;
  ASSERT_GT(gradient.norm(), 0.25);
  const VectorXd clipped = clip_coordinates(gradient * (0.25 / (gradient.norm() + 1e-6)), 0.25);
  EXPECT_LE(test::distance(run.parameters(), start - 0.5 * clipped), 1e-15);
}

TEST(TrainingRun, ClipsAShareOfTheCoordinatesThatAreTrained) {
  const std::vector<ParameterBlock> blocks = test::mixed_blocks();
  const Eigen::Index n = 23;
  Quadratic losses(blocks, positive_definite(n), numbers(n, 7));
  TrainingRun::Options options = with_rate(0.1);
  options.trained = {false, true, false, false};
  options.clip_fraction = 0.3;
  const VectorXd start = numbers(n, 8);
  TrainingRun run(losses, make_update_rule("sgd", {{"momentum", 0.0}}, blocks), start, options);
  run.step();
  const Eigen::Index first = blocks[1].offset;
  const Eigen::Index size = blocks[1].size;
  const VectorXd own = losses.value_and_gradient(start, 0).gradient.segment(first, size);
  VectorXd expected = start;
  expected.segment(first, size) -= 0.1 * clip_coordinates(own, 0.3);
  EXPECT_LE(test::distance(run.parameters(), expected), 1e-15);
  EXPECT_GT((run.parameters() - start).norm(), 0);
}

// Weight decay and clipping only see the trained parameters, and nothing else moves.
TEST(TrainingRun, LeavesWhatIsNotTrainedAlone) {
  const std::vector<ParameterBlock> blocks = test::mixed_blocks();
  const Eigen::Index n = 23;
  Quadratic losses(blocks, positive_definite(n), numbers(n, 7));
  TrainingRun::Options options = with_rate(0.1);
  options.trained = blocks_matching(blocks, std::vector<std::string>{"H", "?"});
  EXPECT_EQ(options.trained, (std::vector<bool>{true, true, true, true}));
  options.trained = blocks_matching(blocks, std::vector<std::string>{"b*", "H"});
  EXPECT_EQ(options.trained, (std::vector<bool>{false, true, true, false}));
  options.clip_norm = 0.5;
  const VectorXd start = numbers(n, 8);
  TrainingRun run(
      losses, make_update_rule("adamw", {{"weight-decay", 0.5}}, blocks), start, options);
  TrainingRun all(losses, make_update_rule("sgd", {{"momentum", 0.0}}, blocks), start, options);
  run.step();
  all.step();
  for (Eigen::Index i = 0; i < n; ++i) {
    const bool is_trained = i >= 6 && i < 22;
    EXPECT_EQ(run.parameters()[i] != start[i], is_trained) << i;
  }
  VectorXd gradient = losses.value_and_gradient(start, 0).gradient.segment(6, 16);
  gradient *= 0.5 / (gradient.norm() + 1e-6);
  const VectorXd moved = start.segment(6, 16) - 0.1 * gradient;
  EXPECT_LE(test::distance(all.parameters().segment(6, 16), moved), 1e-15);
}

TEST(TrainingRun, GoesOnFromAStateToTheSameBits) {
  const std::vector<ParameterBlock> blocks = test::mixed_blocks();
  const Eigen::Index n = 23;
  Quadratic losses(blocks, positive_definite(n), numbers(n, 9));
  for (const UpdateRuleKind& kind : update_rule_kinds()) {
    const auto begin = [&] {
      return TrainingRun(
          losses, make_update_rule(kind.name, {}, blocks), numbers(n, 10), with_rate(0.01));
    };
    TrainingRun whole = begin();
    for (int t = 0; t < 5; ++t) whole.step();
    const std::vector<double> state = whole.state();
    for (int t = 0; t < 5; ++t) whole.step();
    TrainingRun resumed = begin();
    resumed.restore(state);
    EXPECT_EQ(resumed.num_steps(), 5);
    EXPECT_EQ(resumed.state(), state) << kind.name;
    for (int t = 0; t < 5; ++t) resumed.step();
    EXPECT_EQ(resumed.state(), whole.state()) << kind.name;
  }
}

// Parameters and what the rule remembers are all that a checkpoint holds.
TEST(TrainingRun, GoesOnFromACheckpointToTheSameBits) {
  const Eigen::Index n = 10;
  for (const char* name : {"gd", "sgd", "adamw", "lion"}) {
    Quadratic losses = quadratic(n);
    TrainingRun whole(losses, test::rule(name, n), numbers(n, 1), with_rate(0.05));
    for (int t = 0; t < 7; ++t) whole.step();
    const VectorXd parameters = whole.parameters();
    const std::vector<StateTensor> memory = whole.rule_state();
    for (int t = 0; t < 6; ++t) whole.step();
    TrainingRun run(losses, test::rule(name, n), numbers(n, 2), with_rate(0.05));
    run.step();
    run.resume(7, parameters, memory);
    EXPECT_EQ(run.num_steps(), 7);
    EXPECT_TRUE(std::isnan(run.batch_loss()));
    EXPECT_FALSE(run.has_diverged());
    for (int t = 0; t < 6; ++t) ASSERT_EQ(run.step(), Status::kOk);
    EXPECT_EQ(run.parameters(), whole.parameters()) << name;
    EXPECT_EQ(run.state(), whole.state()) << name;
    expect_refusal([&] { run.resume(-1, parameters, memory); }, "after 0 steps or more");
    expect_refusal([&] { run.resume(7, parameters.head(3), memory); }, "10 finite parameters");
    expect_refusal([&] { run.resume(7, parameters, {}); }, "is missing");
    expect_refusal([&] { run.resume(6, parameters, memory); }, "after 6 steps, got that after 7");
    EXPECT_EQ(run.state(), whole.state()) << name;
  }
}

TEST(TrainingRun, SaysInWhichStepItDiverged) {
  const Eigen::Index n = 4;
  Quadratic losses = quadratic(n);
  TrainingRun run(losses, test::rule("gd", n), numbers(n, 11), with_rate(1e60));
  std::int64_t steps = 0;
  while (run.step() == Status::kOk) {
    ++steps;
    ASSERT_LT(steps, 20);
  }
  EXPECT_GE(steps, 1);
  EXPECT_EQ(run.num_steps(), steps);
  EXPECT_TRUE(run.has_diverged());
  EXPECT_TRUE(run.parameters().allFinite());
  const VectorXd last = run.parameters();
  EXPECT_EQ(run.step(), Status::kNonFinite);
  EXPECT_EQ(run.parameters(), last);
  TrainingRun same(losses, test::rule("gd", n), numbers(n, 11), with_rate(1e60));
  same.restore(run.state());
  EXPECT_EQ(same.state(), run.state());
}

TEST(TrainingRun, DivergesWhereLossesStayAboveTheLimit) {
  Quadratic losses(test::one_block(2), MatrixXd::Identity(2, 2), VectorXd::Zero(2));
  TrainingRun::Options options = with_rate(3);  // x <- -2 x
  options.loss_limit = 100;
  const auto begin = [&] {
    return TrainingRun(losses, test::rule("gd", 2), test::vector({1, 1}), options);
  };
  TrainingRun run = begin();
  while (run.step() == Status::kOk) ASSERT_LT(run.num_steps(), 20);
  // The losses are 4^t: above 100 from t = 4 on, for the tenth time at t = 13.
  EXPECT_EQ(run.num_steps(), 13);
  EXPECT_EQ(run.batch_loss(), std::pow(4.0, 12));

  TrainingRun first = begin();
  for (int t = 0; t < 9; ++t) first.step();
  TrainingRun second = begin();
  second.restore(first.state());
  while (second.step() == Status::kOk) ASSERT_LT(second.num_steps(), 20);
  EXPECT_EQ(second.state(), run.state());
}

/// 1, but 10 in the steps that are asked for.
class Outliers final : public BatchLoss {
 public:
  explicit Outliers(std::set<std::int64_t> steps) : steps_(std::move(steps)) {}

  std::span<const ParameterBlock> parameter_blocks() const override { return blocks_; }

  Objective::ValueAndGradient value_and_gradient(const Objective::ConstVectorRef& theta,
                                                 std::int64_t step) override {
    return {steps_.contains(step) ? 10.0 : 1.0, VectorXd::Zero(theta.size())};
  }

 private:
  std::vector<ParameterBlock> blocks_ = test::one_block(2);
  std::set<std::int64_t> steps_;
};

TEST(TrainingRun, OutlastsOutliersAboveTheLimit) {
  const std::set<std::int64_t> nine = {5, 6, 7, 8, 9, 10, 11, 12, 13, 15};
  TrainingRun::Options options = with_rate(1);
  options.loss_limit = 9;
  Outliers losses(nine);
  TrainingRun run(losses, test::rule("gd", 2), test::vector({1, 1}), options);
  for (int t = 0; t < 30; ++t) ASSERT_EQ(run.step(), Status::kOk) << t;

  std::set<std::int64_t> ten = nine;
  ten.insert(14);
  Outliers more(ten);
  TrainingRun ended(more, test::rule("gd", 2), test::vector({1, 1}), options);
  while (ended.step() == Status::kOk) ASSERT_LT(ended.num_steps(), 30);
  EXPECT_EQ(ended.num_steps(), 14);
}

TEST(TrainingRun, RefusesWhatDoesNotFit) {
  const Eigen::Index n = 4;
  Quadratic losses = quadratic(n);
  const auto make = [&](Eigen::Index size, VectorXd start, const TrainingRun::Options& options) {
    TrainingRun(losses, test::rule("sgd", size), std::move(start), options);
  };
  expect_refusal([&] { make(5, numbers(n, 1), with_rate(1)); }, "made for the parameter blocks");
  expect_refusal([&] { make(n, numbers(5, 1), with_rate(1)); }, "4 finite entries");
  VectorXd infinite = numbers(n, 1);
  infinite[2] = kInfinity;
  expect_refusal([&] { make(n, infinite, with_rate(1)); }, "4 finite entries");
  expect_refusal([&] { make(n, numbers(n, 1), with_rate(std::nan(""))); }, "learning rate");
  TrainingRun::Options options = with_rate(1);
  options.clip_norm = std::nan("");
  expect_refusal([&] { make(n, numbers(n, 1), options); }, "clip_norm must be above 0, got nan");
  options = with_rate(1);
  options.clip_fraction = 1;
  expect_refusal([&] { make(n, numbers(n, 1), options); }, "clip_fraction must be in [0, 1)");
  options = with_rate(1);
  options.trained = {true, false};
  expect_refusal([&] { make(n, numbers(n, 1), options); }, "'trained' must say it of 1 blocks");
  expect_refusal<ConfigError>(
      [&] {
        blocks_matching(test::mixed_blocks(), std::vector<std::string>{"W", "Hh"});
      },
      "no parameter is named 'Hh' (did you mean 'H'?)");

  std::unique_ptr<UpdateRule> used = test::rule("sgd", n);
  used->step(numbers(n, 1), numbers(n, 2));
  expect_refusal([&] { TrainingRun(losses, std::move(used), numbers(n, 1), with_rate(0.1)); },
                 "must not have made a step, got one that has made 1");

  TrainingRun run(losses, test::rule("sgd", n), numbers(n, 1), with_rate(0.1));
  run.step();
  const std::vector<double> state = run.state();
  const auto refuse_with = [&](std::size_t index, double value) {
    std::vector<double> wrong = state;
    wrong[index] = value;
    expect_refusal([&] { run.restore(wrong); }, "the 13 numbers of a state, got 13 others");
    EXPECT_EQ(run.state(), state);
  };
  refuse_with(0, 1.5);
  refuse_with(0, -1);
  refuse_with(2, 7);
  refuse_with(3, 10);
  refuse_with(3, std::nan(""));
  refuse_with(4, std::nan(""));
  std::vector<double> later = state;
  later[0] = 2;
  expect_refusal([&] { run.restore(later); }, "after 2 steps, got that after 1");
  later[2] = 1;
  expect_refusal([&] { run.restore(later); }, "after 2 steps, got that after 1");
  EXPECT_EQ(run.state(), state);
  expect_refusal([&] { run.restore(std::span(state).first(state.size() - 1)); }, "expected the 13");
}

}  // namespace
}  // namespace hesscope
