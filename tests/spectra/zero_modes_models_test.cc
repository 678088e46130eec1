// SPDX-License-Identifier: BSD-3-Clause
//
// Zero modes of models at random points, on slopes and where the gradient vanishes.
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/spectra/zero_modes.h>

#include "models/invariance_cases.h"

namespace hesscope {
namespace {

using test::InvarianceCase;

struct Answer {
  ZeroModes modes;
  Spectrum spectrum;
};

Answer explained(const Objective& objective, const Eigen::VectorXd& theta) {
  const Eigen::MatrixXd H = objective.hessian(theta);
  const Spectrum spectrum = dense_spectrum(H);
  return {
      explain_zero_modes(theta, objective.gradient(theta), objective.invariances(), H, spectrum),
      spectrum};
}

class ZeroModesOfModels : public testing::TestWithParam<InvarianceCase> {
 protected:
  const Model& model = GetParam().model;
  const Eigen::Index n = model.num_parameters();
  const Eigen::VectorXd theta = 1.5 * test::Numbers(61).vector(n);
};

TEST_P(ZeroModesOfModels, AreAllExplainedOnASlope) {
  const GraphObjective objective(model, test::random_samples(model, 8 * n, 62));
  const auto [modes, spectrum] = explained(objective, theta);
  EXPECT_EQ(modes.status, Status::kOk);
  EXPECT_EQ(modes.num_unconfirmed, 0);
  EXPECT_EQ(modes.num_unexplained, GetParam().beyond_affine);
  EXPECT_EQ(modes.num_explained + modes.num_unexplained, spectrum.num_zero);
}

INSTANTIATE_TEST_SUITE_P(Models,
                         ZeroModesOfModels,
                         testing::ValuesIn(test::invariance_cases()),
                         [](const auto& instance) { return instance.param.name; });

// Sets the targets to the model's predictions. The loss is c ||y - t||^2, so L(t) - L(t + e_i) = c
// (2 (y_i - t_i) - 1); then once more from the t that was found, where little cancels.
void hit_targets(const Model& model, const Eigen::VectorXd& theta, SampleTable& samples) {
  const DataArray& target = model.arrays.back();
  const double c = model.kind == "mlp" ? 1.0 / static_cast<double>(target.width) : 1.0;
  const auto losses = [&](const SampleTable& table) {
    const GraphObjective objective(model, table);
    Eigen::VectorXd values(table.rows());
    for (Eigen::Index i = 0; i < table.rows(); ++i) values[i] = objective.value(theta, {i, i + 1});
    return values;
  };
  for (int round = 0; round < 3; ++round) {
    const Eigen::VectorXd here = losses(samples);
    SampleTable hit = samples;
    for (Eigen::Index i = target.offset; i < target.offset + target.width; ++i) {
      SampleTable moved = samples;
      moved.col(i).array() += 1.0;
      hit.col(i).array() += 0.5 + (here - losses(moved)).array() / (2.0 * c);
    }
    samples = hit;
  }
}

// At a minimum that is reached at finite weights.
class ZeroModesOfFits : public ZeroModesOfModels {};

TEST_P(ZeroModesOfFits, AreTheWholeOrbits) {
  // Smaller weights, for eigenvalues within as many decades as a double has. Small biases: a ReLU
  // unit that fires on all samples is linear on them, and has more flat directions than the model.
  Eigen::VectorXd fit = theta / 2;
  for (const ParameterBlock& block : model.parameters) {
    if (block.name.ends_with(".bias")) fit.segment(block.offset, block.size) /= 16;
  }
  SampleTable samples = test::random_samples(model, 8 * n, 63);
  hit_targets(model, fit, samples);
  const GraphObjective objective(model, samples);
  ASSERT_LT(objective.gradient(fit).norm(), 1e-13 * objective.hessian(fit).norm());
  const auto [modes, spectrum] = explained(objective, fit);
  EXPECT_EQ(modes.status, Status::kOk);
  EXPECT_EQ(modes.num_unconfirmed, 0);
  EXPECT_EQ(modes.num_unexplained, GetParam().beyond_affine);
  EXPECT_EQ(modes.num_explained + modes.num_unexplained, spectrum.num_zero);
  if (!model.invariances.empty()) {
    EXPECT_GT(modes.num_explained, modes.num_dead);
  }
}

std::vector<InvarianceCase> cases_with_real_targets() {
  std::vector<InvarianceCase> cases = test::invariance_cases();
  std::erase_if(cases, [](const InvarianceCase& c) {
    return c.model.arrays.back().content != DataArray::Content::kReal;
  });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Models,
                         ZeroModesOfFits,
                         testing::ValuesIn(cases_with_real_targets()),
                         [](const auto& instance) { return instance.param.name; });

TEST(ZeroModesOfRelu, AreExplainedAlongTraining) {
  // Including dead units: their incoming and outgoing weights are dead parameters.
  const Model model = mlp({{2, 8, 6, 3}, Activation::kRelu, MlpLoss::kCrossEntropy});
  // Inputs of some size: a unit that fires on all samples is linear on them, and has more flat
  // directions than the model.
  SampleTable samples = test::random_samples(model, 600, 64);
  samples.leftCols(2) *= 4.0;
  const GraphObjective objective(model, samples);
  Eigen::VectorXd theta = test::Numbers(65).vector(model.num_parameters());
  theta.segment(16, 8).tail(1).setConstant(-10.0);  // bias of a unit: it never fires
  for (int step = 0; step <= 60; ++step) {
    if (step % 20 == 0) {
      SCOPED_TRACE("step " + std::to_string(step));
      const auto [modes, spectrum] = explained(objective, theta);
      EXPECT_EQ(modes.status, Status::kOk);
      EXPECT_GE(modes.num_dead, 3 + 6);
      EXPECT_EQ(modes.num_explained, spectrum.num_zero);
    }
    theta -= 0.1 * objective.gradient(theta);
  }
}

}  // namespace
}  // namespace hesscope
