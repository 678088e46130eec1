// SPDX-License-Identifier: BSD-3-Clause
//
// A Sweep of every instruction set, against 50 digits.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/multiprecision.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/models/attention.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>

#include "support/loss_oracle.h"

namespace hesscope {
namespace {

constexpr double kTolerance = 1e-13;

std::vector<Model> models() {
  return {linear_attention({.layers = 2, .dimension = 2, .context = 3}),
          attention({.heads = 2, .embedding = 3, .head_dimension = 2, .sequence = 3}),
          attention({.heads = 1,
                     .embedding = 2,
                     .head_dimension = 2,
                     .sequence = 3,
                     .kernel = AttentionKernel::kGaussian}),
          mlp({.widths = {3, 4, 2},
               .activation = Activation::kGelu,
               .loss = MlpLoss::kMeanSquaredError})};
}

using SweepOf = testing::TestWithParam<InstructionSet>;

INSTANTIATE_TEST_SUITE_P(InstructionSets,
                         SweepOf,
                         testing::ValuesIn(supported_instruction_sets().begin(),
                                           supported_instruction_sets().end()),
                         [](const auto& test) {
                           std::string name(name_of(test.param));
                           std::erase(name, '-');
                           return name;
                         });

// One sample, one less and one more than fill the lanes, and several packs.
TEST_P(SweepOf, EveryDerivativeIsThatOfFiftyDigits) {
  for (const Model& model : models()) {
    const std::unique_ptr<Sweep> sweep = Sweep::create(*model.graph, GetParam());
    const Eigen::Index n = model.num_parameters();
    const Eigen::VectorXd theta = test::Numbers(5).vector(n);
    for (const Eigen::Index count : {1, 3, 4, 5, 7, 8, 9, 17}) {
      SCOPED_TRACE(model.kind + ", samples: " + std::to_string(count));
      const SampleTable samples = test::Numbers(6).table(count, model.record_size());
      const Records records = test::records_of(samples);
      const auto exact = multiprecision_derivatives(*model.graph, test::span_of(theta), records);
      const double scale = 1.0 / static_cast<double>(count);

      EXPECT_NEAR(scale * sweep->value(test::span_of(theta), records),
                  exact.value,
                  kTolerance * std::abs(exact.value));
      Eigen::VectorXd gradient = Eigen::VectorXd::Zero(n);
      const auto size = static_cast<std::size_t>(n);
      sweep->value_and_gradient(test::span_of(theta), records, {gradient.data(), size});
      const double gradient_error = (scale * gradient - exact.gradient).norm();
      EXPECT_LE(gradient_error, kTolerance * exact.gradient.norm());

      Eigen::MatrixXd gradients(n, count);
      sweep->per_sample_gradients(test::span_of(theta),
                                  records,
                                  {gradients.data(), static_cast<std::size_t>(gradients.size())});
      const double sum_error = (scale * gradients.rowwise().sum() - exact.gradient).norm();
      EXPECT_LE(sum_error, kTolerance * exact.gradient.norm());

      using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      const RowMajor v = test::Numbers(7).table(n, Sweep::kMaxDirections);
      RowMajor product = RowMajor::Zero(n, Sweep::kMaxDirections);
      const auto product_size = static_cast<std::size_t>(product.size());
      sweep->hessian_times(test::span_of(theta),
                           records,
                           {v.data(), product_size},
                           Sweep::kMaxDirections,
                           {product.data(), product_size});
      const double product_error = (scale * product - exact.hessian * v).norm();
      EXPECT_LE(product_error, kTolerance * exact.hessian.norm() * v.norm());
    }
  }
}

TEST_P(SweepOf, WorkspaceIsCountedForItsLanes) {
  const Model model = models().front();
  EXPECT_GT(Sweep::workspace_bytes(*model.graph, GetParam()), 0.0);
  EXPECT_LE(Sweep::workspace_bytes(*model.graph, InstructionSet::kBaseline),
            Sweep::workspace_bytes(*model.graph, GetParam()));
}

}  // namespace
}  // namespace hesscope
