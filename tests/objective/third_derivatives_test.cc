// SPDX-License-Identifier: BSD-3-Clause
//
// T[u, v] of objectives: closed forms, differences of H v, and what is refused.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>

#include "support/cost_ratio.h"
#include "support/numbers.h"
#include "support/quadratic_objective.h"
#include "support/refusal.h"
#include "support/sweep_derivatives.h"

namespace hesscope {
namespace {

using test::expect_refusal;

constexpr Eigen::Index kSize = 5;

// The loss that `record(graph, theta)` records of kSize parameters, the same for all samples.
template <typename Record>
GraphObjective objective_of(Record record) {
  auto graph = std::make_shared<Graph>();
  graph->set_output(record(*graph, graph->parameter(0, kSize, 1)));
  Model model;
  model.kind = "formula";
  model.parameters = {{"theta", {kSize}, 0, kSize}};
  model.graph = graph;
  return {std::move(model), SampleTable(3, 0)};
}

Eigen::MatrixXd numbers(std::uint64_t seed, Eigen::Index cols) {
  return test::Numbers(seed).table(kSize, cols);
}

// sum_r a_r (b_r' theta)^3: T[u, v] = 6 sum_r a_r (b_r'u) (b_r'v) b_r, whatever theta is.
TEST(ThirdDerivatives, OfACubicFormAreTheForm) {
  const Eigen::MatrixXd b = numbers(1, 4);
  const Eigen::VectorXd a = test::Numbers(2).vector(4);
  const GraphObjective objective = objective_of([&](Graph& g, Var theta) {
    const Var inner = matmul_tn(g.constant(b), theta);
    return matmul_tn(g.constant(a), power(inner, 3));
  });
  const Eigen::MatrixXd U = numbers(3, 6);
  const Eigen::MatrixXd V = numbers(4, 6);
  const Eigen::MatrixXd expected =
      6 * b * a.asDiagonal() * (b.transpose() * U).cwiseProduct(b.transpose() * V);
  for (const double scale : {0.0, 1.0, -2.0}) {
    const Eigen::VectorXd theta = scale * numbers(5, 1);
    test::expect_near_columns(
        objective.third_derivative_times(theta, U, V), expected, 1e-14, "the form");
  }
}

// f = q e, q = 1/2 x'A x, e = exp(b'x): the product rule three times,
//   T[u, v] = e ((u'A v) b + (b'v) A u + (b'u) A v + (x'A u)(b'v) b + (x'A v)(b'u) b
//                + (b'u)(b'v) A x + q (b'u)(b'v) b).
TEST(ThirdDerivatives, OfAQuadraticTimesAnExponentialAreTheClosedForm) {
  const Eigen::MatrixXd root = numbers(6, kSize);
  const Eigen::MatrixXd A = root + root.transpose();
  const Eigen::VectorXd b = numbers(7, 1);
  const GraphObjective objective = objective_of([&](Graph& g, Var x) {
    const Var q = 0.5 * matmul_tn(x, matmul(g.constant(A), x));
    return hadamard(q, exp(matmul_tn(g.constant(b), x)));
  });
  const Eigen::VectorXd x = numbers(8, 1);
  const Eigen::MatrixXd U = numbers(9, 3);
  const Eigen::MatrixXd V = numbers(10, 3);
  const double e = std::exp(b.dot(x));
  const double q = x.dot(A * x) / 2;
  Eigen::MatrixXd expected(kSize, 3);
  for (Eigen::Index k = 0; k < 3; ++k) {
    const Eigen::VectorXd u = U.col(k);
    const Eigen::VectorXd v = V.col(k);
    const double bu = b.dot(u);
    const double bv = b.dot(v);
    expected.col(k) = e * (u.dot(A * v) * b + bv * (A * u) + bu * (A * v) + x.dot(A * u) * bv * b +
                           x.dot(A * v) * bu * b + bu * bv * (A * x) + q * bu * bv * b);
  }
  test::expect_near_columns(
      objective.third_derivative_times(x, U, V), expected, 1e-14, "the closed form");
}

// Central differences of H v, twice extrapolated: error h^6, and 1e-16 / h.
TEST(ThirdDerivatives, AreThoseThatHessianProductsShow) {
  const std::vector<Model> models = {linear_attention({.layers = 3, .dimension = 3, .context = 5}),
                                     mlp({.widths = {3, 6, 4},
                                          .activation = Activation::kGelu,
                                          .loss = MlpLoss::kMeanSquaredError})};
  for (const Model& model : models) {
    SCOPED_TRACE(model.kind);
    const Eigen::Index n = model.num_parameters();
    // Weight decay has a Hessian and no third derivative.
    Model decayed = model;
    decayed.weight_decay = 0.25;
    const SampleTable samples = test::Numbers(11).table(70, model.record_size());
    const GraphObjective objective(decayed, samples);
    const Eigen::VectorXd theta = 0.5 * test::Numbers(12).vector(n);
    const Eigen::MatrixXd U = test::Numbers(13).table(n, 2);
    const Eigen::MatrixXd V = test::Numbers(14).table(n, 2);
    const SampleRange range{3, 68};
    const auto difference = [&](double h) {
      Eigen::MatrixXd result(n, 2);
      for (Eigen::Index k = 0; k < 2; ++k) {
        result.col(k) = (objective.hessian_times(theta + h * U.col(k), V.col(k), range) -
                         objective.hessian_times(theta - h * U.col(k), V.col(k), range)) /
                        (2 * h);
      }
      return result;
    };
    const double h = 1.0 / 256;
    const Eigen::MatrixXd coarse = (4 * difference(h / 2) - difference(h)) / 3;
    const Eigen::MatrixXd fine = (4 * difference(h / 4) - difference(h / 2)) / 3;
    const Eigen::MatrixXd T = objective.third_derivative_times(theta, U, V, range);
    test::expect_near_columns(T, (16 * fine - coarse) / 15, 1e-10, "differences of H v");
  }
}

// Processor time, interleaved; the median of five, and the best of three attempts, since other
// programs compete for caches.
TEST(ThirdDerivatives, OfSixteenPairsCostAtMostFourTimesTheirHessianProducts) {
  const std::vector<Model> models = {
      linear_attention({.layers = 3, .dimension = 5, .context = 20}),
      mlp({.widths = {4, 32, 32, 3}, .loss = MlpLoss::kMeanSquaredError})};
  for (const Model& model : models) {
    SCOPED_TRACE(model.kind);
    const Eigen::Index n = model.num_parameters();
    const GraphObjective objective(
        model, test::Numbers(31).table(256, model.record_size()), {.num_threads = 1});
    const Eigen::VectorXd theta = 0.3 * test::Numbers(32).vector(n);
    const Eigen::MatrixXd U = test::Numbers(33).table(n, 16);
    const Eigen::MatrixXd V = test::Numbers(34).table(n, 16);
    const auto seconds_of = [](const auto& work) {
      const double start = processor_seconds();
      EXPECT_TRUE(work().allFinite());
      return processor_seconds() - start;
    };
    double best = kInfinity;
    for (int attempt = 0; attempt < test::kCostAttempts && !(best <= 4); ++attempt) {
      std::array<double, 5> ratios;
      for (double& ratio : ratios) {
        const double products = seconds_of([&] { return objective.hessian_times(theta, V); });
        ratio =
            seconds_of([&] { return objective.third_derivative_times(theta, U, V); }) / products;
      }
      std::ranges::nth_element(ratios, ratios.begin() + 2);
      best = std::min(best, ratios[2]);
    }
    EXPECT_LE(best, 4);
  }
}

TEST(ThirdDerivatives, AreZeroWhereTheLossIsQuadratic) {
  const Eigen::MatrixXd A = numbers(15, kSize);
  const GraphObjective objective =
      objective_of([&](Graph& g, Var x) { return sum(square(matmul(g.constant(A), x))); });
  EXPECT_EQ(objective.third_derivative_times(numbers(16, 1), numbers(17, 7), numbers(18, 7)),
            Eigen::MatrixXd::Zero(kSize, 7));
}

TEST(ThirdDerivatives, GiveNaNAsTheyAre) {
  const GraphObjective objective =
      objective_of([](Graph& /*g*/, Var x) { return sum(power(x, 3)); });
  Eigen::VectorXd theta = Eigen::VectorXd::Ones(kSize);
  theta(1) = kNaN;
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(kSize);
  const Eigen::VectorXd T = objective.third_derivative_times(theta, ones, ones);
  EXPECT_TRUE(std::isnan(T(1)));
  EXPECT_EQ(T(0), 6);
}

TEST(ThirdDerivatives, RefuseWhatDoesNotFit) {
  const GraphObjective objective =
      objective_of([](Graph& /*g*/, Var x) { return sum(power(x, 3)); });
  const Eigen::VectorXd theta = Eigen::VectorXd::Ones(kSize);
  EXPECT_TRUE(objective.has_third_derivatives());
  expect_refusal(
      [&] { objective.third_derivative_times(theta, numbers(1, 2), numbers(1, 3)); },
      "third_derivative_times: pairs of directions must be two matrices of 5 rows and equally "
      "many columns, got 5 x 2 and 5 x 3");
  expect_refusal(
      [&] { objective.third_derivative_times(theta.head(4), numbers(1, 2), numbers(1, 2)); },
      "third_derivative_times: theta must have 5 entries, got 4");
  expect_refusal(
      [&] {
        objective.third_derivative_times(theta, numbers(1, 2), numbers(1, 2), {2, 2});
      },
      "third_derivative_times: [2, 2) is not a non-empty range");
  EXPECT_EQ(objective.third_derivative_times(theta, numbers(1, 0), numbers(1, 0)).cols(), 0);
}

TEST(ThirdDerivatives, AreRefusedByAnObjectiveThatHasNone) {
  const test::QuadraticObjective objective({Eigen::MatrixXd::Identity(3, 3)});
  EXPECT_FALSE(objective.has_third_derivatives());
  const Eigen::VectorXd theta = Eigen::VectorXd::Zero(3);
  const Eigen::MatrixXd u = Eigen::MatrixXd::Identity(3, 1);
  expect_refusal(
      [&] {
        static_cast<void>(
            static_cast<const Objective&>(objective).third_derivative_times(theta, u, u));
      },
      "third_derivative_times: needs an objective that knows its third derivatives");
}

}  // namespace
}  // namespace hesscope
