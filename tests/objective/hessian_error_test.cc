// SPDX-License-Identifier: BSD-3-Clause
//
// Losses whose Hessian cancels, and the reported errors.
#include <cmath>

#include <gtest/gtest.h>

#include <hesscope/autodiff/derivatives.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/executor.h>
#include <hesscope/models/model.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/hessian_error.h>

#include "support/numbers.h"

namespace hesscope {
namespace {

constexpr Eigen::Index kDifferenceUnits = 4;
constexpr Eigen::Index kDifferenceSamples = 5;

// A sample's (u''(x) + 1)^2 with u = v . tanh(x w + b) and u'' by a difference over `step`.
Model model_of_differences(double step) {
  ModelBuilder b("differences");
  const Var w = b.parameter("w", {kDifferenceUnits});
  const Var bias = b.parameter("b", {kDifferenceUnits});
  const Var v = b.parameter("v", {kDifferenceUnits});
  const Var x = b.array("x", {});
  const auto number = [&](double a) { return b.constant(Eigen::MatrixXd::Constant(1, 1, a)); };
  const auto u = [&](double shift) {
    return matmul_tn(v, tanh(matmul(w, x + number(shift)) + bias));
  };
  const Var second = (1 / (step * step)) * (u(step) - 2.0 * u(0) + u(-step));
  return b.finish(square(second + number(1)));
}

// The same by Jets, one sample at a time.
Eigen::MatrixXd hessian_by_jets(double step, const SampleTable& x, const Eigen::VectorXd& theta) {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(theta.size(), theta.size());
  for (const double at : x.reshaped()) {
    const auto loss = [&](const auto& p) {
      const auto u = [&](double shift) {
        auto total = 0.0 * p(0);
        for (Eigen::Index i = 0; i < kDifferenceUnits; ++i) {
          total +=
              p(2 * kDifferenceUnits + i) * tanh(p(i) * (at + shift) + p(kDifferenceUnits + i));
        }
        return total;
      };
      const auto second = (u(step) - 2.0 * u(0) + u(-step)) / (step * step);
      return (second + 1.0) * (second + 1.0);
    };
    sum += hessian(loss, theta);
  }
  return sum / static_cast<double>(x.rows());
}

double relative_distance(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return (a - b).norm() / b.norm();
}

TEST(HessianError, AHessianOfDifferencesLosesNoMoreThanItsLoss) {
  const SampleTable x = test::Numbers(1).table(kDifferenceSamples, 1);
  const Eigen::VectorXd theta = test::Numbers(2).vector(3 * kDifferenceUnits);
  for (const double step : {1e-2, 1e-3, 1e-4}) {
    const GraphObjective objective(model_of_differences(step), x);
    const double rounding = 1e-15 / (step * step);  // of u'' in u
    const Eigen::MatrixXd h = objective.hessian(theta, objective.all_samples(), {});
    EXPECT_LT(relative_distance(h, hessian_by_jets(step, x, theta)), 100 * rounding) << step;
  }
}

TEST(HessianError, IsTold) {
  const SampleTable x = test::Numbers(1).table(kDifferenceSamples, 1);
  const Eigen::VectorXd theta = test::Numbers(2).vector(3 * kDifferenceUnits);
  const GraphObjective objective(model_of_differences(1e-2), x);
  Eigen::MatrixXd h = objective.hessian(theta, objective.all_samples(), {});
  const Eigen::VectorXd product =
      objective.hessian_times(theta, sign_probe(theta.size()), objective.all_samples());
  EXPECT_LT(hessian_error(h, product), 1e-9 * h.norm());
  const Executor executor(2);
  EXPECT_TRUE(has_small_error(h, product, 1e-9, executor));
  // If the error E has a single entry in a row, |E v| is |E| for a vector v of signs.
  h(3, 7) += 1e-3;
  EXPECT_NEAR(hessian_error(h, product), 1e-3, 1e-3 * 1e-3);
  h(7, 3) = h(3, 7);
  const double error = hessian_error(h, product) / h.norm();
  EXPECT_TRUE(has_small_error(h, product, 1.01 * error, executor));
  EXPECT_FALSE(has_small_error(h, product, 0.99 * error, executor));
  h(7, 3) = h(3, 7) = kNaN;
  EXPECT_FALSE(has_small_error(h, product, 1e300, executor));
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(product.size());
  h.setZero();
  EXPECT_TRUE(has_small_error(h, none, 1e-9, executor));
  EXPECT_FALSE(has_small_error(h, product, 1e-9, executor));
}

// sum (c_i sqrt(w_i x_i)) with c = (1, 0) at w_2 = 0: 0 times an infinite slope is no number, and
// by structure none either.
TEST(HessianError, AHessianIsNoNumberWhereItsProductsAreNone) {
  ModelBuilder b("root");
  const Var w = b.parameter("w", {2});
  const Var x = b.array("x", {2});
  const Eigen::MatrixXd weights = Eigen::Vector2d(1, 0);
  const Model model = b.finish(sum(hadamard(b.constant(weights), sqrt(hadamard(w, x)))));
  const SampleTable samples = SampleTable::Constant(3, 2, 0.5);
  const Eigen::VectorXd theta = Eigen::Vector2d(1, 0);
  for (const bool use_structure : {true, false}) {
    const GraphObjective objective(model, samples, {.use_structure = use_structure});
    EXPECT_FALSE(objective.hessian(theta).allFinite()) << use_structure;
    const Eigen::VectorXd product =
        objective.hessian_times(theta, Eigen::Vector2d(1, 1), objective.all_samples());
    EXPECT_FALSE(product.allFinite()) << use_structure;
  }
}

// The generic engine takes n / 8 sweeps: only what has lost digits may go there.
TEST(HessianError, StructureIsKeptWhereNothingCancels) {
  const SampleTable x = test::Numbers(1).table(kDifferenceSamples, 1);
  const Eigen::VectorXd theta = test::Numbers(2).vector(3 * kDifferenceUnits);
  const Model model = model_of_differences(1.0);
  const GraphObjective by_structure(model, x);
  const GraphObjective generic(model, x, {.use_structure = false});
  ASSERT_TRUE(by_structure.hessian_plan());
  const Eigen::MatrixXd h = by_structure.hessian(theta, by_structure.all_samples(), {});
  const Eigen::MatrixXd g = generic.hessian(theta, generic.all_samples(), {});
  EXPECT_LT(relative_distance(h, g), 1e-13);
  EXPECT_NE(h, g);
}

}  // namespace
}  // namespace hesscope
