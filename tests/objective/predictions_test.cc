// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/sweep.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/models/attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/models/model.h>
#include <hesscope/models/signal_noise.h>
#include <hesscope/objective/graph_objective.h>

#include "support/numbers.h"
#include "support/quadratic_objective.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using test::expect_refusal;
using test::kEpsilon;

constexpr Eigen::Index kRows = 71;  // two blocks, neither of whole packs

class PredictionsTest : public testing::Test {
 protected:
  const Model model = attention({.heads = 2, .embedding = 4, .head_dimension = 2, .sequence = 3});
  const SampleTable samples = test::Numbers(5).table(kRows, model.record_size());
  const Eigen::VectorXd theta = test::Numbers(6).vector(model.num_parameters());
  const GraphObjective objective{model, samples};
};

TEST_F(PredictionsTest, AreWhatTheLossIsAFunctionOf) {
  // The loss is |z|^2, its gradient 2 J^T z.
  for (const SampleRange range : {SampleRange{0, kRows}, {3, 70}, {9, 10}}) {
    const Eigen::MatrixXd z = objective.predictions(theta, range);
    const Eigen::MatrixXd j = objective.prediction_jacobian(theta, range);
    const Eigen::MatrixXd gradients = objective.per_sample_gradients(theta, range);
    ASSERT_EQ(z.rows(), 3);
    ASSERT_EQ(z.cols(), range.size());
    ASSERT_EQ(j.rows(), 3 * range.size());
    ASSERT_EQ(j.cols(), model.num_parameters());
    for (Eigen::Index i = 0; i < range.size(); ++i) {
      const SampleRange one{range.begin + i, range.begin + i + 1};
      const double value = objective.value(theta, one);
      EXPECT_TRUE(std::abs(z.col(i).squaredNorm() - value) <= 16 * kEpsilon * value);
      const Eigen::VectorXd expected = 2 * j.middleRows(3 * i, 3).transpose() * z.col(i);
      const Eigen::VectorXd gradient = gradients.col(i);
      EXPECT_TRUE((expected - gradient).norm() <= 1e-13 * gradient.norm()) << i;
    }
  }
}

TEST_F(PredictionsTest, HaveTheJacobianOfTheirDifferences) {
  const Eigen::MatrixXd j = objective.prediction_jacobian(theta, {0, 5});
  const Eigen::VectorXd d = test::Numbers(7).vector(model.num_parameters());
  constexpr double kStep = 1e-6;
  const Eigen::MatrixXd difference = (objective.predictions(theta + kStep * d, {0, 5}) -
                                      objective.predictions(theta - kStep * d, {0, 5})) /
                                     (2 * kStep);
  const Eigen::VectorXd product = j * d;
  EXPECT_TRUE((difference.reshaped() - product).norm() <= 1e-7 * product.norm());
}

TEST_F(PredictionsTest, MakeUpTheGaussNewtonMatrix) {
  const Eigen::MatrixXd j = objective.prediction_jacobian(theta, objective.all_samples());
  const Eigen::MatrixXd g = 2.0 / static_cast<double>(kRows) * j.transpose() * j;
  EXPECT_TRUE((g - objective.gauss_newton(theta)).norm() <= 1e-13 * g.norm());
}

TEST_F(PredictionsTest, AreBitIdenticalForAnyNumberOfThreads) {
  const GraphObjective one(model, samples, {.num_threads = 1});
  const GraphObjective four(model, samples, {.num_threads = 4});
  const SampleRange all = one.all_samples();
  EXPECT_EQ(four.predictions(theta, all), one.predictions(theta, all));
  EXPECT_EQ(four.prediction_jacobian(theta, all), one.prediction_jacobian(theta, all));
}

TEST_F(PredictionsTest, NeedAModelThatDeclaresThem) {
  ModelBuilder b("cubic");
  const Var x = b.parameter("x", {1});
  const Var data = b.array("data", {});
  const Model cubic = b.finish(hadamard(x, square(x)) + data);
  const GraphObjective of_graph{cubic, SampleTable::Zero(1, 1)};
  const test::QuadraticObjective quadratic({Eigen::MatrixXd(Eigen::MatrixXd::Identity(1, 1))});
  const Eigen::VectorXd w = Eigen::VectorXd::Constant(1, 2.0);
  for (const Objective* other :
       {static_cast<const Objective*>(&of_graph), static_cast<const Objective*>(&quadratic)}) {
    const SampleRange all = other->all_samples();
    expect_refusal([&] { other->predictions(w, all); }, "predictions: predictions need");
    expect_refusal([&] { other->prediction_jacobian(w, all); }, "prediction_jacobian: ");
  }
  const auto sweep = Sweep::create(*cubic.graph);
  std::vector<double> out(1);
  expect_refusal(
      [&] {
        sweep->predictions(test::span_of(w), {out.data(), 1, 1}, out);
      },
      "Sweep: predictions need a graph");
  const SampleRange one{0, 1};
  expect_refusal([&] { objective.predictions(w, one); }, "predictions: theta must have");
  expect_refusal([&] { objective.prediction_jacobian(w, one); }, "theta must have");
}

// Logits are the inputs, shifted by biases.
class AccuracyTest : public testing::Test {
 protected:
  static GraphObjective classifier(const SampleTable& samples) {
    return {mlp({.widths = {3, 3}, .loss = MlpLoss::kCrossEntropy}), samples};
  }

