// SPDX-License-Identifier: BSD-3-Clause
//
// The Hessian from a graph's structure: its plan, its sums over samples and its accuracy.
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/structured/internal/graph/graph_plan.h>

#include "graph_hessian_case.h"
#include "support/graph_oracle.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::by_structure;
using test::by_tape;
using test::kSiteTolerance;
using test::perceptron;
using test::squared_norm;

std::shared_ptr<const Graph> small_perceptron(const std::vector<Index>& widths) {
  auto graph = std::make_shared<Graph>();
  Index offset = 0;
  const Var z = perceptron(*graph, graph->input(0, widths.front(), 1), widths, offset);
  graph->set_output(log_sum_exp(z) - slice(z, 0, 0, 1, 1));
  return graph;
}

TEST(GraphHessian, TakesOneDirectionForEachEntryOfASite) {
  const auto hessian = graph_hessian(small_perceptron({2, 64, 64, 3}));
  ASSERT_NE(hessian, nullptr);
  EXPECT_EQ(hessian->plan().directions, 64 + 64 + 3);
  EXPECT_GT(hessian->plan().sweep_multiply_adds, 0);
  EXPECT_GT(hessian->plan().product_multiply_adds, 4160.0 * 4160 / 4);
}

// A bias for columns and, the same one, for rows: of six positions of a unit, at three entries, a
// stage may have some that do not follow each other.
TEST(GraphHessian, AddsToAnEntryInOneTaskAtATime) {
  const auto graph = std::make_shared<Graph>();
  const Var bias = graph->parameter(24, 1, 3);
  const Var z = matmul(graph->input(0, 3, 8), graph->parameter(0, 8, 3)) + bias +
                gather(bias, std::vector<std::int32_t>{0, 1, 2}, 3, 1);
  graph->set_output(sum(sin(matmul(sin(z), graph->constant(MatrixXd::Ones(3, 16))))));
  detail::EntryNumbers entries(*graph);
  detail::ParameterUses uses = detail::find_parameter_uses(*graph, entries);
  const detail::GraphPlan plan(graph, std::move(entries), std::move(uses), best_instruction_set());
  const auto num_blocks = static_cast<int>(plan.planner.blocks().size());
  ASSERT_GT(num_blocks, 1);
  bool has_runs = false;
  for (int begin = 0; begin < num_blocks; ++begin) {
    for (int end = begin + 1; end <= num_blocks; ++end) {
      std::map<std::tuple<long, int, int, int, detail::ProductPart>, int> first;
      std::map<std::tuple<int, int>, std::set<int>> runs;  // of each unit
      for (const detail::ProductTask& task : plan.products.tasks(begin, end)) {
        const std::tuple key{task.wave, task.row_use, task.column_use, task.unit, task.part};
        EXPECT_EQ(first.try_emplace(key, task.first).first->second, task.first);
        std::set<int>& own = runs[{task.column_use, task.unit}];
        own.insert(task.first);
        has_runs = has_runs || own.size() > 1;
      }
    }
  }
  EXPECT_TRUE(has_runs);
}

TEST(GraphHessian, SweepsSmallNeighboursTogether) {
  const auto graph = std::make_shared<Graph>();
  Var x = graph->input(0, 1, 1);
  for (Index i = 0; i < 20; ++i) x = sin(hadamard(graph->parameter(i, 1, 1), x));
  graph->set_output(x);
  detail::EntryNumbers entries(*graph);
  detail::ParameterUses uses = detail::find_parameter_uses(*graph, entries);
  const detail::GraphPlan plan(graph, std::move(entries), std::move(uses), best_instruction_set());
  EXPECT_EQ(plan.planner.blocks().size(), 3U);  // of eight directions
}

TEST(GraphHessian, TakesParametersWhereEntriesAreMore) {
  auto graph = std::make_shared<Graph>();  // one weight at twelve positions
  const Var x = graph->input(0, 12, 1);
  graph->set_output(squared_norm(tanh(matmul(x, graph->parameter(0, 1, 1)))));
  EXPECT_EQ(graph_hessian(graph)->plan().directions, 1);
}

// As a convolution in front of a larger layer: the rows of 12 entries are multiplied by six times
// 20 inputs, those of 40 parameters are not.
TEST(GraphHessian, TakesMoreParametersThanEntriesWherePositionsAreMany) {
  auto graph = std::make_shared<Graph>();
  const Var z = tanh(matmul(graph->input(0, 6, 20), graph->parameter(0, 20, 2)));
  const Var y = tanh(matmul(reshape(z, 1, 12), graph->parameter(40, 12, 30)));
  graph->set_output(squared_norm(y));
  EXPECT_EQ(graph_hessian(graph)->plan().directions, 40 + 30);
  test::expect_equals_the_plain_tape(graph);
}

