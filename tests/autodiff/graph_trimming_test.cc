// SPDX-License-Identifier: BSD-3-Clause
//
// Graphs of which a loss uses some entries.
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/graph_simplification.h>
#include <hesscope/autodiff/internal/graph_trimming.h>

#include "support/numbers.h"
#include "support/sweep_derivatives.h"

namespace hesscope {
namespace {

using Eigen::Index;

constexpr Index kRows = 6;
constexpr Index kCols = 4;

// That are computed, not given or moved.
Index num_entries(const Graph& graph) {
  Index count = 0;
  for (const Graph::Node& n : graph.nodes()) {
    const bool is_moved = n.op == Graph::Op::kReshape || n.op == Graph::Op::kSlice ||
                          n.op == Graph::Op::kEmbed || n.op == Graph::Op::kGather;
    if (n.a >= 0 && !is_moved) count += n.size();
  }
  return count;
}

void expect_same_derivatives(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.num_parameters(), b.num_parameters());
  test::Numbers numbers(5);
  const Eigen::VectorXd theta = 0.7 * numbers.vector(a.num_parameters());
  const SampleTable samples = numbers.table(6, std::max(a.record_size(), b.record_size()));
  for (const Curvature curvature : {Curvature::kHessian, Curvature::kGaussNewton}) {
    const test::Derivatives x = test::from_sweep(a, theta, samples, 8, curvature);
    const test::Derivatives y = test::from_sweep(b, theta, samples, 8, curvature);
    EXPECT_NEAR(x.value, y.value, 1e-14 * std::abs(x.value));
    EXPECT_TRUE((x.gradient - y.gradient).norm() <= 1e-14 * x.gradient.norm());
    EXPECT_TRUE((x.hessian - y.hessian).norm() <= 1e-14 * x.hessian.norm());
    EXPECT_GT(x.hessian.norm(), 0);
  }
}

struct Operation {
  std::string name;
  std::function<Var(Graph&, Var)> of;
};

void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.name; }

// Of a product kRows x kCols; the operation has the parameters from 24 to 100.
std::shared_ptr<Graph> loss_of(const Operation& operation, const std::function<Var(Var)>& used) {
  auto graph = std::make_shared<Graph>();
  const Var a = hadamard(graph->parameter(0, kRows, kCols), graph->input(0, kRows, kCols));
  const Var x = tanh(matmul(a, graph->parameter(100, kCols, kCols)));
  const Var z = used(operation.of(*graph, x));
  graph->set_prediction(z);
  graph->set_output(sum(square(z)) + sum(z));
  return graph;
}

class TrimmedOperation : public testing::TestWithParam<Operation> {};

TEST_P(TrimmedOperation, HasTheSameDerivatives) {
  const auto one_row = [](Var y) { return slice(y, 2, 0, 1, y.cols()); };
  const auto one_col = [](Var y) { return slice(y, 0, y.cols() - 1, y.rows(), 1); };
  const auto scattered = [](Var y) {
    const std::vector<std::int32_t> entries = {
        static_cast<std::int32_t>(2 * y.cols()), -1, static_cast<std::int32_t>(y.cols() - 1)};
    return gather(y, entries, 1, 3);
  };
  const auto flat = [](Var y) {
    return slice(square(reshape(y, 1, y.rows() * y.cols())), 0, 1, 1, y.cols());
  };
  for (const std::function<Var(Var)>& used :
       std::vector<std::function<Var(Var)>>{one_row, one_col, scattered, flat}) {
    const auto graph = loss_of(GetParam(), used);
    const auto trimmed = detail::trimmed(*graph);
    if (trimmed == nullptr) continue;  // all entries of products are used
    EXPECT_LE(num_entries(*trimmed), num_entries(*graph));
    expect_same_derivatives(*graph, *trimmed);
    expect_same_derivatives(*graph, *simplified(*graph));
    EXPECT_EQ(detail::trimmed(*simplified(*graph)), nullptr);
  }
  const auto smaller = detail::trimmed(*loss_of(GetParam(), one_row));
  ASSERT_NE(smaller, nullptr);
  EXPECT_LT(num_entries(*smaller), num_entries(*loss_of(GetParam(), one_row)));
}

