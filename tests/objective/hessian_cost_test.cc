// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <ostream>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/hessian_cost.h>

#include "support/cost_ratio.h"
#include "support/numbers.h"

namespace hesscope {
namespace {

struct Case {
  const char* name;
  Model (*model)();
  Eigen::Index num_samples;
  bool use_structure;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

template <int kWidth>
Model perceptron() {
  return mlp({.widths = {4, kWidth, kWidth, 3}, .loss = MlpLoss::kMeanSquaredError});
}

Model attention_of_prompts() {
  return linear_attention({.layers = 3, .dimension = 5, .context = 20});
}

class HessianCostOf : public ::testing::TestWithParam<Case> {
 protected:
  const Model model = GetParam().model();
  const GraphObjective objective{
      model,
      test::Numbers(71).table(GetParam().num_samples, model.record_size()),
      {.num_threads = 1, .use_structure = GetParam().use_structure}};
  const Eigen::VectorXd theta = 0.1 * test::Numbers(72).vector(model.num_parameters());
};

TEST_P(HessianCostOf, IsForeseenWithinAFactor) {
  const double ratio = test::cost_ratio(
      [&] { return estimate_hessian_cost(objective, theta, processor_seconds).seconds; },
      [&] { objective.hessian(theta); });
  EXPECT_GT(ratio, 1 / test::kCostFactor);
  EXPECT_LT(ratio, test::kCostFactor);
}

TEST_P(HessianCostOf, IsForeseenForTheGaussNewtonMatrix) {
  if (!objective.has_gauss_newton()) GTEST_SKIP() << "there is none";
  const double ratio = test::cost_ratio(
      [&] { return estimate_gauss_newton_seconds(objective, theta, processor_seconds); },
      [&] { objective.gauss_newton(theta); });
  EXPECT_GT(ratio, 1 / test::kCostFactor);
  EXPECT_LT(ratio, test::kCostFactor);
}

// By the models' structure and by the generic engine: of up to a second each.
INSTANTIATE_TEST_SUITE_P(Sizes,
                         HessianCostOf,
                         ::testing::Values(Case{"Structured", perceptron<24>, 6000, true},
                                           Case{"StructuredLarger", perceptron<40>, 1500, true},
                                           Case{"StructuredLargest", perceptron<60>, 500, true},
                                           Case{"StructuredOfFew", perceptron<88>, 100, true},
                                           Case{"Attention", attention_of_prompts, 4000, true},
                                           Case{"Generic", perceptron<16>, 1000, false},
                                           Case{"GenericLarger", perceptron<28>, 700, false}),
                         [](const auto& of) { return of.param.name; });

TEST(HessianCost, TellsTheMemoryOfAHessian) {
  const Model model = perceptron<24>();
  const GraphObjective objective{model, SampleTable::Ones(10, model.record_size())};
  const Eigen::VectorXd theta = test::Numbers(72).vector(model.num_parameters());
  const auto n = static_cast<double>(model.num_parameters());
  EXPECT_EQ(estimate_hessian_cost(objective, theta).memory_bytes,
            n * n * sizeof(double) + objective.workspace_bytes());
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
