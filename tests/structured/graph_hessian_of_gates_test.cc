// SPDX-License-Identifier: BSD-3-Clause
//
// Elementwise functions of two entries that sweeps treat as one function: gates, and what is added
// to them.
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "graph_hessian_case.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using test::squared_norm;

using Gate = std::function<Var(Graph&, Var, Var)>;

constexpr Index kGatedRows = 5;
constexpr Index kGates = 7;

// a = x A + a0 and b = x B + b0: theta has 2 (4 * 7 + 7) + 7 * 3 entries.
std::shared_ptr<const Graph> with_gate(const Gate& gate) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const auto layer = [&](Index first) {
    return matmul(g.input(0, kGatedRows, 4), g.parameter(first, 4, kGates)) +
           g.parameter(first + 4 * kGates, 1, kGates);
  };
  const Var y = gate(g, layer(0), layer(5 * kGates));
  g.set_output(sum(log_sum_exp_rows(matmul(y, g.parameter(10 * kGates, kGates, 3)))));
  return graph;
}

struct GateCase {
  std::string name;
  Gate gate;
};

void PrintTo(const GateCase& gate, std::ostream* out) { *out << gate.name; }

class GraphHessianWithGate : public testing::TestWithParam<GateCase> {};

TEST_P(GraphHessianWithGate, EqualsThePlainTape) {
  test::expect_equals_the_plain_tape(with_gate(GetParam().gate));
}

Var one(Graph& g) { return g.constant(MatrixXd::Ones(1, 1)); }

INSTANTIATE_TEST_SUITE_P(
    Gates,
    GraphHessianWithGate,
    testing::Values(
        GateCase{"Product", [](Graph&, Var a, Var b) { return hadamard(a, b); }},
        GateCase{"OfSigmoid", [](Graph&, Var a, Var b) { return hadamard(sigmoid(a), b); }},
        GateCase{"OfSigmoidAndTanh",
                 [](Graph&, Var a, Var b) { return hadamard(sigmoid(a), tanh(b)); }},
        GateCase{"OfRelu", [](Graph&, Var a, Var b) { return hadamard(relu(a), square(b)); }},
        GateCase{"Swish",
                 [](Graph&, Var a, Var b) { return hadamard(hadamard(a, sigmoid(a)), b); }},
        GateCase{"Quotient",
                 [](Graph& g, Var a, Var b) { return (one(g) - a) / (one(g) + square(b)); }},
        GateCase{"QuotientOfExponentials",
                 [](Graph&, Var a, Var b) { return exp(a) / (exp(a) + exp(b)); }},
        GateCase{"Sum", [](Graph&, Var a, Var b) { return tanh(a + b); }},
        GateCase{"Difference", [](Graph&, Var a, Var b) { return gelu(a) - 0.5 * exp(b); }},
        GateCase{"Residual", [](Graph&, Var a, Var b) { return a + sin(b); }},
        GateCase{"LinearCombination", [](Graph&, Var a, Var b) { return 2.0 * a - 0.3 * b; }},
        GateCase{"Choice",
                 [](Graph& g, Var a, Var b) {
                   const Var is_low = less(a, g.constant(MatrixXd::Zero(kGatedRows, kGates)));
                   return select(is_low, hadamard(a, exp(-b)), b / (one(g) + square(a)));
                 }},
        GateCase{"InPlaceOfEachOther",  // both depend on both
                 [](Graph&, Var a, Var b) { return hadamard(sin(hadamard(a, b)), cos(a - b)); }},
        GateCase{"TakenTwice",  // the gated entries, and the gate on its own
                 [](Graph&, Var a, Var b) {
                   const Var gate = sigmoid(a);
                   const Var passed = hadamard(gate, b);
                   return hadamard(passed, tanh(passed)) + gate;
                 }},
        GateCase{"OfARowForAll",  // no function of entries of one shape
                 [](Graph&, Var a, Var b) {
                   return hadamard(sigmoid(slice(a, 0, 0, 1, kGates)), tanh(b));
                 }},
        GateCase{"OfANumberForAll",
                 [](Graph&, Var a, Var b) { return tanh(b) / (2.0 * exp(slice(a, 1, 1, 1, 1))); }},
        GateCase{"Cell",  // of a long short-term memory, of three steps
                 [](Graph& g, Var a, Var b) {
                   Var cell = hadamard(sigmoid(a), tanh(b));
                   Var state = hadamard(sigmoid(b), tanh(cell));
                   for (int step = 0; step < 2; ++step) {
                     const Var next = matmul(state, g.parameter(0, kGates, kGates));
                     cell = hadamard(sigmoid(next + a), cell) + hadamard(sigmoid(b), tanh(next));
                     state = hadamard(sigmoid(next - b), tanh(cell));
                   }
                   return state;
                 }}),
    [](const auto& instance) { return instance.param.name; });

// The derivative with respect to one entry is infinite where the other's is not asked for.
TEST(GraphHessianOfGates, HasNoInfinitySlopesOfWhatDoesNotVary) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Var a = matmul(g.input(0, 2, 2), g.parameter(0, 2, 3));
  const Var roots = sqrt(hadamard(g.constant(MatrixXd::Zero(1, 1)), g.input(0, 2, 3)));
  g.set_output(squared_norm(hadamard(tanh(a), roots + exp(a))));
  test::expect_equals_the_plain_tape(graph);
}

}  // namespace
}  // namespace hesscope