TEST(GraphHessian, RefusesWhatDoesNotFit) {
  auto graph = std::make_shared<Graph>();
  const Var loss = sum(square(graph->parameter(0, 2, 1)));
  EXPECT_THROW(graph_hessian(graph), PreconditionError);  // there is no output
  EXPECT_THROW(graph_hessian(nullptr), PreconditionError);
  graph->set_output(loss);
  const auto hessian = graph_hessian(graph);
  const std::vector<double> theta = {1, 2, 3};
  const auto mean_of = [&](std::size_t size, Index count, Index n) {
    MatrixXd h(n, n);
    hessian->mean(std::span(theta).first(size), {theta.data(), count, 0}, Executor(1), {}, h);
    return h;
  };
  EXPECT_THROW(mean_of(2, 0, 2), PreconditionError);  // there is no record
  EXPECT_THROW(mean_of(3, 1, 2), PreconditionError);
  EXPECT_THROW(mean_of(2, 1, 3), PreconditionError);
  EXPECT_EQ(mean_of(2, 1, 2), 2 * MatrixXd::Identity(2, 2));
}

TEST(GraphHessian, IsTheSumOverAnyNumberOfSamples) {
  const auto graph = small_perceptron({2, 5, 3});
  const Index n = graph->num_parameters();
  const VectorXd theta = test::Numbers(5).vector(n);
  // Around a pack, and around the 512 of a chunk.
  for (const Index count : {1, 7, 8, 9, 63, 65, 511, 512, 513, 1025}) {
    SCOPED_TRACE(count);
    const VectorXd numbers = test::Numbers(6).vector(count * graph->record_size());
    const std::vector<double> samples(numbers.begin(), numbers.end());
    const MatrixXd expected = by_tape(*graph, theta, samples, count);
    const MatrixXd actual =
        by_structure(graph, theta, samples, count, best_instruction_set(), Executor(2));
    EXPECT_TRUE((actual - expected).norm() <= kSiteTolerance * expected.norm());
  }
}

// Tangents of few packs lie pack by pack, of many packs entry by entry.
TEST(GraphHessian, IsTheSumOverFewPacksAndManyOfTokensThatAreScaled) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Index width = 6;  // gains in a whole panel of rows and in a part of one
  const Var h = matmul(g.input(0, 3, width), g.parameter(0, width, width));
  const Var scaled = hadamard(tanh(h), g.parameter(width * width, 1, width));
  const Var mixed = matmul(softmax_rows(0.3 * matmul_nt(scaled, h)), scaled);
  const Var gained = hadamard(mixed, g.parameter(width * width + width, 1, width));
  const Var second = g.parameter(width * width + 2 * width, width, 5);
  g.set_output(sum(log_sum_exp_rows(matmul(gained, second))));
  const Index n = g.num_parameters();
  const VectorXd theta = test::Numbers(5).vector(n);
  for (const Index count : {9, 128, 129, 300}) {
    SCOPED_TRACE(count);
    const VectorXd numbers = test::Numbers(6).vector(count * g.record_size());
    const std::vector<double> samples(numbers.begin(), numbers.end());
    const MatrixXd expected = by_tape(g, theta, samples, count);
    for (const InstructionSet set : supported_instruction_sets()) {
      const MatrixXd actual = by_structure(graph, theta, samples, count, set, Executor(2));
      EXPECT_TRUE((actual - expected).norm() <= kSiteTolerance * expected.norm()) << name_of(set);
    }
  }
}

TEST(GraphHessian, IsTheSumOverPointsThatACacheDoesNotHold) {
  auto graph = std::make_shared<Graph>();  // 20,000 entries, 40 packs: 50 MB
  const Index length = 5'000;
  const Var x = graph->input(0, length, 1);
  const Var h = tanh(matmul(x, graph->parameter(1, 1, 1)));
  graph->set_output(squared_norm(tanh(matmul(h, graph->parameter(0, 1, 1)))));
  const Index count = 320;
  const VectorXd theta = test::Numbers(5).vector(2);
  const VectorXd numbers = test::Numbers(6).vector(count * length);
  const std::vector<double> samples(numbers.begin(), numbers.end());
  const MatrixXd expected = by_tape(*graph, theta, samples, count);
  const MatrixXd actual =
      by_structure(graph, theta, samples, count, best_instruction_set(), Executor(2));
  EXPECT_TRUE((actual - expected).norm() <= kSiteTolerance * expected.norm());
}