std::vector<std::int32_t> numbers_to(Index count) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

INSTANTIATE_TEST_SUITE_P(
    Operations,
    TrimmedOperation,
    testing::Values(
        Operation{"Function", [](Graph& /*g*/, Var x) { return exp(x); }},
        Operation{"Sum", [](Graph& g, Var x) { return x + tanh(g.parameter(24, kRows, kCols)); }},
        Operation{"Bias", [](Graph& g, Var x) { return x - g.parameter(24, 1, kCols); }},
        Operation{"Gain",
                  [](Graph& g, Var x) { return hadamard(exp(g.parameter(24, kRows, 1)), x); }},
        Operation{"Number", [](Graph& g, Var x) { return tanh(x) / exp(g.parameter(24, 1, 1)); }},
        Operation{"Constant",
                  [](Graph& g, Var x) {
                    return hadamard(x, g.constant(Eigen::MatrixXd::Random(kRows, kCols)));
                  }},
        Operation{"Product",
                  [](Graph& g, Var x) { return matmul(x, tanh(g.parameter(24, kCols, 3))); }},
        Operation{"TransposedProduct",
                  [](Graph& g, Var x) {
                    return reshape(matmul_tn(g.parameter(24, kRows, 3), x), 3, kCols);
                  }},
        Operation{"ProductOfTransposed",
                  [](Graph& g, Var x) { return matmul_nt(tanh(x), g.parameter(24, 5, kCols)); }},
        Operation{"Stack",
                  [](Graph& g, Var x) {
                    return stacked_matmul(x, exp(g.parameter(24, 2 * kCols, 3)), {.stack = 2});
                  }},
        Operation{"StackOfTransposed",
                  [](Graph& g, Var x) {
                    return stacked_matmul(
                        x, g.parameter(24, 2 * 3, kCols), {.stack = 2, .transpose_a = true});
                  }},
        Operation{"StackWithOneLeft",
                  [](Graph& g, Var x) {
                    return stacked_matmul(
                        g.parameter(24, 5, 3), x, {.stack = 2, .is_shared_a = true});
                  }},
        Operation{"StackWithOneRight",
                  [](Graph& g, Var x) {
                    return stacked_matmul(x,
                                          tanh(g.parameter(24, 2, kCols)),
                                          {.stack = 3, .transpose_b = true, .is_shared_b = true});
                  }},
        Operation{"Softmax", [](Graph& /*g*/, Var x) { return softmax_rows(x); }},
        Operation{"Standardized", [](Graph& /*g*/, Var x) { return standardize_rows(x, 0.1); }},
        Operation{"RowSums", [](Graph& /*g*/, Var x) { return sum_rows(square(x)); }},
        Operation{"RowMaxima", [](Graph& /*g*/, Var x) { return square(max_rows(x)); }},
        Operation{"LogSumExp", [](Graph& /*g*/, Var x) { return log_sum_exp_rows(x); }},
        Operation{"CrossEntropy",
                  [](Graph& g, Var x) {
                    return cross_entropy_rows(x, g.input(kRows * kCols, kRows, kCols));
                  }},
        Operation{"Distances",
                  [](Graph& g, Var x) { return squared_distances(x, g.parameter(24, 3, kCols)); }},
        Operation{"Choice",
                  [](Graph& g, Var x) {
                    const Var condition = less(g.input(kRows * kCols, kRows, kCols), x);
                    return select(condition, exp(x), square(x));
                  }},
        Operation{"Lookup",
                  [](Graph& g, Var x) {
                    const Var rows =
                        less(g.input(kRows * kCols, kRows, 1), slice(x, 0, 0, kRows, 1));
                    return hadamard(lookup(g.parameter(24, 2, kCols), rows), x);
                  }},
        Operation{"Embedding", [](Graph& /*g*/, Var x) { return embed(exp(x), 0, 2, 8, 6); }},
        Operation{"Joined",
                  [](Graph& g, Var x) {
                    return gather(exp(x),
                                  tanh(g.parameter(24, 2, kCols)),
                                  numbers_to((kRows + 2) * kCols),
                                  kRows + 2,
                                  kCols);
                  }},
        Operation{"Chain",
                  [](Graph& g, Var x) {
                    const Var y =
                        standardize_rows(matmul(softmax_rows(x), g.parameter(24, kCols, 5)), 0.1);
                    return reshape(exp(reshape(y, 1, 5 * kRows)), kRows, 5) + g.parameter(44, 1, 5);
                  }}),
    [](const auto& of_test) { return of_test.param.name; });

