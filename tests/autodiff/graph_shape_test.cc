// SPDX-License-Identifier: BSD-3-Clause
//
// What a graph records, and what it refuses.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/sweep.h>

#include "support/graph_oracle.h"
#include "support/numbers.h"
#include "support/refusal.h"
#include "support/sweep_derivatives.h"

namespace hesscope {
namespace {

using test::expect_refusal;

TEST(Graph, RecordsNoNodeOfAnotherShapeThanItsOperandWhereItKeepsThat) {
  Graph g;
  const Var a = g.parameter(0, 2, 3);
  using Op = Graph::Op;
  for (const Op op : {Op::kScale, Op::kElementary, Op::kSoftmaxRows, Op::kStandardizeRows}) {
    expect_refusal([&] { g.record({.op = op, .a = a.node(), .rows = 1, .cols = 6}); },
                   "Graph::record: the operands, their shapes or a place do not fit");
    expect_refusal([&] { g.record({.op = op, .rows = 1, .cols = 6}); },
                   "Graph::record: the operands, their shapes or a place do not fit");
    EXPECT_EQ(g.record({.op = op, .a = a.node(), .rows = 2, .cols = 3}).rows(), 2);
  }
}

// Kernels take for granted what is refused here.
TEST(Graph, RecordsNoNodeThatItsKernelCannotTake) {
  using Op = Graph::Op;
  Graph g;
  const std::int32_t a = g.parameter(0, 2, 3).node();
  const std::int32_t b = g.input(0, 2, 3).node();
  const std::int32_t column = g.input(0, 2, 1).node();
  const std::vector<std::int32_t> own = {0, 5};
  const Eigen::Index indices = g.keep_indices(own);
  const std::size_t num_nodes = g.nodes().size();
  const Graph::Node refused[] = {
      {.op = Op::kConstant, .rows = 1, .cols = 1},
      {.op = Op::kInput, .rows = 1, .cols = 1, .offset = -1},
      {.op = Op::kParameter, .a = a, .rows = 2, .cols = 3},
      {.op = Op::kAdd, .a = a, .rows = 2, .cols = 3},
      {.op = Op::kDivide, .a = a, .b = b, .rows = 3, .cols = 3},
      {.op = Op::kLess, .a = a, .b = b, .choice = b, .rows = 2, .cols = 3},
      {.op = Op::kElementary, .function = Elementary{99}, .a = a, .rows = 2, .cols = 3},
      {.op = Op::kScale, .a = a, .b = b, .rows = 2, .cols = 3},
      {.op = Op::kMatmul, .a = a, .b = b, .rows = 2, .cols = 3},
      {.op = Op::kMatmul, .transpose_b = true, .a = a, .b = b, .rows = 2, .cols = 3},
      {.op = Op::kMatmul, .transpose_b = true, .a = a, .b = b, .rows = 2, .cols = 2, .stack = 0},
      {.op = Op::kLogSumExpRows, .a = a, .rows = 1, .cols = 1},
      {.op = Op::kCrossEntropyRows, .a = b, .b = a, .rows = 2, .cols = 1},
      {.op = Op::kCrossEntropyRows, .a = a, .b = column, .rows = 2, .cols = 1},
      {.op = Op::kSquaredDistances, .a = a, .b = column, .rows = 2, .cols = 2},
      {.op = Op::kSum, .a = a, .rows = 2, .cols = 1},
      {.op = Op::kSlice, .a = a, .rows = 2, .cols = 2, .row = 0, .col = 2},
      {.op = Op::kSlice, .a = a, .rows = 1, .cols = 1, .row = -1},
      {.op = Op::kEmbed, .a = a, .rows = 2, .cols = 4, .row = 1},
      {.op = Op::kReshape, .a = a, .rows = 2, .cols = 4},
      {.op = Op::kGather, .a = a, .rows = 1, .cols = 3, .offset = indices},
      {.op = Op::kGather, .a = column, .rows = 1, .cols = 2, .offset = indices},
      {.op = Op::kSelect, .a = a, .b = b, .rows = 2, .cols = 3},
      {.op = Op::kSelect, .a = b, .b = b, .choice = a, .rows = 2, .cols = 3},
      {.op = Op::kLookup, .a = a, .rows = 2, .cols = 3},
      {.op = Op::kLookup, .a = a, .choice = b, .rows = 2, .cols = 3},
      {.op = Op{99}, .a = a, .rows = 2, .cols = 3},
  };
  for (const Graph::Node& node : refused) {
    SCOPED_TRACE(&node - refused);
    expect_refusal([&] { g.record(node); }, "Graph::record: ");
  }
  EXPECT_EQ(g.nodes().size(), num_nodes);
  g.record({.op = Op::kParameter, .rows = 4, .cols = 1, .offset = 6});
  g.record({.op = Op::kInput, .rows = 4, .cols = 1, .offset = 6});
  EXPECT_EQ(g.num_parameters(), 10);
  EXPECT_EQ(g.record_size(), 10);
}

TEST(Graph, RecordsItsOwnNodesAgain) {
  Graph g;
  const Var a = g.parameter(0, 1, 1);
  const Var step = less(a, a);
  for (int k = 0; k < 100; ++k) {
    EXPECT_FALSE(g.varies(g.record(g.nodes()[static_cast<std::size_t>(step.node())])));
    EXPECT_TRUE(g.varies(g.record(g.nodes()[0])));
  }
}

TEST(Graph, NamesTheOperationWhoseShapesDoNotFit) {
  Graph g;
  const Var a = g.parameter(0, 2, 3);
  const Var b = g.parameter(6, 3, 2);
  const Var square3 = g.parameter(0, 3, 3);
  expect_refusal(
      [&] { a + b; },
      "operator+: shapes must be equal or have one row or one column, got 2 x 3 and 3 x 2");
  expect_refusal(
      [&] { a - b; },
      "operator-: shapes must be equal or have one row or one column, got 2 x 3 and 3 x 2");
  expect_refusal(
      [&] { hadamard(a, b); },
      "hadamard: shapes must be equal or have one row or one column, got 2 x 3 and 3 x 2");
  expect_refusal([&] { matmul(a, a); },
                 "matmul: inner dimensions must be equal, got 3 and 2 from 2 x 3 and 2 x 3");
  expect_refusal([&] { matmul_nt(a, b); },
                 "matmul_nt: inner dimensions must be equal, got 3 and 2");
  expect_refusal([&] { matmul_tn(a, square3); },
                 "matmul_tn: inner dimensions must be equal, got 2 and 3");
  expect_refusal([&] { squared_distances(a, b); },
                 "squared_distances: rows must be equally long, got 2 x 3 and 3 x 2");
  expect_refusal([&] { slice(a, 1, 0, 2, 3); }, "slice: 2 x 3 at (1, 0) does not lie in 2 x 3");
  expect_refusal([&] { slice(a, 0, -1, 1, 1); }, "slice: 1 x 1 at (0, -1) does not lie in 2 x 3");
  expect_refusal([&] { slice(a, 0, 0, 0, 1); }, "slice: 0 x 1 at (0, 0)");
  expect_refusal([&] { embed(a, 0, 1, 2, 3); }, "embed: 2 x 3 at (0, 1) does not lie in 2 x 3");
  expect_refusal([&] { g.parameter(-1, 1, 1); },
                 "Graph::parameter: 1 x 1 entries cannot begin at -1");
  expect_refusal([&] { g.input(0, 0, 1); },
                 "Graph::input: a matrix has from 1 to 2147483647 entries, got 0 x 1");
  expect_refusal([&] { g.constant(Eigen::MatrixXd(0, 2)); },
                 "Graph::constant: a matrix has from 1");
  expect_refusal([&] { g.set_output(a); }, "Graph::set_output: the loss must be 1 x 1, got 2 x 3");
}

TEST(Graph, RefusesSizesThatOverflow) {
  Graph g;
  const Var a = g.parameter(0, 2, 3);
  const Eigen::Index large = Eigen::Index{1} << 40;
  const Eigen::Index larger = Eigen::Index{1} << 62;
  const Eigen::Index largest = std::numeric_limits<Eigen::Index>::max();
  expect_refusal([&] { slice(a, largest, 0, 1, 1); }, "slice: 1 x 1 at (9223372036854775807, 0)");
  expect_refusal([&] { slice(a, 0, largest, 1, 1); }, "slice: 1 x 1 at (0, 9223372036854775807)");
  expect_refusal([&] { slice(a, larger, 0, larger, 1); }, "does not lie in 2 x 3");
  expect_refusal([&] { slice(a, 1, 0, largest, 1); }, "does not lie in 2 x 3");
  expect_refusal([&] { embed(a, largest, 0, 2, 3); }, "does not lie in 2 x 3");
  expect_refusal([&] { embed(a, 0, 0, large, large); },
                 "a matrix has from 1 to 2147483647 entries");
  expect_refusal([&] { reshape(a, larger, 4); }, "reshape: 2 x 3 cannot become");
  expect_refusal([&] { g.input(0, large, large); }, "Graph::input: a matrix has from 1 to");
  expect_refusal([&] { g.parameter(0, large, 1); }, "Graph::parameter: a matrix has from 1 to");
  expect_refusal([&] { g.input(largest - 5, 2, 3); }, "Graph::input: 2 x 3 entries cannot begin");
  expect_refusal([&] { g.constant(std::vector<double>(2), larger, 4); },
                 "Graph::constant: a matrix");
  const Var column = g.input(0, 1 << 20, 1);
  expect_refusal([&] { matmul_nt(column, column); }, "got 1048576 x 1048576");
  EXPECT_EQ(g.num_parameters(), 6);
  EXPECT_EQ(g.record_size(), 1 << 20);
  EXPECT_EQ(g.nodes().size(), 2U);
}

TEST(Graph, KeepsConstantsThatAreItsOwn) {
  Graph g;
  const Var first = g.constant(std::vector<double>{1.5, -2, 3}, 1, 3);
  for (int k = 0; k < 20; ++k) {
    const Var again = g.constant(g.constant_value(first), 3, 1);
    EXPECT_THAT(g.constant_value(again), testing::ElementsAre(1.5, -2, 3));
  }
}

TEST(Graph, RecordsNodesOfNodesThatAreThere) {
  Graph g;
  const Var a = g.parameter(0, 2, 3);
  const Graph::Node sum = {.op = Graph::Op::kSum, .a = a.node(), .rows = 1, .cols = 1};
  const auto refused = [&](const Graph::Node& node) {
    expect_refusal([&] { g.record(node); }, "Graph::record: there is no node");
  };
  Graph::Node node = sum;
  for (const std::int32_t operand : {-2, 1, 7}) {
    node = sum;
    node.a = operand;
    refused(node);
    node = sum;
    node.b = operand;
    refused(node);
    node = sum;
    node.choice = operand;
    refused(node);
  }
  node = sum;
  node.rows = 0;
  expect_refusal([&] { g.record(node); }, "Graph::record: a matrix has from 1");
  EXPECT_EQ(g.record(sum).node(), 1);
}

TEST(Graph, RefusesOperandsOfAnotherGraph) {
  Graph g;
  Graph other;
  const Var a = g.parameter(0, 2, 2);
  const Var b = other.parameter(0, 2, 2);
  const std::string what = ": the operands belong to different graphs";
  expect_refusal([&] { a + b; }, "operator+" + what);
  expect_refusal([&] { a - b; }, "operator-" + what);
  expect_refusal([&] { hadamard(a, b); }, "hadamard" + what);
  expect_refusal([&] { matmul(a, b); }, "matmul" + what);
  expect_refusal([&] { squared_distances(a, b); }, "squared_distances" + what);
  expect_refusal([&] { g.set_output(sum(b)); }, "Graph::set_output: the loss belongs to another");
}

TEST(Graph, CannotBeSweptWithoutAnOutput) {
  Graph g;
  g.parameter(0, 1, 1);
  expect_refusal([&] { Sweep::create(g); }, "Sweep: the graph has no output");
  const Eigen::VectorXd theta = Eigen::VectorXd::Zero(1);
  expect_refusal([&] { multiprecision_derivatives(g, test::span_of(theta), {}); },
                 "multiprecision_derivatives: needs a graph with an output");
}

TEST(Graph, RefusesALossThatDependsOnParametersBesideThePrediction) {
  const std::string what = ": the loss must depend on parameters through the prediction alone";
  Graph g;
  const Var w = g.parameter(0, 2, 1);
  const Var z = matmul_tn(w, g.input(0, 2, 1));
  const Var loss = square(z - g.input(2, 1, 1));
  const Var penalised = loss + 0.01 * sum(square(w));
  const Var far = sum(hadamard(w, matmul(w, tanh(loss))));
  g.set_prediction(z);
  expect_refusal([&] { g.set_output(penalised); }, "Graph::set_output" + what);
  expect_refusal([&] { g.set_output(far); }, "Graph::set_output" + what);
  EXPECT_EQ(g.output(), -1);
  EXPECT_NO_THROW(g.set_output(loss));
  // The other way round; and the refused one leaves what was declared.
  Graph h;
  const Var v = h.parameter(0, 1, 1);
  const Var exponential = exp(v);
  h.set_output(exponential - v);
  EXPECT_EQ(h.prediction(), -1);
  expect_refusal([&] { h.set_prediction(exponential); }, "Graph::set_prediction" + what);
  EXPECT_EQ(h.prediction(), -1);
  h.set_prediction(v);
  EXPECT_EQ(h.prediction(), v.node());
  expect_refusal([&] { h.set_prediction(z); },
                 "Graph::set_prediction: the prediction belongs to another graph");
  expect_refusal([&] { h.varies(z); }, "Graph::varies: the node belongs to another graph");
  expect_refusal([&] { h.constant_value(z); },
                 "Graph::constant_value: the node belongs to another graph");
}

TEST(Graph, HasNoGaussNewtonMatrixWithoutAPrediction) {
  Graph g;
  g.set_output(exp(g.parameter(0, 1, 1)));
  const std::string what = "the Gauss-Newton matrix needs a graph with a prediction";
  const Eigen::VectorXd theta = Eigen::VectorXd::Zero(1);
  const SampleTable samples = SampleTable::Zero(1, 1);
  expect_refusal([&] { test::from_sweep(g, theta, samples, 1, Curvature::kGaussNewton); }, what);
  expect_refusal([&] { Sweep::create(g)->gauss_newton_factors(test::span_of(theta), {}, {}); },
                 what);
  expect_refusal(
      [&] {
        multiprecision_derivatives(
            g, test::span_of(theta), test::records_of(samples), Curvature::kGaussNewton);
      },
      what);
}

TEST(GaussNewton, DependsOnWhatIsCalledThePrediction) {
  // l = exp(2 tanh(theta)). With t = tanh: d2l/dt2 t'^2; with the loss itself nothing is left, with
  // the parameter everything.
  const double x = 0.3;
  const double t = std::tanh(x);
  const double slope = 1 - t * t;
  const double l = std::exp(2 * t);
  const auto gauss_newton = [&](auto choose) {
    Graph g;
    const Var theta = g.parameter(0, 1, 1);
    const Var tangent = tanh(theta);
    const Var loss = exp(2.0 * tangent);
    g.set_prediction(choose(theta, tangent, loss));
    g.set_output(loss);
    return test::from_sweep(g,
                            Eigen::VectorXd::Constant(1, x),
                            SampleTable::Zero(1, 1),
                            1,
                            Curvature::kGaussNewton)
        .hessian(0, 0);
  };
  const double tolerance = 8 * test::kEpsilon;
  EXPECT_NEAR(gauss_newton([](Var, Var tangent, Var) { return tangent; }),
              4 * l * slope * slope,
              tolerance * 4 * l);
  EXPECT_NEAR(gauss_newton([](Var theta, Var, Var) { return theta; }),
              4 * l * slope * slope - 4 * l * t * slope,
              tolerance * 4 * l);
  EXPECT_EQ(gauss_newton([](Var, Var, Var loss) { return loss; }), 0);
}

TEST(Sweep, LeavesUnusedParametersExactlyZero) {
  // theta_0..1 are used, 2..9 declared after the output or not at all.
  Graph g;
  const Var a = g.parameter(0, 2, 1);
  g.set_output(sum(exp(a)));
  g.parameter(4, 6, 1);
  const test::Derivatives actual =
      test::from_sweep(g, Eigen::VectorXd::Constant(10, 0.5), SampleTable::Zero(3, 1));
  EXPECT_EQ(actual.gradient.tail(8), Eigen::VectorXd::Zero(8));
  EXPECT_EQ(actual.hessian.rightCols(8), Eigen::MatrixXd::Zero(10, 8));
  EXPECT_EQ(actual.hessian(0, 0), std::exp(0.5));
}

}  // namespace
}  // namespace hesscope