// One score far above the others, of which the sample says: all derivatives are of the size of
// exp(-40), and none of the digits of numbers near 1 are left in them.
TEST(GraphHessian, KeepsItsRelativeAccuracyWhereSoftmaxIsSure) {
  const auto graph = std::make_shared<Graph>();
  const Var w = graph->parameter(0, 4, 3);
  const Var scores = reshape(matmul(w, graph->input(0, 3, 1)), 1, 4);
  // Two softmaxes behind one another, of which the second is not sure.
  const Var attention = softmax_rows(scores);
  const Var next =
      softmax_rows(hadamard(attention, graph->constant(Eigen::RowVector4d(1, 2, 3, 4))));
  graph->set_output(sum(square(next)) +
                    sum(hadamard(graph->constant(Eigen::RowVector4d(-1, 2, 0.5, 3)), attention)));
  VectorXd theta = 0.3 * test::Numbers(6).vector(12);
  for (const Index place : {0, 4, 8}) theta[place] += 40;
  const Index count = 19;
  std::vector<double> samples(static_cast<std::size_t>(3 * count), 0.0);
  for (Index i = 0; i < count; ++i) {
    samples[static_cast<std::size_t>(3 * i + i % 3)] = 1 + 0.01 * static_cast<double>(i);
  }
  const MatrixXd exact =
      multiprecision_derivatives(
          *graph, test::span_of(theta), Records{samples.data(), count, graph->record_size()})
          .hessian;
  ASSERT_TRUE(exact.norm() > 0 && exact.norm() < 1e-12);
  for (const InstructionSet set : supported_instruction_sets()) {
    SCOPED_TRACE(name_of(set));
    const MatrixXd actual = by_structure(graph, theta, samples, count, set, Executor(2));
    EXPECT_TRUE((actual - exact).norm() <= kSiteTolerance * exact.norm())
        << (actual - exact).norm() / exact.norm();
  }
  const double error = (by_tape(*graph, theta, samples, count) - exact).norm();
  EXPECT_TRUE(error <= kSiteTolerance * exact.norm()) << error / exact.norm();
}

// -log sigmoid(theta x) = log(1 + exp(-theta x)): of theta x = -z the curvature is x^2 exp(-z) to
// rounding; that of -log(1 - sigmoid(theta x)) is the same, whatever shapes it passes through.
void expect_relative_accuracy(const std::function<Var(Graph&, Var)>& likelihood) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  g.set_output(-sum(log(likelihood(g, sigmoid(matmul(g.parameter(0, 1, 1), g.input(0, 1, 2)))))));
  for (const double x : {-40.0, -150.0, 300.0, -800.0}) {
    const VectorXd theta = VectorXd::Ones(1);
    const double expected = x * x * std::exp(-std::abs(x));
    const std::vector<double> twice = {x, x};
    EXPECT_NEAR(by_tape(*graph, theta, twice, 1)(0, 0), 2 * expected, 2e-12 * expected) << x;
    for (const InstructionSet set : supported_instruction_sets()) {
      EXPECT_NEAR(by_structure(graph, theta, twice, 1, set, Executor(1))(0, 0),
                  2 * expected,
                  2e-12 * expected)
          << x << " " << name_of(set);
    }
  }
}

TEST(GraphHessian, KeepsItsRelativeAccuracyWhereALogisticLossIsSure) {
  expect_relative_accuracy([](Graph&, Var sure) { return sure; });
  expect_relative_accuracy([](Graph&, Var sure) { return reshape(sure, 2, 1); });
  expect_relative_accuracy(
      [](Graph& g, Var sure) { return g.constant(MatrixXd::Ones(1, 1)) - sure; });
  expect_relative_accuracy(
      [](Graph& g, Var sure) { return g.constant(MatrixXd::Ones(2, 1)) - reshape(sure, 2, 1); });
}

TEST(GraphHessian, HasNoNumberWhereALossHasNone) {
  const auto graph = small_perceptron({2, 5, 3});
  const Index n = graph->num_parameters();
  std::vector<double> samples(40, 0.5);
  samples[17] = std::numeric_limits<double>::quiet_NaN();
  const VectorXd theta = test::Numbers(5).vector(n);
  EXPECT_FALSE(
      by_structure(graph, theta, samples, 20, best_instruction_set(), Executor(2)).allFinite());
}

TEST(GraphHessian, LooksUpRowsOfATableMadeOfParameters) {
  auto graph = std::make_shared<Graph>();
  const Var table = tanh(graph->parameter(0, 4, 2));
  graph->set_output(squared_norm(lookup(table, graph->input(0, 3, 1))));
  const VectorXd theta = test::Numbers(5).vector(8);
  const std::vector<double> samples = {0, 1, 3, 3, 2, 3, 1, 1, 1, 0, 2, 1, 0, 0, 3};
  const MatrixXd expected = by_tape(*graph, theta, samples, 5);
  const MatrixXd actual =
      by_structure(graph, theta, samples, 5, best_instruction_set(), Executor(2));
  EXPECT_TRUE((actual - expected).norm() <= kSiteTolerance * expected.norm());
}

TEST(GraphHessian, LeavesLookupsOfVeryManyRowsToTheTape) {
  struct Size {
    Index positions;
    Index rows;
  };

  for (const auto& [positions, rows] : {Size{600, 2000}, Size{150'000, 15'000}}) {
    auto graph = std::make_shared<Graph>();
    const Var table = graph->parameter(0, rows, 1);
    graph->set_output(squared_norm(lookup(table, graph->input(0, positions, 1))));
    EXPECT_EQ(graph_hessian(graph, best_instruction_set()), nullptr) << positions;
  }
}

}  // namespace
}  // namespace hesscope