// Of rows that are mixed, all are used; behind that, one.
TEST(Trimmed, StopsAtWhatIsUsedWhole) {
  Graph g;
  const Var x = tanh(hadamard(g.parameter(0, kRows, kCols), g.input(0, kRows, kCols)));
  const Var mixed = matmul(softmax_rows(matmul_nt(x, x)), x);
  const Var y = matmul(exp(mixed), g.parameter(24, kCols, 3));
  g.set_output(sum(square(slice(y, 0, 0, 1, 3))));
  const auto smaller = detail::trimmed(g);
  ASSERT_NE(smaller, nullptr);
  std::vector<Index> rows;
  for (const Graph::Node& n : smaller->nodes()) {
    if (n.op == Graph::Op::kMatmul) rows.push_back(n.rows);
  }
  EXPECT_EQ(rows, std::vector<Index>({1, 1, 1}));
  EXPECT_EQ(detail::trimmed(*smaller), nullptr);
}

// Some columns of a product are those of fewer weights, and their operand is used whole.
TEST(Trimmed, TakesTheColumnsThatAreUsed) {
  Graph g;
  const Var x = tanh(matmul(g.input(0, kRows, kCols), g.parameter(0, kCols, 3)));
  const Var y = matmul(x, g.parameter(12, 3, 5));
  const Var z = slice(y, 0, 1, kRows, 2);
  g.set_prediction(z);
  g.set_output(sum(square(z)));
  const auto smaller = detail::trimmed(g);
  ASSERT_NE(smaller, nullptr);
  std::vector<Index> cols;
  Index num_moves = 0;
  for (const Graph::Node& n : smaller->nodes()) {
    if (n.op == Graph::Op::kMatmul) cols.push_back(n.cols);
    if (n.op == Graph::Op::kGather) ++num_moves;
  }
  EXPECT_EQ(cols, std::vector<Index>({3, 2}));
  EXPECT_LE(num_moves, 2);  // of weights, and of the columns
  expect_same_derivatives(g, *smaller);
}

TEST(Trimmed, IsNoneWhereAllIsUsed) {
  Graph g;
  const Var x = tanh(g.parameter(0, 2, 3));
  g.parameter(6, 4, 1);  // not used, but kept
  g.set_output(sum(square(x)));
  EXPECT_EQ(detail::trimmed(g), nullptr);
}

// What only the prediction shows is kept.
TEST(Trimmed, KeepsThePrediction) {
  Graph g;
  const Var z = matmul(tanh(g.parameter(0, 3, 2)), g.input(0, 2, 2));
  g.set_prediction(z);
  g.set_output(sum(square(slice(z, 1, 0, 1, 2))));
  EXPECT_EQ(detail::trimmed(g), nullptr);
}

// Entries of functions alone are not worth taking.
TEST(Trimmed, IsNoneWithoutProducts) {
  Graph g;
  const Var z = tanh(hadamard(g.parameter(0, 3, 2), g.input(0, 3, 2)));
  g.set_output(sum(square(slice(z, 1, 0, 1, 2))));
  EXPECT_EQ(detail::trimmed(g), nullptr);
}

}  // namespace
}  // namespace hesscope
