// SPDX-License-Identifier: BSD-3-Clause
//
// The Hessian from a graph's structure against the plain tape, for graphs of every kind of use.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>

#include "graph_hessian_case.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using test::perceptron;
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
        // Two inputs, next to layers with many. The weights of the last layer come first among the
        // parameters, and each activation of the first layer depends on all of its entries.
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
            "RowsThatAreSplitInPart",  // with a gap, with an overlap, and next to another user
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
        // Each of two such weights feeds the other.
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

}  // namespace
}  // namespace hesscope
