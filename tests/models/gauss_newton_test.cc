// SPDX-License-Identifier: BSD-3-Clause
//
// The models' Gauss-Newton matrices in closed form and by what they must be. Each is compared with
// J^T L J from scalar code in its model's own test (model_oracle.h).
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/attention.h>
#include <hesscope/models/attention_classifier.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/models/signal_noise.h>

#include "models/model_oracle.h"
#include "support/decompositions.h"
#include "support/maxima.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

SampleTable with_classes(SampleTable samples, Eigen::Index num_classes) {
  samples.rightCols(num_classes).setZero();
  for (Eigen::Index i = 0; i < samples.rows(); ++i) {
    samples(i, samples.cols() - num_classes + i % num_classes) = 1;
  }
  return samples;
}

void expect_no_residual_part(const Model& model,
                             const SampleTable& samples,
                             const VectorXd& theta) {
  const GraphObjective objective = test::objective_of(model, samples);
  const MatrixXd H = objective.hessian(theta);
  EXPECT_GT(H.norm(), 0.01);
  EXPECT_TRUE((objective.gauss_newton(theta) - H).norm() <= test::kDoubleTolerance * H.norm());
}

TEST(GaussNewton, IsTheHessianWhereThePredictionIsLinear) {
  for (const MlpLoss loss : {MlpLoss::kMeanSquaredError, MlpLoss::kCrossEntropy}) {
    const Model model = mlp({.widths = {3, 4}, .activation = Activation::kIdentity, .loss = loss});
    SampleTable samples = test::Numbers(101).table(7, model.record_size());
    if (loss == MlpLoss::kCrossEntropy) samples = with_classes(samples, 4);
    expect_no_residual_part(model, samples, test::Numbers(102).vector(model.num_parameters()));
  }
  // One sparse layer of linear attention is linear in Q, and P has no effect.
  const Model attention = linear_attention({.layers = 1, .dimension = 3, .context = 4});
  expect_no_residual_part(attention,
                          test::Numbers(103).table(6, attention.record_size()),
                          test::Numbers(104).vector(attention.num_parameters()));
}

TEST(GaussNewton, IsNotTheHessianWhereThePredictionBends) {
  const std::vector<Model> models = {
      linear_attention({.layers = 2, .dimension = 2, .context = 3}),
      linear_attention({.layers = 1,
                        .dimension = 2,
                        .context = 3,
                        .activation = LinearAttentionActivation::kSoftmax}),
      attention({.heads = 2, .embedding = 3, .head_dimension = 2, .sequence = 3}),
      mlp({.widths = {2, 3, 2}, .loss = MlpLoss::kMeanSquaredError}),
      signal_noise({.dimension = 3, .key_neurons = 2, .value_neurons = 2})};
  for (const Model& model : models) {
    SCOPED_TRACE(model.kind);
    const GraphObjective objective =
        test::objective_of(model, test::Numbers(105).table(5, model.record_size()));
    const VectorXd theta = test::Numbers(106).vector(model.num_parameters());
    const MatrixXd H = objective.hessian(theta);
    EXPECT_GT((H - objective.gauss_newton(theta)).norm(), 0.05 * H.norm());
  }
}

TEST(GaussNewton, IsTheHessianWhereNoResidualIsLeft) {
  // Least squares whose targets are the predictions: dl/dz = 0 multiplies what bends.
  const Model model = mlp({.widths = {2, 3, 2}, .loss = MlpLoss::kMeanSquaredError});
  const VectorXd theta = test::Numbers(107).vector(model.num_parameters());
  SampleTable samples = test::Numbers(108).table(9, model.record_size());
  for (Eigen::Index i = 0; i < samples.rows(); ++i) {
    // weight (3, 2), bias (3), weight (2, 3), bias (2)
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const RowMajor> W1(theta.data(), 3, 2);
    const Eigen::Map<const RowMajor> W2(theta.data() + 9, 2, 3);
    const VectorXd hidden =
        (W1 * samples.row(i).head(2).transpose() + theta.segment(6, 3)).array().tanh();
    samples.row(i).tail(2) = (W2 * hidden + theta.tail(2)).transpose();
  }
  expect_no_residual_part(model, samples, theta);
}

