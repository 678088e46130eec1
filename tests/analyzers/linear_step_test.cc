// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/analyzers/linear_step.h>
#include <hesscope/core/constants.h>

namespace hesscope {
namespace {

// |theta| + |m| after many updates on the loss h theta^2 / 2, from 1, by the definition; or after
// fewer, when it is huge.
double distance_after(const LinearStep& step, double h, double learning_rate, int updates) {
  double theta = 1;
  double m = 0;
  for (int i = 0; i < updates && std::abs(theta) + std::abs(m) < 1e100; ++i) {
    const double g = h * theta;
    m = step.momentum * m + step.intake * g;
    theta -= learning_rate * (step.gradient_weight * g + step.momentum_weight * m);
  }
  return std::abs(theta) + std::abs(m);
}

struct Case {
  std::string name;
  LinearStep step;
  double limit;
};

std::vector<Case> cases() {
  std::vector<Case> all = {{"gradient descent", gradient_descent_step(), 2}};
  for (const double beta : {0.1, 0.5, 0.9, 0.99}) {
    const std::string text = " " + std::to_string(beta);
    all.push_back({"heavy ball" + text, heavy_ball_step(beta), 2 + 2 * beta});
    all.push_back({"dampened" + text, heavy_ball_step(beta, 0.3), (2 + 2 * beta) / 0.7});
    all.push_back({"nesterov" + text, nesterov_step(beta), (2 + 2 * beta) / (1 + 2 * beta)});
    all.push_back({"average" + text, averaged_step(beta), (2 + 2 * beta) / (1 - beta)});
    // As NAdam's: part of the gradient at once, the momentum with its own weight.
    all.push_back(
        {"mixed" + text,
         {.momentum = beta, .intake = 1 - beta, .gradient_weight = 0.13, .momentum_weight = 0.88},
         (2 + 2 * beta) / (0.13 * (1 + beta) + 0.88 * (1 - beta))});
  }
  return all;
}

TEST(LinearStep, IsStableBelowItsLimitAndNotAbove) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.name);
    EXPECT_NEAR(stable_limit(each.step), each.limit, 1e-13 * each.limit);
    const double h = 3;
    const double threshold = stable_limit(each.step) / h;
    const double start = distance_after(each.step, h, 0, 1);
    EXPECT_LT(distance_after(each.step, h, threshold * (1 - 1e-3), 100'000), 1e-6 * start);
    EXPECT_GT(distance_after(each.step, h, threshold * (1 + 1e-3), 100'000), 1e6 * start);
  }
}

// The recurrence also decays for all smaller learning rates: the limit is the first.
TEST(LinearStep, IsStableAllTheWayToItsLimit) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.name);
    for (const double part : {0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99}) {
      EXPECT_LT(distance_after(each.step, 1, part * each.limit, 100'000), 1e-6) << part;
    }
  }
}

TEST(LinearStep, NeverDivergesWhereNothingOfTheGradientArrives) {
  EXPECT_EQ(stable_limit(heavy_ball_step(0.9, 1)), kInfinity);
}

}  // namespace
}  // namespace hesscope
