// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <limits>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/hessian_cost.h>

#include "support/loss_oracle.h"

namespace hesscope {
namespace {

TEST(HessianCost, PredictsTimeAndMemoryOfAHessian) {
  const Model model = mlp({.widths = {4, 24, 24, 3}, .loss = MlpLoss::kMeanSquaredError});
  const GraphObjective objective{
      model, test::Numbers(71).table(1500, model.record_size()), {.num_threads = 1}};
  const Eigen::VectorXd theta = test::Numbers(72).vector(model.num_parameters());
  // The least of several: other programs can only make either longer.
  double foreseen = std::numeric_limits<double>::infinity();
  double taken = foreseen;
  for (int i = 0; i < 5; ++i) {
    const HessianCost cost = estimate_hessian_cost(objective, theta);
    const auto start = std::chrono::steady_clock::now();
    const Eigen::MatrixXd H = objective.hessian(theta);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(H.allFinite());
    foreseen = std::min(foreseen, cost.seconds);
    taken = std::min(taken, seconds.count());
    EXPECT_EQ(cost.memory_bytes,
              static_cast<double>(H.size()) * sizeof(double) + objective.workspace_bytes());
  }
  EXPECT_GT(foreseen, taken / 3);
  EXPECT_LT(foreseen, taken * 3);
}

TEST(HessianCost, IsFiniteForOneParameterAndOneSample) {
  const Model model = mlp({.widths = {1, 1}, .loss = MlpLoss::kMeanSquaredError});
  const GraphObjective objective{model, SampleTable::Ones(1, 2)};
  const HessianCost cost = estimate_hessian_cost(objective, Eigen::Vector2d(1, 2));
  EXPECT_GT(cost.seconds, 0);
  EXPECT_LT(cost.seconds, 1);
}

}  // namespace
}  // namespace hesscope