TEST(GaussNewton, OfLinearAttentionIsTheMeanOfOuterProducts) {
  // l = (f - y)^2: the gradient of sample i is 2 r_i g_i with g_i = df_i/dtheta, and G = (2/N)
  // sum_i g_i g_i^T. With r_i = +- sqrt(l_i) the gradients give g_i up to a sign that does not
  // matter.
  for (const auto parametrization : {LinearAttentionParametrization::kSparse,
                                     LinearAttentionParametrization::kFull,
                                     LinearAttentionParametrization::kSplitQk}) {
    const Model model = linear_attention(
        {.layers = 3, .dimension = 3, .context = 6, .parametrization = parametrization});
    const SampleTable samples = test::Numbers(109).table(50, model.record_size());
    const GraphObjective objective = test::objective_of(model, samples);
    const VectorXd theta = 0.5 * test::Numbers(110).vector(model.num_parameters());
    MatrixXd g = objective.per_sample_gradients(theta, objective.all_samples());
    for (Eigen::Index i = 0; i < g.cols(); ++i) {
      const double loss = objective.value(theta, {i, i + 1});
      ASSERT_GT(loss, 1e-6);
      g.col(i) /= 2 * std::sqrt(loss);
    }
    const MatrixXd expected = 2.0 / 50 * g * g.transpose();
    test::expect_near(
        objective.gauss_newton(theta), expected, test::kDoubleTolerance, "the outer products");
  }
}

TEST(GaussNewton, OfAttentionIsNormalInItsOutputWeights) {
  // MH is linear in WO with the concatenated heads as features, which are dMH/dWO: the block of G
  // equals that of H, in which the residual part has nothing.
  const Model model = attention({.heads = 2, .embedding = 3, .head_dimension = 2, .sequence = 3});
  const GraphObjective objective =
      test::objective_of(model, test::Numbers(111).table(5, model.record_size()));
  const VectorXd theta = test::Numbers(112).vector(model.num_parameters());
  const MatrixXd H = objective.hessian(theta).bottomRightCorner(4, 4);
  EXPECT_GT(H.norm(), 0.01);
  const MatrixXd G = objective.gauss_newton(theta).bottomRightCorner(4, 4);
  EXPECT_TRUE((G - H).norm() <= test::kDoubleTolerance * H.norm());
}

TEST(GaussNewton, OfAClassifierIsNormalInItsHead) {
  // The logits are linear in the head's weights and biases.
  const Model model = attention_classifier({.layers = 2,
                                            .heads = 2,
                                            .embedding = 3,
                                            .head_dimension = 2,
                                            .mlp_hidden = 4,
                                            .tokens = 3,
                                            .classes = 3});
  const GraphObjective objective =
      test::objective_of(model, with_classes(test::Numbers(115).table(6, model.record_size()), 3));
  const VectorXd theta = test::Numbers(116).vector(model.num_parameters());
  const MatrixXd H = objective.hessian(theta);
  const MatrixXd G = objective.gauss_newton(theta);
  EXPECT_TRUE((G - H).bottomRightCorner(12, 12).norm() <=
              test::kDoubleTolerance * H.bottomRightCorner(12, 12).norm());
  EXPECT_GT((H - G).norm(), 0.05 * H.norm());
}

TEST(GaussNewton, HasAtMostAsManyRanksAsOutputs) {
  // One sample with m outputs: G = J^T L J has rank m (one less for softmax, which does not see a
  // shift of all logits).
  const Model model = mlp({.widths = {3, 5, 4}});
  const SampleTable samples = with_classes(test::Numbers(113).table(3, model.record_size()), 4);
  const GraphObjective objective = test::objective_of(model, samples);
  const VectorXd theta = test::Numbers(114).vector(model.num_parameters());
  const MatrixXd G = objective.gauss_newton(theta, {1, 2}, {});
  const VectorXd values = test::eigenvalues(G);  // ascending
  const double largest = values.maxCoeff<Eigen::PropagateNaN>();
  const Eigen::Index n = values.size();
  EXPECT_TRUE(test::largest_magnitude(values.head(n - 3)) <= 1e-14 * largest);
  EXPECT_GT(values(n - 3), 1e-6 * largest);
}

TEST(ModelBuilder, RefusesALossThatBypassesThePrediction) {
  ModelBuilder b("ridge");
  const Var w = b.parameter("weight", {3});
  const Var z = matmul_tn(w, b.array("inputs", {3}));
  b.set_prediction(z);
  const Var loss = square(z - b.array("target", {})) + 0.01 * sum(square(w));
  test::expect_refusal([&] { b.finish(loss); },
                       "the loss must depend on parameters through the prediction alone");
}

}  // namespace
}  // namespace hesscope
