// SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives of objectives along lines: closed forms, the other derivatives, and what is refused.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>

#include "support/closed_form_objectives.h"
#include "support/cost_ratio.h"
#include "support/numbers.h"
#include "support/refusal.h"
#include "support/sweep_derivatives.h"

namespace hesscope {
namespace {

using test::expect_refusal;

// The loss that `record(graph, theta)` records of `size` parameters, the same for all samples.
template <typename Record>
GraphObjective objective_of(Eigen::Index size, Record record) {
  auto graph = std::make_shared<Graph>();
  graph->set_output(record(*graph, graph->parameter(0, size, 1)));
  Model model;
  model.kind = "formula";
  model.parameters = {{"theta", {size}, 0, size}};
  model.graph = graph;
  return {std::move(model), SampleTable(3, 0)};
}

// p! times the coefficients of a polynomial in t.
Eigen::VectorXd derivatives_of(const std::vector<double>& coefficients) {
  Eigen::VectorXd result = Eigen::VectorXd::Zero(5);
  double factorial = 1;
  for (std::size_t p = 0; p < 5; ++p) {
    if (p > 0) factorial *= static_cast<double>(p);
    if (p < coefficients.size()) {
      result(static_cast<Eigen::Index>(p)) = factorial * coefficients[p];
    }
  }
  return result;
}

std::vector<double> product_of(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> c(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) c[i + j] += a[i] * b[j];
  }
  return c;
}

// sum_r a_r (b_r'theta)^4 + a_r (b_r'theta)^3 of whole numbers, without a rounding.
TEST(LineDerivatives, OfAQuarticOfWholeNumbersAreExact) {
  Eigen::MatrixXd b(3, 2);
  b << 1, -2, 3, 1, -1, 2;
  const Eigen::Vector2d a(2, -3);
  const GraphObjective objective = objective_of(3, [&](Graph& g, Var theta) {
    const Var inner = matmul_tn(g.constant(b), theta);
    return matmul_tn(g.constant(a), power(inner, 4) + power(inner, 3));
  });
  const Eigen::Vector3d theta(3, -2, 5);
  Eigen::MatrixXd V(3, 6);
  V << 1, 0, 0, 2, -1, 4, 0, 1, 0, 3, 2, -4, 0, 0, 1, -5, 1, 0;
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(5, 6);
  for (Eigen::Index k = 0; k < 6; ++k) {
    for (Eigen::Index r = 0; r < 2; ++r) {
      const std::vector<double> line = {b.col(r).dot(theta), b.col(r).dot(V.col(k))};
      const std::vector<double> cube = product_of(line, product_of(line, line));
      expected.col(k) += a(r) * (derivatives_of(product_of(cube, line)) + derivatives_of(cube));
    }
  }
  EXPECT_EQ(objective.line_derivatives(theta, V), expected);
}

// (a b - y)^2 / 2: with a b - y = r + s t + q t^2 on the line, the fourth derivative is 12 q^2.
TEST(LineDerivatives, OfAProductOfTwoAreTheClosedForm) {
  const GraphObjective objective = test::product_of_two({1.5});
  const Eigen::Vector2d theta(0.75, -2.5);
  const Eigen::MatrixXd V = test::Numbers(1).table(2, 9);
  Eigen::MatrixXd expected(5, 9);
  for (Eigen::Index k = 0; k < 9; ++k) {
    const double r = theta(0) * theta(1) - 1.5;
    const double s = theta(0) * V(1, k) + theta(1) * V(0, k);
    const double q = V(0, k) * V(1, k);
    expected.col(k) << r * r / 2, r * s, s * s + 2 * r * q, 6 * s * q, 12 * q * q;
  }
  test::expect_near_rows(objective.line_derivatives(theta, V), expected, 1e-14, "the closed form");
}

// (w_1 w_2 ... w_L - 1)^2 / 2.
TEST(LineDerivatives, OfADeepLinearChainAreThoseOfItsPolynomial) {
  for (const Eigen::Index depth : {2, 5, 9}) {
    const GraphObjective objective = objective_of(depth, [&](Graph& g, Var theta) {
      Var chain = slice(theta, 0, 0, 1, 1);
      for (Eigen::Index i = 1; i < depth; ++i) chain = hadamard(chain, slice(theta, i, 0, 1, 1));
      return 0.5 * square(chain - g.constant(Eigen::MatrixXd::Ones(1, 1)));
    });
    const Eigen::VectorXd theta = test::Numbers(2).vector(depth);
    const Eigen::MatrixXd V = test::Numbers(3).table(depth, 5);
    Eigen::MatrixXd expected(5, 5);
    for (Eigen::Index k = 0; k < 5; ++k) {
      std::vector<double> chain = {1};
      for (Eigen::Index i = 0; i < depth; ++i) chain = product_of(chain, {theta(i), V(i, k)});
      chain[0] -= 1;
      expected.col(k) = derivatives_of(product_of(chain, chain)) / 2;
    }
    test::expect_near_rows(objective.line_derivatives(theta, V), expected, 1e-13, "the polynomial");
  }
}

TEST(LineDerivatives, OfLowerOrderAreThoseOfTheObjective) {
  for (Model model : {linear_attention({.layers = 3, .dimension = 3, .context = 5}),
                      mlp({.widths = {3, 6, 4},
                      .activation = Activation::kGelu,
                      .loss = MlpLoss::kMeanSquaredError})}) {
    SCOPED_TRACE(model.kind);
    model.weight_decay = 0.25;
    const Eigen::Index n = model.num_parameters();
    const GraphObjective objective(model, test::Numbers(11).table(70, model.record_size()));
    const Eigen::VectorXd theta = 0.5 * test::Numbers(12).vector(n);
    const Eigen::MatrixXd V = test::Numbers(13).table(n, 6);
    const SampleRange range{3, 68};
    const Eigen::RowVectorXd first = objective.gradient(theta, range).transpose() * V;
    const Eigen::MatrixXd H = objective.hessian_times(theta, V, range);
    const Eigen::MatrixXd T = objective.third_derivative_times(theta, V, V, range);
    Eigen::MatrixXd expected(4, 6);
    expected << Eigen::RowVectorXd::Constant(6, objective.value(theta, range)), first,
        V.cwiseProduct(H).colwise().sum(), V.cwiseProduct(T).colwise().sum();
    const Eigen::MatrixXd lines = objective.line_derivatives(theta, V, range);
    ASSERT_EQ(lines.rows(), Objective::kLineOrder + 1);
    test::expect_near_rows(lines.topRows(4), expected, 1e-12, "the objective");
    // The fourth: differences of v . T[v, v], extrapolated.
    const auto difference = [&](double h) {
      Eigen::RowVectorXd result(6);
      for (Eigen::Index k = 0; k < 6; ++k) {
        const Eigen::VectorXd step = h * V.col(k);
        const auto third = [&](const Eigen::VectorXd& at) {
          const Eigen::VectorXd v = V.col(k);
          return v.dot(objective.third_derivative_times(at, v, v, range).col(0));
        };
        result(k) = (third(theta + step) - third(theta - step)) / (2 * h);
      }
      return result;
    };
    const double h = 1.0 / 256;
    const Eigen::RowVectorXd coarse = (4 * difference(h / 2) - difference(h)) / 3;
    const Eigen::RowVectorXd fine = (4 * difference(h / 4) - difference(h / 2)) / 3;
    test::expect_near_rows(
        lines.bottomRows(1), (16 * fine - coarse) / 15, 1e-9, "differences of v . T[v, v]");
  }
}

// Processor time, interleaved; the median of five, and the best of three attempts, since other
// programs compete for caches.
TEST(LineDerivatives, OfSixteenLinesCostLessThanTheirThirdDerivatives) {
  const std::vector<Model> models = {
      linear_attention({.layers = 3, .dimension = 5, .context = 20}),
      mlp({.widths = {4, 32, 32, 3}, .loss = MlpLoss::kMeanSquaredError})};
  for (const Model& model : models) {
    SCOPED_TRACE(model.kind);
    const Eigen::Index n = model.num_parameters();
    const GraphObjective objective(
        model, test::Numbers(31).table(256, model.record_size()), {.num_threads = 1});
    const Eigen::VectorXd theta = 0.3 * test::Numbers(32).vector(n);
    const Eigen::MatrixXd V = test::Numbers(33).table(n, 16);
    const auto seconds_of = [](const auto& work) {
      const double start = processor_seconds();
      EXPECT_TRUE(work().allFinite());
      return processor_seconds() - start;
    };
    // Over the products with the Hessian, and over third derivatives.
    std::array<double, 2> best = {kInfinity, kInfinity};
    const auto is_enough = [&] { return best[0] <= 3 && best[1] <= 1; };
    for (int attempt = 0; attempt < test::kCostAttempts && !is_enough(); ++attempt) {
      std::array<std::array<double, 5>, 2> ratios;
      for (std::size_t i = 0; i < 5; ++i) {
        const double products = seconds_of([&] { return objective.hessian_times(theta, V); });
        const double lines = seconds_of([&] { return objective.line_derivatives(theta, V); });
        const double third =
            seconds_of([&] { return objective.third_derivative_times(theta, V, V); });
        ratios[0][i] = lines / products;
        ratios[1][i] = lines / third;
      }
      for (std::size_t over = 0; over < 2; ++over) {
        std::ranges::nth_element(ratios[over], ratios[over].begin() + 2);
        best[over] = std::min(best[over], ratios[over][2]);
      }
    }
    RecordProperty(model.kind + "_over_products", std::to_string(best[0]));
    RecordProperty(model.kind + "_over_third_derivatives", std::to_string(best[1]));
    EXPECT_LE(best[0], 3);
    EXPECT_LE(best[1], 1);
  }
}

// ReLU is linear on the side that a number is on, and 0 at 0.
TEST(LineDerivatives, AtAKinkAreThoseOfItsConvention) {
  const GraphObjective objective = objective_of(
      1, [](Graph& /*g*/, Var x) { return power(relu(x), 2) + relu(x) + power(x, 4); });
  const Eigen::MatrixXd one = Eigen::MatrixXd::Ones(1, 1);
  const auto at = [&](double x) {
    return Eigen::VectorXd(objective.line_derivatives(Eigen::VectorXd::Constant(1, x), one));
  };
  Eigen::VectorXd expected(5);
  expected << 0, 0, 0, 0, 24;
  EXPECT_EQ(at(0), expected);
  expected << 1 + 1 + 1, 2 + 1 + 4, 2 + 12, 24, 24;
  EXPECT_EQ(at(1), expected);
  expected << 1, -4, 12, -24, 24;
  EXPECT_EQ(at(-1), expected);
}

TEST(LineDerivatives, GiveNaNAsTheyAre) {
  const GraphObjective objective =
      objective_of(2, [](Graph& /*g*/, Var x) { return sum(power(x, 4)); });
  const Eigen::MatrixXd found =
      objective.line_derivatives(Eigen::Vector2d(kNaN, 1), Eigen::MatrixXd::Identity(2, 2));
  EXPECT_TRUE(found.row(0).array().isNaN().all());
  EXPECT_TRUE(std::isnan(found(4, 0)));
}

TEST(LineDerivatives, RefuseWhatDoesNotFit) {
  const GraphObjective objective =
      objective_of(5, [](Graph& /*g*/, Var x) { return sum(power(x, 3)); });
  const Eigen::VectorXd theta = Eigen::VectorXd::Ones(5);
  const Eigen::MatrixXd V = Eigen::MatrixXd::Identity(5, 5);
  expect_refusal([&] { objective.line_derivatives(theta, V.topRows(4)); },
                 "line_derivatives: directions must have 5 rows, got 4");
  expect_refusal([&] { objective.line_derivatives(theta.head(4), V); },
                 "line_derivatives: theta must have 5 entries, got 4");
  expect_refusal(
      [&] {
        objective.line_derivatives(theta, V, {2, 2});
      },
      "line_derivatives: [2, 2) is not a non-empty range");
  const Eigen::MatrixXd none = objective.line_derivatives(theta, V.leftCols(0));
  EXPECT_EQ(none.rows(), 5);
  EXPECT_EQ(none.cols(), 0);
}

TEST(LineDerivatives, AreRefusedByAnObjectiveThatHasNone) {
  const test::QuadraticObjective objective({Eigen::MatrixXd::Identity(3, 3)});
  expect_refusal(
      [&] {
        static_cast<void>(static_cast<const Objective&>(objective).line_derivatives(
            Eigen::VectorXd::Zero(3), Eigen::MatrixXd::Identity(3, 1)));
      },
      "line_derivatives: needs an objective that knows its third derivatives");
}

}  // namespace
}  // namespace hesscope
