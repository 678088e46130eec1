// SPDX-License-Identifier: BSD-3-Clause
//
// Against dimensions that can be counted, and gradients of samples that were not asked.
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/models/losses.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/flat_directions.h>
#include <hesscope/spectra/spectrum.h>
#include <hesscope/spectra/zero_modes.h>

#include "support/numbers.h"

namespace hesscope {
namespace {

constexpr Eigen::Index kFlatSamples = 30;

GraphObjective on_random_numbers(Model model) {
  test::Numbers numbers(3);
  SampleTable samples = numbers.table(kFlatSamples, model.record_size());
  return {std::move(model), std::move(samples)};
}

// sum tanh(W diag(scale) (x - mean(x)) + b) with W 4 x 3: a function of the matrix W diag(scale),
// of which a number may be added to each row, and of b. Of 19 parameters 12 - 4 + 4 are seen. The
// shifts of rows, W_ik += m_i / scale_k, are no affine maps of the parameters.
Model centred_layer() {
  ModelBuilder b("centred");
  const Var w = b.parameter("W", {4, 3});
  const Var scale = b.parameter("scale", {3});
  const Var bias = b.parameter("b", {4});
  const Var x = b.array("inputs", {3});
  const Var centre =
      b.constant(Eigen::MatrixXd::Identity(3, 3) - Eigen::MatrixXd::Constant(3, 3, 1.0 / 3.0));
  return b.finish(sum(tanh(matmul(w, hadamard(scale, matmul(centre, x))) + bias)));
}

TEST(FlatDirections, AreAllThatNoSampleSees) {
  const GraphObjective objective = on_random_numbers(centred_layer());
  const Eigen::VectorXd theta = test::Numbers(5).vector(19);
  const std::optional<Eigen::MatrixXd> flat = flat_directions(objective, theta);
  ASSERT_TRUE(flat.has_value());
  EXPECT_EQ(flat->cols(), 7);
  EXPECT_TRUE((flat->transpose() * *flat).isIdentity(1e-13));
  const Eigen::MatrixXd gradients = objective.per_sample_gradients(theta, objective.all_samples());
  EXPECT_LT((gradients.transpose() * *flat).norm(), 1e-12 * gradients.norm());
  for (int i = 0; i < 4; ++i) {
    Eigen::VectorXd shift = Eigen::VectorXd::Zero(19);
    for (int k = 0; k < 3; ++k) shift(3 * i + k) = 1 / theta(12 + k);
    EXPECT_LT((shift - *flat * (flat->transpose() * shift)).norm(), 1e-10 * shift.norm());
  }
}

TEST(FlatDirections, AreNoneWhereEveryParameterIsSeen) {
  const GraphObjective objective =
      on_random_numbers(mlp({.widths = {2, 3, 1}, .loss = MlpLoss::kMeanSquaredError}));
  const std::optional<Eigen::MatrixXd> flat =
      flat_directions(objective, test::Numbers(5).vector(objective.num_parameters()));
  ASSERT_TRUE(flat.has_value());
  EXPECT_EQ(flat->cols(), 0);
}

// Logits x W^T + b of three classes at three places: what is added to all three rows of W, or
// entries of b, changes nothing. -100 is no class, and far from those.
TEST(FlatDirections, AreFoundWhereTargetsAreIgnored) {
  ModelBuilder b("ignoring");
  const Var w = b.parameter("W", {3, 2});
  const Var bias = b.parameter("b", {1, 3});
  const Var z = matmul_nt(b.array("inputs", {3, 2}), w) + bias;
  std::vector<double> target(3 * kFlatSamples);
  for (std::size_t i = 0; i < target.size(); ++i) {
    target[i] = i % 6 == 5 ? -100 : static_cast<double>(i % 3);
  }
  TensorShapes data;
  data.source = "data.npz";
  data.shapes = {{"target", {kFlatSamples, 3}}};
  data.read = [&](const std::string& /*name*/) { return target; };
  Model model = b.finish(record_loss(b, {.ignore_index = -100}, z, {3, 3}, "target", data));
  SampleTable samples = test::Numbers(3).table(kFlatSamples, model.record_size());
  samples.rightCols(3) = Eigen::Map<const SampleTable>(target.data(), kFlatSamples, 3);
  const GraphObjective objective(std::move(model), std::move(samples));
  const std::optional<Eigen::MatrixXd> flat =
      flat_directions(objective, test::Numbers(5).vector(9));
  ASSERT_TRUE(flat.has_value());
  EXPECT_EQ(flat->cols(), 3);
}

TEST(FlatDirections, AreNotToldWhereThePointIsSpecial) {
  const GraphObjective objective = on_random_numbers(centred_layer());
  Eigen::VectorXd theta = test::Numbers(5).vector(19);
  theta.head(12).setZero();  // without W the scale has no effect
  EXPECT_FALSE(flat_directions(objective, theta).has_value());
}

// Where Newton's method has led W to 0, W is not exactly 0, and a nearby point at a tenth of its
// size would be no different.
TEST(FlatDirections, AreNotToldNextToASpecialPoint) {
  const GraphObjective objective = on_random_numbers(centred_layer());
  Eigen::VectorXd theta = test::Numbers(5).vector(19);
  theta.head(12) *= 1e-17;
  EXPECT_FALSE(flat_directions(objective, theta).has_value());
}

TEST(FlatDirections, AreNotToldOfManyParametersOrUnderAWeightDecay) {
  Model model = centred_layer();
  const Eigen::VectorXd theta = test::Numbers(5).vector(19);
  EXPECT_FALSE(
      flat_directions(on_random_numbers(model), theta, {.max_parameters = 18}).has_value());
  model.weight_decay = 0.1;
  EXPECT_FALSE(flat_directions(on_random_numbers(model), theta).has_value());
  EXPECT_THROW(flat_directions(on_random_numbers(centred_layer()), theta.head(18)),
               PreconditionError);
}

// Where the gradient is not zero, only two of the four shifts m are null vectors: those with sum_i
// m_i dl/dW_ik = 0 for all k, which is two conditions, since sum_k dl/dW_ik / scale_k = 0.
TEST(FlatDirections, ExplainZeroEigenvalues) {
  const GraphObjective objective = on_random_numbers(centred_layer());
  const Eigen::VectorXd theta = test::Numbers(5).vector(19);
  const Eigen::MatrixXd flat = flat_directions(objective, theta).value();
  const Eigen::MatrixXd hessian = objective.hessian(theta);
  const Spectrum spectrum = dense_spectrum(hessian);
  const Eigen::VectorXd gradient = objective.gradient(theta);
  const auto explain = [&](const Eigen::MatrixXd* directions) {
    return explain_zero_modes(theta,
                              gradient,
                              {},
                              hessian,
                              spectrum,
                              {.flat_directions = directions, .want_basis = true});
  };
  EXPECT_EQ(explain(nullptr).num_explained, 0);
  EXPECT_EQ(spectrum.num_zero, 2);
  const ZeroModes modes = explain(&flat);
  EXPECT_EQ(modes.num_explained, 2);
  EXPECT_EQ(modes.num_flat, 2);
  EXPECT_EQ(modes.num_unexplained, 0);
  EXPECT_LT((hessian * modes.basis).norm(), 1e-12 * hessian.norm());
  // What is no null vector is not explained, whoever says that it is flat.
  const Eigen::MatrixXd wrong = Eigen::MatrixXd::Identity(19, 19).rightCols(2);
  EXPECT_EQ(explain(&wrong).num_explained, 0);
  const Eigen::MatrixXd short_one(18, 1);
  EXPECT_THROW(explain(&short_one), PreconditionError);
}

// (1, ..., 1) is a null vector of a ring's Laplacian; here it is off by 1e-11.
TEST(FlatDirections, ExplainAsMuchAtEveryScale) {
  Eigen::MatrixXd laplacian = 2.0 * Eigen::MatrixXd::Identity(5, 5);
  for (Eigen::Index i = 0; i < 5; ++i) laplacian(i, (i + 1) % 5) = laplacian((i + 1) % 5, i) = -1;
  Eigen::MatrixXd flat = Eigen::VectorXd::Ones(5);
  flat(2, 0) += 1e-11;
  flat.normalize();
  const auto explain = [&](int exponent) {
    const Eigen::MatrixXd hessian = std::ldexp(1.0, exponent) * laplacian;
    return explain_zero_modes(Eigen::VectorXd::Ones(5),
                              Eigen::VectorXd::Zero(5),
                              {},
                              hessian,
                              dense_spectrum(hessian),
                              {.flat_directions = &flat});
  };
  const double residual = explain(0).flat_residual;
  EXPECT_NEAR(residual, std::sqrt(6.0 / 5.0) * 1e-11, 1e-14);
  for (const int exponent : {-1040, -700, 0, 700}) {
    const ZeroModes modes = explain(exponent);
    EXPECT_EQ(modes.status, Status::kOk);
    EXPECT_EQ(modes.num_flat, 1);
    EXPECT_EQ(modes.flat_residual, std::ldexp(residual, exponent));
  }
}

}  // namespace
}  // namespace hesscope
