// SPDX-License-Identifier: BSD-3-Clause
//
// The Hessian from a graph's structure against the plain tape.
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
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
using test::squared_norm;

struct GraphCase {
  std::string name;
  std::function<void(Graph&)> record;
};

void PrintTo(const GraphCase& graph_case, std::ostream* out) { *out << graph_case.name; }

class GraphHessianOf : public testing::TestWithParam<GraphCase> {};

TEST_P(GraphHessianOf, EqualsThePlainTape) {
  const auto graph = std::make_shared<Graph>();
  GetParam().record(*graph);
  test::expect_equals_the_plain_tape(graph);
}

// A perceptron of these widths from offset 0 on, tanh between.
Var perceptron(Graph& g, Var x, const std::vector<Index>& widths, Index& offset) {
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    const Var w = g.parameter(offset, widths[l + 1], widths[l]);
    offset += widths[l] * widths[l + 1];
    const Var b = g.parameter(offset, widths[l + 1], 1);
    offset += widths[l + 1];
    x = matmul(w, x) + b;
    if (l + 2 < widths.size()) x = tanh(x);
  }
  return x;
}

std::vector<std::int32_t> patches(Index length, Index width, Index channels) {
  std::vector<std::int32_t> indices;  // of (length x channels): rows of width x channels
  for (Index first = 0; first + width <= length; ++first) {
    for (Index k = 0; k < width * channels; ++k) {
      indices.push_back(static_cast<std::int32_t>(first * channels + k));
    }
  }
  return indices;
}