  static Eigen::VectorXd identity() {
    Eigen::VectorXd theta = Eigen::VectorXd::Zero(12);
    theta[0] = theta[4] = theta[8] = 1;
    return theta;
  }
};

TEST_F(AccuracyTest, CountsTheLogitAboveAllOthers) {
  const double nan = kNaN;
  const double infinity = kInfinity;
  SampleTable samples(8, 6);
  samples << 1, 2, 3, 0, 0, 1,  // right
      1, 2, 3, 0, 1, 0,         // wrong
      -1, -2, -3, 1, 0, 0,      // right
      2, 2, 1, 1, 0, 0,         // a tie for the first place
      2, 2, 1, 0, 1, 0,         // the same
      0, 0, 0, 0, 0, 1,         // all alike
      nan, 0, 5, 0, 0, 1,       // NaN spoils all logits of a product
      1e-320, 0, -1, 1, 0, 0;   // right, by a denormal number
  const GraphObjective objective = classifier(samples);
  ASSERT_TRUE(objective.has_accuracy());
  const bool expected[] = {true, false, true, false, false, false, false, true};
  for (Eigen::Index i = 0; i < 8; ++i) {
    EXPECT_EQ(objective.accuracy(identity(), {i, i + 1}), expected[i] ? 1.0 : 0.0) << i;
  }
  EXPECT_EQ(objective.accuracy(identity(), {0, 8}), 3.0 / 8);
  EXPECT_EQ(objective.accuracy(identity() * infinity, {0, 8}), 0.0);
}

TEST_F(AccuracyTest, CountsTheSignOfASinglePrediction) {
  const Model model = signal_noise({.dimension = 3, .key_neurons = 2, .value_neurons = 2});
  SampleTable samples = test::Numbers(8).table(50, model.record_size());
  for (Eigen::Index i = 0; i < 50; ++i) samples(i, 6) = i % 3 == 0 ? 1 : -1;
  const GraphObjective objective(model, samples);
  ASSERT_TRUE(objective.has_accuracy());
  const Eigen::VectorXd theta = test::Numbers(9).vector(model.num_parameters());
  // log(1 + exp(-y f)) is below log 2 just where y f > 0.
  int num_right = 0;
  for (Eigen::Index i = 0; i < 50; ++i) {
    if (objective.value(theta, {i, i + 1}) < std::log(2)) ++num_right;
  }
  ASSERT_GT(num_right, 5);
  ASSERT_LT(num_right, 45);
  EXPECT_EQ(objective.accuracy(theta, objective.all_samples()), num_right / 50.0);
  EXPECT_EQ(objective.accuracy(0 * theta, objective.all_samples()), 0.0);
  expect_refusal([&] { objective.accuracy(theta, {3, 3}); }, "accuracy: [3, 3) is not");
}

TEST_F(AccuracyTest, IsOfClassifiersAlone) {
  const Model model = attention({.heads = 1, .embedding = 2, .head_dimension = 1, .sequence = 2});
  const GraphObjective regression(model, test::Numbers(5).table(3, model.record_size()));
  EXPECT_FALSE(regression.has_accuracy());
  const Eigen::VectorXd theta = Eigen::VectorXd::Zero(model.num_parameters());
  expect_refusal([&] { regression.accuracy(theta, {0, 3}); }, "accuracy: needs a model");
  const Model squares = mlp({.widths = {3, 3}, .loss = MlpLoss::kMeanSquaredError});
  EXPECT_FALSE(GraphObjective(squares, test::Numbers(5).table(3, 6)).has_accuracy());
}

// One class for each of two tokens: right for a sample is not a number.
TEST_F(AccuracyTest, IsOfOneClassASample) {
  ModelBuilder b("tokens");
  const Var z = b.parameter("logits", {2, 3});
  b.set_prediction(z);
  const Var c = b.one_hot("target", {2}, 3);
  const Model model = b.finish(sum(hadamard(z, c)));
  SampleTable samples(1, 6);
  samples << 1, 0, 0, 0, 0, 1;
  EXPECT_FALSE(GraphObjective(model, samples).has_accuracy());
}

// Tokens that are expanded to classes go in, one class comes out.
TEST_F(AccuracyTest, LooksPastClassesThatAreInputs) {
  ModelBuilder b("embedding");
  const Var table = b.parameter("table", {3, 2});
  const Var tokens = b.one_hot("tokens", {4}, 3);
  const Var target = b.one_hot("target", 2);
  const Var ones = b.constant(Eigen::VectorXd::Ones(4));
  const Var z = matmul_tn(matmul(tokens, table), ones);
  b.set_prediction(z);
  const Model model = b.finish(cross_entropy(z, target));
  SampleTable samples = SampleTable::Zero(1, 14);
  samples(0, 1) = samples(0, 4) = samples(0, 7) = samples(0, 9) = 1;  // tokens 1, 1, 1, 0
  samples(0, 13) = 1;
  const GraphObjective objective(model, samples);
  ASSERT_TRUE(objective.has_accuracy());
  Eigen::VectorXd theta = Eigen::VectorXd::Zero(6);
  theta[3] = 1;  // of token 1, for class 1
  EXPECT_EQ(objective.accuracy(theta, {0, 1}), 1.0);
  EXPECT_EQ(objective.accuracy(-theta, {0, 1}), 0.0);
}

}  // namespace
}  // namespace hesscope
