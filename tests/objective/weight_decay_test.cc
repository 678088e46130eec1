// SPDX-License-Identifier: BSD-3-Clause
//
// w/2 |theta|^2 added to the loss, by closed form.
#include <cstddef>
#include <span>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>

#include "support/numbers.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kDecay = 0.25;
constexpr Index kDecaySamples = 70;  // two blocks
constexpr SampleRange kDecayRanges[] = {{0, kDecaySamples}, {3, 68}, {9, 10}};

Model decayed(Model model) {
  model.weight_decay = kDecay;
  return model;
}

// A model by the generic engine, one with a structured Hessian, one with a structured loss, too.
std::vector<Model> models() {
  const Model perceptron = mlp(
      {.widths = {3, 2, 2}, .activation = Activation::kRelu, .loss = MlpLoss::kMeanSquaredError});
  Model generic = perceptron;
  generic.structured_hessian = nullptr;
  return {generic, perceptron, linear_attention({.layers = 2, .dimension = 2, .context = 3})};
}

class WeightDecay : public testing::TestWithParam<int> {
 protected:
  const Model model = models()[static_cast<std::size_t>(GetParam())];
  const Index n = model.num_parameters();
  const SampleTable samples = test::Numbers(31).table(kDecaySamples, model.record_size());
  const VectorXd theta = test::Numbers(32).vector(n);
  const GraphObjective plain{model, samples};
  const GraphObjective objective{decayed(model), samples};
};

INSTANTIATE_TEST_SUITE_P(Models, WeightDecay, testing::Range(0, 3));

TEST_P(WeightDecay, AddsItsValueAndDerivativesOnce) {
  const double value = kDecay / 2 * theta.squaredNorm();
  const MatrixXd v = test::Numbers(33).table(n, 3);
  for (const SampleRange range : kDecayRanges) {
    EXPECT_EQ(objective.value(theta, range), plain.value(theta, range) + value);
    const auto with = objective.value_and_gradient(theta, range);
    const auto without = plain.value_and_gradient(theta, range);
    EXPECT_EQ(with.value, without.value + value);
    EXPECT_EQ(with.gradient, without.gradient + kDecay * theta);
    MatrixXd h = plain.hessian(theta, range, {});
    h.diagonal().array() += kDecay;
    EXPECT_EQ(objective.hessian(theta, range, {}), h);
    EXPECT_EQ(objective.hessian_times(theta, v, range),
              plain.hessian_times(theta, v, range) + kDecay * v);
    MatrixXd lines = plain.line_derivatives(theta, v, range);
    for (Index k = 0; k < v.cols(); ++k) {
      const VectorXd direction = v.col(k);
      lines(0, k) += value;
      lines(1, k) += kDecay * theta.dot(direction);
      lines(2, k) += kDecay * direction.squaredNorm();
    }
    EXPECT_EQ(objective.line_derivatives(theta, v, range), lines);
  }
}

TEST_P(WeightDecay, IsInTheGradientOfEverySample) {
  const SampleRange range = kDecayRanges[1];
  const MatrixXd gradients = objective.per_sample_gradients(theta, range);
  EXPECT_EQ(gradients,
            plain.per_sample_gradients(theta, range) + (kDecay * theta).replicate(1, range.size()));
  const VectorXd mean = gradients.rowwise().mean();
  const VectorXd gradient = objective.value_and_gradient(theta, range).gradient;
  EXPECT_LE((mean - gradient).norm(), 1e-14 * gradients.norm());
}

TEST_P(WeightDecay, IsInTheProductOfEverySample) {
  const SampleRange range = kDecayRanges[1];
  const MatrixXd v = test::Numbers(35).table(n, range.size());
  EXPECT_EQ(objective.per_sample_hessian_times(theta, v, range),
            plain.per_sample_hessian_times(theta, v, range) + kDecay * v);
}

TEST_P(WeightDecay, IsNoPartOfTheGaussNewtonMatrix) {
  const SampleRange range = kDecayRanges[0];
  EXPECT_EQ(objective.gauss_newton(theta, range, {}), plain.gauss_newton(theta, range, {}));
  const MatrixXd v = test::Numbers(34).table(n, 2);
  EXPECT_EQ(objective.gauss_newton_times(theta, v, range),
            plain.gauss_newton_times(theta, v, range));
  EXPECT_EQ(objective.predictions(theta, range), plain.predictions(theta, range));
}

TEST_P(WeightDecay, IsInTheLossOfSamplesFromElsewhere) {
  const auto source = [&](SampleRange range, std::span<double> records) {
    Eigen::Map<SampleTable>(records.data(), range.size(), samples.cols()) =
        samples.middleRows(range.begin, range.size());
  };
  const auto found = objective.value_and_gradient_of(theta, kDecaySamples, source);
  const auto own = objective.value_and_gradient(theta, {0, kDecaySamples});
  EXPECT_EQ(found.value, own.value);
  EXPECT_EQ(found.gradient, own.gradient);
}

TEST_P(WeightDecay, IsTheSameWhereverTheParametersStand) {
  VectorXd shifted(n + 1);
  shifted.tail(n) = theta;
  EXPECT_EQ(objective.value(shifted.tail(n), kDecayRanges[0]),
            objective.value(theta, kDecayRanges[0]));
}

TEST_P(WeightDecay, LeavesNoInvariance) {
  EXPECT_EQ(plain.invariances().size(), model.invariances.size());
  EXPECT_EQ(model.invariances.empty(), GetParam() == 2);  // sparse linear attention has none
  EXPECT_TRUE(objective.invariances().empty());
}

TEST(WeightDecayOfModels, MustBeANumberThatCanBe) {
  for (const double w : {-0.1, kNaN, kInfinity}) {
    Model model = mlp({.widths = {2, 1}, .loss = MlpLoss::kMeanSquaredError});
    model.weight_decay = w;
    test::expect_refusal([&] { GraphObjective(model, SampleTable::Zero(1, 3)); },
                         "weight_decay must be at least 0 and finite");
  }
}

// theta = (u, b) of z = u x + b: loss (z - y)^2 + w/2 (u^2 + b^2), by hand.
TEST(WeightDecayOfModels, HasTheMinimumOfRidgeRegression) {
  const Model model = decayed(mlp({.widths = {1, 1}, .loss = MlpLoss::kMeanSquaredError}));
  SampleTable samples(2, 2);
  samples << 1, 3, -1, 1;  // x, y: u = 1, b = 2 without decay
  const GraphObjective objective(model, samples);
  // H = 2 I + w I, gradient 2 (theta - (1, 2)) + w theta.
  const VectorXd minimum = Eigen::Vector2d(1, 2) * 2 / (2 + kDecay);
  EXPECT_LE(objective.value_and_gradient(minimum, {0, 2}).gradient.norm(), 1e-15);
  EXPECT_EQ(objective.hessian(minimum, {0, 2}, {}), (2 + kDecay) * MatrixXd::Identity(2, 2));
}

}  // namespace
}  // namespace hesscope