INSTANTIATE_TEST_SUITE_P(
    Graphs,
    GraphHessianOf,
    testing::Values(
        GraphCase{"Quadratic",
                  [](Graph& g) {
                    const Var w = g.parameter(0, 3, 1);
                    g.set_output(squared_norm(w - g.input(0, 3, 1)));
                  }},
        GraphCase{"Perceptron",
                  [](Graph& g) {
                    Index offset = 0;
                    const Var z = perceptron(g, g.input(0, 2, 1), {2, 9, 13, 3}, offset);
                    g.set_output(log_sum_exp(z) - slice(z, 1, 0, 1, 1));
                  }},
        // Two inputs beside many: of those behind the last weights, which come first, and beside
        // activations that each depend on all entries.
        GraphCase{"FewInputsOfTheFirstLayer",
                  [](Graph& g) {
                    const Var w = g.parameter(3 * 19 + 30 * 19, 2, 30);
                    const Var h = softmax_rows(matmul(g.input(0, 1, 2), w));
                    const Var y = tanh(matmul(h, g.parameter(3 * 19, 30, 19)));
                    g.set_output(log_sum_exp(matmul_nt(y, g.parameter(0, 3, 19))));
                  }},
        GraphCase{"FewInputsBetweenParameters",
                  [](Graph& g) {
                    const Var first = g.parameter(0, 13, 9);
                    const Var h = tanh(matmul(g.parameter(13 * 9, 9, 2), g.input(0, 2, 1)));
                    const Var y = matmul(first, h) + g.parameter(13 * 9 + 18, 13, 1);
                    g.set_output(log_sum_exp(y) - slice(y, 1, 0, 1, 1));
                  }},
        GraphCase{"TakenMoreThanOnce",  // each adds to the same adjoint, in part or as a whole
                  [](Graph& g) {
                    const Var x = g.input(0, 5, 2);
                    const Var z = matmul(x, g.parameter(0, 2, 3));
                    const Var y = tanh(z);
                    const Var gram = matmul_nt(y, y);                      // 5 x 5
                    const Var small = matmul_tn(y, slice(z, 0, 0, 5, 2));  // 3 x 2
                    const Var flat = reshape(y, 3, 5);
                    g.set_output(squared_norm(softmax_rows(gram)) + squared_norm(small) +
                                 sum(hadamard(flat, reshape(z, 3, 5))) +
                                 squared_norm(matmul(flat, gram)) +
                                 squared_norm(slice(y, 1, 0, 2, 3) + slice(z, 0, 0, 2, 3)));
                  }},
        GraphCase{"GatesOfALongShortTermMemory",  // parts of a row, one of which is split again
                  [](Graph& g) {
                    const Index h = 3;
                    const Var of_input = g.parameter(0, 2, 4 * h);
                    const Var of_state = g.parameter(8 * h, h, 4 * h);
                    const Var bias = g.parameter(8 * h + 4 * h * h, 1, 4 * h);
                    Var state = g.constant(MatrixXd::Zero(1, h));
                    Var cell = state;
                    for (Index step = 0; step < 3; ++step) {
                      const Var x = g.input(2 * step, 1, 2);
                      const Var gates = matmul(x, of_input) + matmul(state, of_state) + bias;
                      const Var first = slice(gates, 0, 0, 1, 2 * h);
                      const Var in = sigmoid(slice(first, 0, 0, 1, h));
                      const Var forget = sigmoid(slice(first, 0, h, 1, h));
                      const Var next = tanh(slice(gates, 0, 2 * h, 1, h));
                      const Var out = sigmoid(reshape(slice(gates, 0, 3 * h, 1, h), h, 1));
                      cell = hadamard(forget, cell) + hadamard(in, next);
                      state = hadamard(reshape(out, 1, h), tanh(cell));
                    }
                    g.set_output(squared_norm(state - g.input(6, 1, h)));
                  }},
        GraphCase{
            "RowsThatAreSplitInPart",  // with a gap, with an overlap, and beside another taker
            [](Graph& g) {
              const Var x = g.input(0, 1, 3);
              const Var a = matmul(x, g.parameter(0, 3, 5));
              const Var b = matmul(x, g.parameter(15, 3, 5));
              const Var c = matmul(x, g.parameter(30, 3, 5));
              const Var d = tanh(matmul(x, g.parameter(45, 3, 4)));
              const Var e = matmul(slice(d, 0, 0, 1, 2), g.parameter(57, 2, 2));  // takes an x
              g.set_output(
                  squared_norm(tanh(slice(a, 0, 0, 1, 2))) + sum(exp(slice(a, 0, 3, 1, 2))) +
                  squared_norm(tanh(slice(b, 0, 0, 1, 3))) + sum(exp(slice(b, 0, 2, 1, 3))) +
                  squared_norm(tanh(slice(c, 0, 0, 1, 2))) + sum(exp(slice(c, 0, 2, 1, 3))) +
                  log_sum_exp(c) + squared_norm(sin(e)) + sum(exp(slice(d, 0, 2, 1, 2))));
            }},
        GraphCase{"TokensInRows",
                  [](Graph& g) {
                    const Var x = g.input(0, 5, 4);
                    const Var h = tanh(matmul_nt(x, g.parameter(0, 7, 4)) + g.parameter(28, 1, 7));
                    const Var y = matmul(h, g.parameter(35, 7, 3));
                    g.set_output(sum(log_sum_exp_rows(y)));
                  }},
        GraphCase{"AttentionWithHeads",
                  [](Graph& g) {
                    const Var x = g.input(0, 6, 4);
                    const auto heads = [&](Index offset) {  // 2 x (6 x 3), one below the other
                      const Var w = g.parameter(offset, 8, 3);
                      return stacked_matmul(x, w, {.stack = 2, .is_shared_a = true});
                    };
                    const Var q = heads(0);
                    const Var k = heads(24);
                    const Var v = heads(48);
                    const Var scores = stacked_matmul(q, k, {.stack = 2, .transpose_b = true});
                    const Var mixed = stacked_matmul(softmax_rows(0.5 * scores), v, {.stack = 2});
                    const Var y = matmul(mixed, g.parameter(72, 3, 2));
                    g.set_output(squared_norm(y - g.input(24, 12, 2)));
                  }},
        GraphCase{"SharedWeights",
                  [](Graph& g) {
                    const Var u = g.parameter(0, 4, 4);
                    const Var w = g.parameter(16, 4, 2);
                    const Var b = g.parameter(24, 4, 1);
                    Var h = g.constant(Eigen::MatrixXd::Constant(4, 1, 0.1));
                    for (Index step = 0; step < 5; ++step) {
                      h = tanh(matmul(u, h) + matmul(w, g.input(2 * step, 2, 1)) + b);
                    }
                    g.set_output(squared_norm(matmul(g.parameter(28, 2, 4), h)));
                  }},
        GraphCase{"TiedEmbedding",
                  [](Graph& g) {
                    const Var table = g.parameter(0, 5, 3);
                    const Var rows =
                        elementary(Elementary::kFloor,
                                   2.0 * (g.constant(MatrixXd::Ones(4, 1)) +
                                          elementary(Elementary::kClip, g.input(0, 4, 1), -1, 1)));
                    const Var h = lookup(table, rows) + g.parameter(15, 4, 3);
                    const Var mixed = tanh(matmul(h, g.parameter(27, 3, 3)));
                    g.set_output(sum(log_sum_exp_rows(matmul_nt(mixed, table))));
                  }},
        GraphCase{"Convolution",
                  [](Graph& g) {
                    const Var x = g.input(0, 12, 2);
                    const auto first = patches(12, 3, 2);
                    const Var h = tanh(matmul_nt(gather(x, first, 10, 6), g.parameter(0, 3, 6)) +
                                       g.parameter(18, 1, 3));
                    const auto second = patches(10, 4, 3);
                    const Var y = tanh(matmul_nt(gather(h, second, 7, 12), g.parameter(21, 5, 12)));
                    g.set_output(log_sum_exp(matmul(g.parameter(81, 3, 35), reshape(y, 35, 1))));
                  }},
        // Weights at many positions, so that directions are parameters, those of later layers
        // first.
        GraphCase{"LastParametersFirst",
                  [](Graph& g) {
                    const auto layer = [&](Var h, Index length, Index offset) {
                      const Var w = g.parameter(offset, 3, 9);
                      return tanh(matmul_nt(gather(h, patches(length, 3, 3), length - 2, 9), w));
                    };
                    const Var h = layer(layer(layer(g.input(0, 24, 3), 24, 54), 22, 27), 20, 0);
                    g.set_output(sum(log_sum_exp_rows(h)) + squared_norm(h));
                  }},
        // Of two such weights each feeds the other.
        GraphCase{"TakingTurns",
                  [](Graph& g) {
                    const Var u = g.parameter(4, 2, 2);
                    const Var w = g.parameter(0, 2, 2);
                    Var h = g.input(0, 16, 2);
                    for (Index turn = 0; turn < 3; ++turn) {
                      h = tanh(matmul(h, u));
                      h = tanh(matmul(h, w));
                    }
                    g.set_output(squared_norm(h));
                  }},
        GraphCase{"NormalisedLayer",
                  [](Graph& g) {
                    const Var x = g.input(0, 4, 6);
                    const Var h = matmul(x, g.parameter(0, 6, 6));
                    const Var mean = (1.0 / 6) * sum_rows(h);
                    const Var centred = h - mean;
                    const Var scale = sqrt((1.0 / 6) * sum_rows(square(centred)) +
                                           g.constant(MatrixXd::Constant(4, 1, 0.1)));
                    const Var y =
                        hadamard(centred / scale, g.parameter(36, 1, 6)) + g.parameter(42, 1, 6);
                    g.set_output(squared_norm(matmul(y, g.parameter(48, 6, 2))));
                  }},
        GraphCase{"ParametersOneByOne",
                  [](Graph& g) {
                    const Var x = g.input(0, 2, 1);
                    Var h = x;
                    for (Index i = 0; i < 21; ++i) h = tanh(hadamard(g.parameter(i, 1, 1), h) + x);
                    g.set_output(squared_norm(h));
                  }},
        GraphCase{"ProductsOfParameters",
                  [](Graph& g) {
                    const Var p = g.parameter(0, 3, 2);
                    const Var q = g.parameter(6, 2, 3);
                    const Var gain = exp(g.parameter(12, 3, 1));
                    const Var y = hadamard(matmul(matmul(p, q), g.input(0, 3, 1)), gain);
                    g.set_output(squared_norm(tanh(y) - g.parameter(15, 3, 1)));
                  }},
        GraphCase{"BiasOfNumbersOfItsWeights",
                  [](Graph& g) {
                    const Var w = g.parameter(0, 2, 3);
                    const Var z = matmul(w, g.input(0, 3, 1)) + slice(w, 0, 1, 2, 1);
                    g.set_output(squared_norm(matmul(g.parameter(6, 3, 2), tanh(z))));
                  }},
        GraphCase{"BiasOfOneNumberOfItsWeightsAtManyPositions",
                  [](Graph& g) {
                    const Var z = matmul(g.input(0, 4, 3), g.parameter(0, 3, 2));
                    g.set_output(log_sum_exp(hadamard(z + g.parameter(5, 1, 2), z)));
                  }},
        GraphCase{"EveryOtherOperation",
                  [](Graph& g) {
                    const Var x = g.input(0, 3, 4);
                    const Var h = matmul(x, g.parameter(0, 4, 5));
                    const Var centres = g.parameter(20, 2, 5);
                    const Var distances = squared_distances(h, centres);
                    const Var largest = max_rows(h);
                    const Var chosen = select(less(x, g.constant(MatrixXd::Zero(3, 4))),
                                              slice(h, 0, 1, 3, 4),
                                              slice(square(h), 0, 0, 3, 4));
                    const Var targets = g.constant(MatrixXd::Constant(3, 5, 0.2));
                    const Var joined =
                        gather(h, centres, std::vector<std::int32_t>{0, 16, -1, 3, 20, 7}, 2, 3);
                    g.set_output(sum(exp(-distances)) + squared_norm(largest) + sum(sin(chosen)) +
                                 sum(cross_entropy_rows(h, targets)) +
                                 squared_norm(embed(joined, 1, 0, 4, 3)) + 0.1 * log_sum_exp(h));
                  }}),
    [](const auto& instance) { return instance.param.name; });

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
  graph->set_output(sum(sin(z)));
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
