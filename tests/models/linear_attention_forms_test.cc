// SPDX-License-Identifier: BSD-3-Clause
//
// Linear attention with softmax, behind a perceptron, and at the sizes of the paper: what it must
// be. The plain-loop recursion is in linear_attention_test.cc.
#include <cmath>
#include <cstdint>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/models/linear_attention.h>

#include "models/model_oracle.h"
#include "models/prompts.h"

namespace hesscope {
namespace {

using Parametrization = LinearAttentionParametrization;
using test::prompts;

TEST(LinearAttentionForms, AveragesTheContextWhereAllSoftmaxScoresAreEqual) {
  // Q = 0: each of the n + 1 keys has weight 1 / (n + 1), the query's own is then masked, and the
  // rest is divided by n once more.
  const LinearAttentionOptions options{
      1, 2, 5, Parametrization::kFull, LinearAttentionActivation::kSoftmax};
  const SampleTable samples = prompts(options, 1, 31);
  Eigen::VectorXd theta = Eigen::VectorXd::Zero(18);
  theta.head(9) = test::Numbers(32).vector(9);
  const Eigen::Map<const Eigen::Matrix<double, 3, 6, Eigen::RowMajor>> Z(samples.data());
  const double label = theta.segment(6, 3).dot(Z.leftCols(5).rowwise().sum()) / (5 * 6);
  const double expected = std::pow(-label - samples(0, 18), 2);
  const double value = test::objective_of(linear_attention(options), samples).value(theta);
  EXPECT_NEAR(value, expected, test::kDoubleTolerance * expected);
}

TEST(LinearAttentionForms, DoesNotSeeWhatShiftsAllSoftmaxScoresOfAQuery) {
  // With covariates whose first entry is 1 in every token, z_j^T (u v^T) z_i with u = e_1 is the
  // same for all keys j. The last layer only: the others' updates change that entry.
  const LinearAttentionOptions options{
      1, 2, 4, Parametrization::kFull, LinearAttentionActivation::kSoftmax};
  const Model model = linear_attention(options);
  SampleTable samples = prompts(options, 6, 33);
  samples.leftCols(5).setOnes();
  const Eigen::VectorXd theta = test::Numbers(34).vector(18);
  Eigen::VectorXd shift = Eigen::VectorXd::Zero(18);
  shift.segment(9, 3) << 1, -2, 0.5;  // the first row of Q
  const auto objective = test::objective_of(model, samples);
  const auto plain = test::from_objective(objective, theta);
  test::expect_near(test::from_objective(objective, theta + 4 * shift),
                    plain,
                    16 * test::kDoubleTolerance,  // of scores some ten times larger
                    "the scores unshifted");
  EXPECT_TRUE((plain.hessian * shift).norm() <= test::kDoubleTolerance * plain.hessian.norm());
}

TEST(LinearAttentionForms, SurvivesHugeSoftmaxScores) {
  const LinearAttentionOptions options{
      2, 1, 3, Parametrization::kFull, LinearAttentionActivation::kSoftmax};
  const Model model = linear_attention(options);
  const SampleTable samples = prompts(options, 5, 35);
  Eigen::VectorXd theta = test::Numbers(36).vector(16);
  theta.segment(4, 4) *= 1e4;
  theta.segment(12, 4) *= 1e4;
  const auto actual = test::from_objective(test::objective_of(model, samples), theta);
  test::expect_near(
      actual, test::fifty_digit_tape(model, theta, samples), 1e-9, "the 50-digit tape");
  EXPECT_GT(actual.hessian.norm(), 0);
}

TEST(LinearAttentionForms, IsThePlainOneBehindAPerceptronThatDoesNothing) {
  // relu(x) - relu(-x) = x: W_0 = [I; -I], W_2 = [I, -I].
  for (const auto activation :
       {LinearAttentionActivation::kNone, LinearAttentionActivation::kSoftmax}) {
    const LinearAttentionOptions plain{2, 2, 4, Parametrization::kFull, activation};
    LinearAttentionOptions fronted = plain;
    fronted.mlp_hidden = 4;
    const SampleTable samples = prompts(plain, 6, 37);
    const Eigen::VectorXd theta = test::Numbers(38).vector(36);
    Eigen::VectorXd whole = Eigen::VectorXd::Zero(22 + 36);
    whole.segment(0, 8) << 1, 0, 0, 1, -1, 0, 0, -1;
    whole.segment(12, 8) << 1, 0, -1, 0, 0, 1, 0, -1;
    whole.tail(36) = theta;
    const auto expected =
        test::from_objective(test::objective_of(linear_attention(plain), samples), theta);
    const auto actual =
        test::from_objective(test::objective_of(linear_attention(fronted), samples), whole);
    test::expect_near(
        {actual.value, actual.gradient.tail(36), actual.hessian.bottomRightCorner(36, 36)},
        expected,
        test::kDoubleTolerance,
        "the plain model");
    EXPECT_GT(actual.hessian.topLeftCorner(22, 22).norm(), 0.01);
  }
}

TEST(LinearAttentionForms, HasAFasterHessianOnlyWhereItsStateSaysAll) {
  EXPECT_NE(linear_attention({}).structured_hessian, nullptr);
  EXPECT_EQ(
      linear_attention({.activation = LinearAttentionActivation::kSoftmax}).structured_hessian,
      nullptr);
  EXPECT_EQ(linear_attention({.mlp_hidden = 3}).structured_hessian, nullptr);
}

// The directional second derivative by differences of the gradient.
void expect_curvature_along_a_direction(const LinearAttentionOptions& options, double scale) {
  const Model model = linear_attention(options);
  const SampleTable samples = prompts(options, 3, 41);
  const auto objective = test::objective_of(model, samples);
  const Eigen::VectorXd theta = scale * test::Numbers(42).vector(model.num_parameters());
  const Eigen::VectorXd v = test::Numbers(43).vector(theta.size()).normalized();
  const Eigen::VectorXd Hv = objective.hessian_times(theta, v);
  const auto quotient = [&](double h) {
    return Eigen::VectorXd((objective.gradient(theta + h * v) - objective.gradient(theta - h * v)) /
                           (2 * h));
  };
  const double h = std::ldexp(1.0, -13);
  const Eigen::VectorXd D = quotient(h);
  const double predicted = (quotient(2 * h) - D).norm() +
                           64 * test::kEpsilon * (objective.gradient(theta).norm() + 1) / h;
  EXPECT_TRUE((D - Hv).norm() <= predicted) << (D - Hv).norm() << " > " << predicted;
  EXPECT_LE(predicted, 1e-4 * Hv.norm()) << "the prediction says nothing";
  EXPECT_GT(Hv.norm(), 1e-8);
}

TEST(LinearAttentionForms, HoldsTheLargestOfThePaper) {
  // Figure 8: eight layers, 20 covariates, 60 examples; and queries and keys apart.
  expect_curvature_along_a_direction({8, 20, 60, Parametrization::kSparse}, 0.1);
  expect_curvature_along_a_direction({8, 20, 60, Parametrization::kSplitQk}, 0.2);
}

TEST(LinearAttentionForms, HasAsManyParametersAsTheirCodeBehindItsPerceptron) {
  const Model model =
      linear_attention({3, 5, 20, Parametrization::kFull, LinearAttentionActivation::kNone, 30});
  EXPECT_EQ(model.num_parameters(), 335 + 216);
  ASSERT_EQ(model.parameters.size(), 10U);
  EXPECT_EQ(model.parameters[0].name, "mlp.0.weight");
  EXPECT_EQ(model.parameters[0].shape, (std::vector<std::int64_t>{30, 5}));
  EXPECT_EQ(model.parameters[3].name, "mlp.2.bias");
  EXPECT_EQ(model.parameters[4].name, "layers.0.P");
}

}  // namespace
}  // namespace hesscope
