// SPDX-License-Identifier: BSD-3-Clause
//
// Weights that a graph computes from parameters, against the plain tape.
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/structured/internal/graph/composed_hessian.h>

#include "graph_hessian_case.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::squared_norm;

MatrixXd numbers(Index rows, Index cols) {
  MatrixXd values(rows, cols);
  for (Index i = 0; i < values.size(); ++i) {
    values(i) = 0.4 - 0.15 * static_cast<double>((5 * i) % 7);
  }
  return values;
}

// A layer of 6 inputs and 9 units, whose weights are a function of parameters from 0 on, and one of
// 9 and 2, whose weights are parameters behind those.
struct Weights {
  std::string name;
  Index num_parameters;
  std::function<Var(Graph&)> function;
};

void PrintTo(const Weights& weights, std::ostream* out) { *out << weights.name; }

std::shared_ptr<const Graph> graph_of(const Weights& weights) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Index next = weights.num_parameters;
  const Var hidden = tanh(matmul(weights.function(g), g.input(0, 6, 1)) + g.parameter(next, 9, 1));
  const Var output = matmul(g.parameter(next + 9, 2, 9), hidden);
  g.set_output(log_sum_exp(output) + squared_norm(output));
  return graph;
}

std::shared_ptr<const GraphHessian> composed(const Graph& graph, InstructionSet set) {
  auto weights = detail::find_computed_weights(graph);
  if (!weights) return nullptr;
  const auto outer = graph_hessian(weights->outer, set);
  const auto inner = graph_hessian(weights->inner, set);
  return detail::composed_hessian(std::move(*weights), outer, inner, nullptr, set);
}

void expect_composed_equals_the_plain_tape(const std::shared_ptr<const Graph>& graph) {
  const Index n = graph->num_parameters();
  const Index count = 21;
  const VectorXd theta = 0.7 * test::Numbers(3).vector(n);
  const VectorXd values = test::Numbers(4).vector(count * graph->record_size());
  const std::vector<double> samples(values.begin(), values.end());
  const MatrixXd expected = test::by_tape(*graph, theta, samples, count);
  for (const InstructionSet set : supported_instruction_sets()) {
    SCOPED_TRACE(name_of(set));
    const auto hessian = composed(*graph, set);
    ASSERT_NE(hessian, nullptr);
    const auto mean = [&](int num_threads) {
      MatrixXd h(n, n);
      EXPECT_TRUE(hessian->mean({theta.data(), static_cast<std::size_t>(n)},
                                {samples.data(), count, graph->record_size()},
                                Executor(num_threads),
                                {},
                                h));
      return h;
    };
    const MatrixXd h = mean(2);
    EXPECT_EQ(h, mean(1));
    EXPECT_EQ(h, h.transpose().eval());
    EXPECT_LE((h - expected).norm(), test::kSiteTolerance * expected.norm());
  }
}

class ComposedHessian : public testing::TestWithParam<Weights> {};

TEST_P(ComposedHessian, EqualsThePlainTape) {
  const auto graph = graph_of(GetParam());
  expect_composed_equals_the_plain_tape(graph);
  test::expect_equals_the_plain_tape(graph);
}

INSTANTIATE_TEST_SUITE_P(
    Weights,
    ComposedHessian,
    testing::Values(
        // v / |v| times a gain, row by row (Salimans, Kingma 2016).
        Weights{"Normalized",
                63,
                [](Graph& g) {
                  const Var v = g.parameter(0, 9, 6);
                  return hadamard(v / sqrt(sum_rows(square(v))), g.parameter(54, 9, 1));
                }},
        Weights{"Positive", 54, [](Graph& g) { return softplus(g.parameter(0, 9, 6)); }},
        Weights{"MergedLowRank",
                30,
                [](Graph& g) {
                  return g.constant(numbers(9, 6)) +
                         matmul(g.parameter(0, 9, 2), g.parameter(18, 2, 6));
                }},
        Weights{"OfAnotherNetwork",
                10,
                [](Graph& g) {
                  const Var hidden = tanh(matmul(g.constant(numbers(54, 2)), g.parameter(0, 2, 4)));
                  return reshape(
                      matmul(hidden, g.parameter(8, 1, 1) + g.constant(numbers(4, 1))), 9, 6);
                }},
        // Parameters that samples meet, too.
        Weights{"BesideThemselves",
                54,
                [](Graph& g) {
                  const Var v = g.parameter(0, 9, 6);
                  const Var other = tanh(matmul(v, g.input(6, 6, 1)));
                  return hadamard(sigmoid(v), other) + hadamard(v, v);
                }}),
    [](const auto& instance) { return instance.param.name; });

// A function of parameters alone that is a penalty, not a weight that samples meet.
TEST(ComposedHessians, TakePenaltiesOfParameters) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Var w = g.parameter(0, 9, 6);
  const Var hidden = tanh(matmul(w, g.input(0, 6, 1)));
  g.set_output(squared_norm(hidden) + sum(sqrt(square(w) + g.constant(MatrixXd::Ones(1, 1)))));
  expect_composed_equals_the_plain_tape(graph);
  test::expect_equals_the_plain_tape(graph);
}

TEST(ComposedHessians, AreOfComputedWeightsAlone) {
  const auto plain = graph_of({"", 54, [](Graph& g) { return 0.5 * g.parameter(0, 9, 6); }});
  EXPECT_FALSE(detail::find_computed_weights(*plain).has_value());
}

TEST(ComposedHessians, PlanWhatPlainWeightsCost) {
  const auto hessian =
      graph_hessian(graph_of({"", 54, [](Graph& g) { return softplus(g.parameter(0, 9, 6)); }}));
  const auto plain =
      graph_hessian(graph_of({"", 54, [](Graph& g) { return g.parameter(0, 9, 6); }}));
  EXPECT_EQ(hessian->plan().directions, plain->plan().directions);
  EXPECT_EQ(hessian->plan().multiply_adds(), plain->plan().multiply_adds());
}

TEST(ComposedHessians, SayWhereTheyAreNotFinite) {
  const auto graph = graph_of({"", 54, [](Graph& g) { return sqrt(g.parameter(0, 9, 6)); }});
  const auto hessian = composed(*graph, best_instruction_set());
  const Index n = graph->num_parameters();
  const VectorXd theta = VectorXd::Constant(n, -1);
  const std::vector<double> sample(static_cast<std::size_t>(graph->record_size()), 0.5);
  MatrixXd h(n, n);
  EXPECT_FALSE(hessian->mean({theta.data(), static_cast<std::size_t>(n)},
                             {sample.data(), 1, graph->record_size()},
                             Executor(1),
                             {},
                             h));
  EXPECT_TRUE(h.array().isNaN().all());
}

}  // namespace
}  // namespace hesscope
