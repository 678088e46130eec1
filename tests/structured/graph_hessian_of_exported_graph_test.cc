// SPDX-License-Identifier: BSD-3-Clause
//
// Graphs as exporters write them: functions spelt out, entries flattened or moved twice, constants
// added.
#include <functional>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "graph_hessian_case.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::squared_norm;

Var constant(Graph& g, Index rows, Index cols, double first, double step) {
  MatrixXd values(rows, cols);
  for (Index i = 0; i < values.size(); ++i) {
    values(i / cols, i % cols) = first + step * static_cast<double>(i);
  }
  return g.constant(values);
}

Var constant(Graph& g, double value) { return constant(g, 1, 1, value, 0); }

using Function = std::function<Var(Graph&, Var)>;

// Five tokens of four numbers each, seven hidden units: theta has 4 * 7 + 7 + 7 * 3 entries.
std::shared_ptr<const Graph> with_activation(const Function& activation) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Var z = matmul(g.input(0, 5, 4), g.parameter(0, 4, 7)) + g.parameter(28, 1, 7);
  g.set_output(sum(log_sum_exp_rows(matmul(activation(g, z), g.parameter(35, 7, 3)))));
  return graph;
}

struct ActivationCase {
  std::string name;
  Function activation;
};

void PrintTo(const ActivationCase& activation, std::ostream* out) { *out << activation.name; }

class GraphHessianWithActivation : public testing::TestWithParam<ActivationCase> {};

TEST_P(GraphHessianWithActivation, EqualsThePlainTape) {
  test::expect_equals_the_plain_tape(with_activation(GetParam().activation));
}

Var flattened(Graph& g, Var z, const Function& activation) {
  return reshape(activation(g, reshape(z, 1, z.rows() * z.cols())), z.rows(), z.cols());
}

// x (1 + erf(x / sqrt 2)) / 2, as PyTorch's exporter writes it.
Var exported_gelu(Graph& g, Var x) {
  const Var half = hadamard(x, constant(g, 0.5));
  return hadamard(half, erf(x / constant(g, std::numbers::sqrt2)) + constant(g, 1));
}

INSTANTIATE_TEST_SUITE_P(
    Chains,
    GraphHessianWithActivation,
    testing::Values(
        ActivationCase{"Gelu", exported_gelu},
        ActivationCase{"FlattenedGelu",
                       [](Graph& g, Var z) { return flattened(g, z, exported_gelu); }},
        ActivationCase{"GeluByTanh",
                       [](Graph&, Var z) {
                         const Var cubic = z + 0.044715 * power(z, 3);
                         return 0.5 * (z + hadamard(z, tanh(0.797884560802865 * cubic)));
                       }},
        ActivationCase{"Swish", [](Graph& g, Var z) { return z / (constant(g, 1) + exp(-z)); }},
        ActivationCase{"Mish", [](Graph&, Var z) { return hadamard(z, tanh(softplus(z))); }},
        ActivationCase{"Square", [](Graph&, Var z) { return hadamard(z, z); }},
        ActivationCase{
            "Quotient",
            [](Graph& g, Var z) { return (constant(g, 0.3) - z) / (constant(g, 2) + square(z)); }},
        ActivationCase{"LeakyByChoice",
                       [](Graph& g, Var z) {
                         const Var is_negative = less(z, constant(g, 5, 7, 0, 0));
                         return select(is_negative, 0.1 * square(z), hadamard(z, exp(-z)));
                       }},
        ActivationCase{"ConstantsOfRowsAndColumns",
                       [](Graph& g, Var z) {
                         const Var slopes = constant(g, 1, 7, 0.5, 0.1);
                         const Var shifts = constant(g, 5, 1, -1, 0.3);
                         return sin(hadamard(slopes, z) + shifts);
                       }},
        ActivationCase{"Linear",  // nothing that bends, but what the products behind it do
                       [](Graph& g, Var z) {
                         const Var centred = (2.0 * z - constant(g, 1, 7, -0.2, 0.1)) + z;
                         return softmax_rows(hadamard(centred, constant(g, 1, 7, 0.5, 0.1)));
                       }},
        ActivationCase{"Standardized", [](Graph&, Var z) { return standardize_rows(z, 1e-3); }},
        ActivationCase{"NormalizedByRootMeanSquare",
                       [](Graph& g, Var z) {
                         const Var wider = embed(z, 0, 2, 5, 9) + constant(g, 1, 9, 0.3, -0.2);
                         return slice(rms_normalize_rows(wider, 1e-3), 0, 1, 5, 7);
                       }},
        ActivationCase{"StandardizedTwice",
                       [](Graph& g, Var z) {
                         const Var once = standardize_rows(z, 0);
                         const Var gained = hadamard(once, constant(g, 1, 7, 0.5, 0.1));
                         return standardize_rows(z + tanh(gained), 0.1);
                       }},
        // Rows of which some entries have tangents, and whose tangents others take, too.
        ActivationCase{"StandardizedBesideConstants",
                       [](Graph& g, Var z) {
                         const Var wider = embed(z, 0, 2, 5, 9) + constant(g, 1, 9, 0.3, -0.2);
                         const Var rows = slice(standardize_rows(wider, 0.01), 0, 1, 5, 7);
                         return hadamard(rows, z);
                       }},
        // A number inside is taken outside; an operand comes from elsewhere; a record's numbers.
        ActivationCase{"TakenInside",
                       [](Graph&, Var z) {
                         const Var inside = tanh(z);
                         const Var outside = hadamard(inside, exp(inside));
                         return outside + hadamard(sum_rows(inside), z);
                       }},
        ActivationCase{"OfTwoSources",
                       [](Graph& g, Var z) {
                         const Var other = matmul(z, constant(g, 7, 7, -0.3, 0.02));
                         return hadamard(sigmoid(z), tanh(square(other)));
                       }},
        ActivationCase{"WithInputs",
                       [](Graph& g, Var z) {
                         return hadamard(z + g.input(0, 5, 1), tanh(hadamard(z, g.input(5, 5, 1))));
                       }}),
    [](const auto& instance) { return instance.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Shifts,
    GraphHessianWithActivation,
    testing::Values(ActivationCase{"PlusConstant",
                                   [](Graph& g, Var z) {
                                     const Var h = matmul(z, constant(g, 7, 7, -0.3, 0.02));
                                     return tanh(constant(g, 1, 7, 0, 0.1) + h - constant(g, 0.2));
                                   }},
                    ActivationCase{"TakenTwice",
                                   [](Graph& g, Var z) {
                                     const Var h = softmax_rows(z);
                                     return hadamard(h + constant(g, 1), sin(h - constant(g, 0.2)));
                                   }},
                    ActivationCase{
                        "ConstantMinus",
                        [](Graph& g, Var z) { return square(constant(g, 1) - softmax_rows(z)); }}),
    [](const auto& instance) { return instance.param.name; });

// Layers at one position whose parameters do not follow each other as their inputs do: the bias
// first, as frameworks that fold constants leave it, weights that are moved, or pruned ones.
TEST(GraphHessianOfExportedGraph, EqualsThePlainTapeWithParametersInAnyOrder) {
  for (const Index inputs : {3, 8, 9, 17}) {
    for (const std::string order : {"as they come", "reversed", "with gaps"}) {
      SCOPED_TRACE(inputs);
      SCOPED_TRACE(order);
      auto graph = std::make_shared<Graph>();
      Graph& g = *graph;
      const Var bias = g.parameter(0, 3, 1);
      Var weights = g.parameter(3, 3, inputs);
      if (order != "as they come") {
        std::vector<std::int32_t> sources;
        for (std::int32_t e = 0; e < 3 * inputs; ++e) {
          const bool is_gap = order == "with gaps" && (5 * e) % 7 < 3;
          sources.push_back(is_gap ? -1 : static_cast<std::int32_t>(3 * inputs) - 1 - e);
        }
        weights = gather(weights, sources, 3, inputs);
      }
      const Var hidden = tanh(matmul(weights, g.input(0, inputs, 1)) + bias);
      const Index next = 3 + 3 * inputs;
      const Var output = matmul(g.parameter(next + 2, 2, 3), hidden) + g.parameter(next, 2, 1);
      g.set_output(log_sum_exp(output) + squared_norm(output));
      test::expect_equals_the_plain_tape(graph);
    }
  }
}

// Parameters that are added where the operand has tangents of other parameters, or no tangents.
TEST(GraphHessianOfExportedGraph, EqualsThePlainTapeWithBiasesBehindFunctions) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Var h = softmax_rows(matmul(g.input(0, 5, 4), g.parameter(0, 4, 6)));
  const Var y = matmul(h + g.parameter(24, 1, 6), g.parameter(30, 6, 3));
  const Var rows = matmul(g.constant(MatrixXd::Ones(1, 5)), y);
  g.set_output(squared_norm(tanh(rows + g.parameter(48, 1, 3))) + log_sum_exp(rows));
  test::expect_equals_the_plain_tape(graph);
}

// What depends on parameters alone has one value for all samples, until inputs come to it.
TEST(GraphHessianOfExportedGraph, EqualsThePlainTapeWithInputsInsideFunctionsOfParameters) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Var a = softmax_rows(matmul(constant(g, 5, 4, -0.5, 0.1), g.parameter(0, 4, 6)));
  const Var chained = tanh(hadamard(a, a) + g.input(0, 5, 6));
  const Var b = softmax_rows(matmul(constant(g, 5, 4, 0.4, -0.1), g.parameter(24, 4, 6)));
  const Var shifted = b - g.input(30, 5, 6);
  const Var is_small = less(g.input(60, 5, 6), constant(g, 5, 6, 0, 0));
  const Var c = softmax_rows(matmul(constant(g, 5, 4, 0.2, 0.1), g.parameter(48, 4, 6)));
  const Var chosen = select(is_small, square(c), sin(c));
  g.set_output(squared_norm(matmul_nt(chained, shifted)) +
               squared_norm(matmul_tn(chosen, shifted)));
  test::expect_equals_the_plain_tape(graph);
}

// The reverse pass through softmax reads its forward result, not what is seeded after it.
TEST(GraphHessianOfExportedGraph, EqualsThePlainTapeWithTiedBiasesBehindSoftmax) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Var w = g.parameter(0, 1, 6);
  const Var y = tanh(softmax_rows(matmul(g.input(0, 5, 1), w)) + w);
  const Var row = softmax_rows(slice(y, 2, 0, 1, 6));
  const Var left = slice(row, 0, 0, 1, 2) + slice(w, 0, 0, 1, 2);
  const Var right = slice(row, 0, 2, 1, 4) + slice(w, 0, 1, 1, 4);
  g.set_output(squared_norm(y) + sum(sin(left)) + sum(exp(right)));
  test::expect_equals_the_plain_tape(graph);
}

TEST(GraphHessianOfExportedGraph, EqualsThePlainTapeWithSoftmaxBetweenTurnsOfOneWeight) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  Var h = g.input(0, 2, 5);
  for (Index turn = 0; turn < 3; ++turn) {
    h = softmax_rows(matmul(h, g.parameter(0, 5, 5))) + g.parameter(25, 1, 5);
  }
  g.set_output(squared_norm(h));
  test::expect_equals_the_plain_tape(graph);
}

// What is constant but for its steps has no slope, and no second one.
TEST(GraphHessianOfExportedGraph, EqualsThePlainTapeWithStepsOfWhatVaries) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Var z = 2.0 * matmul(g.input(0, 5, 4), g.parameter(0, 4, 7));
  const Var symlog = hadamard(elementary(Elementary::kSign, z), log(constant(g, 1) + abs(z)));
  const Var fraction = z - elementary(Elementary::kFloor, z);
  const Var unused = hadamard(z, sin(z));
  (void)unused;
  g.set_output(squared_norm(matmul(symlog, g.parameter(28, 7, 3))) + sum(sin(fraction)));
  test::expect_equals_the_plain_tape(graph);
}

// Masked scores have no slope, whatever they are divided by.
TEST(GraphHessianOfExportedGraph, IsFiniteWithMaskedScores) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Var q = matmul(g.input(0, 3, 4), g.parameter(0, 4, 3));
  MatrixXd mask = MatrixXd::Zero(3, 3);
  mask(0, 1) = mask(0, 2) = mask(1, 2) = -std::numeric_limits<double>::infinity();
  const Var scores = exp(0.1 * matmul_nt(q, q)) + g.constant(mask);
  g.set_output(squared_norm(matmul(softmax_rows(scores / constant(g, 1.7)), q)));
  test::expect_equals_the_plain_tape(graph);
}

std::vector<std::int32_t> every(Index count, Index step, Index first) {
  std::vector<std::int32_t> indices;
  for (Index i = 0; i < count; ++i) {
    indices.push_back(static_cast<std::int32_t>(first + i * step));
  }
  return indices;
}

// Entries moved once more, with gaps and zeros, and with parameters added between.
TEST(GraphHessianOfExportedGraph, EqualsThePlainTapeWithEntriesMovedTwice) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Var x = matmul(g.input(0, 4, 3), g.parameter(0, 3, 6));  // 24 entries
  const Var odd = gather(x, every(12, 2, 1), 4, 3);
  std::vector<std::int32_t> reversed = every(12, -1, 11);
  reversed[4] = -1;
  const Var moved = gather(reshape(odd, 1, 12), reversed, 6, 2);
  const Var again = gather(moved, every(6, 1, 3), 2, 3);
  const Var biased = gather(x, every(12, 1, 6), 3, 4) + g.parameter(18, 3, 4);
  const Var of_biased = gather(biased, every(6, 2, 0), 2, 3);
  const Var z = tanh(again) + matmul(of_biased, g.parameter(30, 3, 3));
  g.set_output(squared_norm(z) + sum(exp(moved)) + log_sum_exp(matmul_tn(odd, odd)));
  test::expect_equals_the_plain_tape(graph);
}

TEST(GraphHessianOfExportedGraph, SweepsAFunctionThatIsSpeltOutAsOneThatIsNot) {
  const auto whole = graph_hessian(with_activation([](Graph&, Var z) { return gelu(z); }));
  for (const Function& spelt_out : {Function(exported_gelu), Function([](Graph&g, Var z) {
                                      return flattened(g, z, exported_gelu);
                                    })}) {
    const auto hessian = graph_hessian(with_activation(spelt_out));
    EXPECT_EQ(hessian->plan().directions, whole->plan().directions);
    EXPECT_EQ(hessian->plan().sweep_multiply_adds, whole->plan().sweep_multiply_adds);
    EXPECT_EQ(hessian->plan().product_multiply_adds, whole->plan().product_multiply_adds);
  }
}

// Tokens that do not see each other: normalised, through a hidden layer, each with its own loss.
// Eight of a token's entries are a block of directions.
std::shared_ptr<const Graph> separate_tokens(Index tokens) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Var h = matmul(g.input(0, tokens, 8), g.parameter(0, 8, 8));
  const Var centred = h - (1.0 / 8) * sum_rows(h);
  const Var variance = (1.0 / 8) * sum_rows(square(centred)) + constant(g, 0.1);
  const Var z = matmul(centred / sqrt(variance), g.parameter(64, 8, 24)) + g.parameter(256, 1, 24);
  const Var y = matmul(flattened(g, z, exported_gelu), g.parameter(280, 24, 8));
  const Var residual = reshape(reshape(h, 1, 8 * tokens) + reshape(y, 1, 8 * tokens), tokens, 8);
  g.set_output(sum(log_sum_exp_rows(residual)));
  return graph;
}

TEST(GraphHessianOfExportedGraph, EqualsThePlainTapeForTokensThatDoNotSeeEachOther) {
  test::expect_equals_the_plain_tape(separate_tokens(4));
}

TEST(GraphHessianOfExportedGraph, SweepsThroughOneTokenWhereTokensDoNotSeeEachOther) {
  const auto plan_of = [](Index tokens) { return graph_hessian(separate_tokens(tokens))->plan(); };
  const HessianPlan two = plan_of(2);
  const HessianPlan four = plan_of(4);
  EXPECT_EQ(four.directions, 2 * two.directions);
  // Not four times as many; a few less than twice, where two tokens share a block.
  EXPECT_TRUE(four.sweep_multiply_adds <= 2 * two.sweep_multiply_adds);
}

// H is larger than a cache, tokens are mixed, and chunks have few packs.
TEST(GraphHessianOfExportedGraph, EqualsThePlainTapeForManyParametersAtSomePositions) {
  auto graph = std::make_shared<Graph>();
  Graph& g = *graph;
  const Index width = 24;
  const Index hidden = 48;
  const Var x = g.input(0, 3, width);
  const Var h = matmul(x, g.parameter(0, width, width));
  const Var mixed = matmul(softmax_rows(0.2 * matmul_nt(h, h)), h);
  const Var first = g.parameter(width * width, width, hidden);
  const Var second = g.parameter(width * width + width * hidden, hidden, width);
  const Var y = matmul(flattened(g, matmul(mixed, first), exported_gelu), second);
  g.set_output(sum(log_sum_exp_rows(y)));
  const Index n = g.num_parameters();
  ASSERT_GT(n, 2'048);
  const Index count = 131;  // two chunks
  const VectorXd theta = 0.3 * test::Numbers(3).vector(n);
  const VectorXd numbers = test::Numbers(4).vector(count * g.record_size());
  const std::vector<double> samples(numbers.begin(), numbers.end());
  const MatrixXd actual =
      test::by_structure(graph, theta, samples, count, best_instruction_set(), Executor(2));
  EXPECT_EQ(actual, actual.transpose().eval());
  // Some columns by the plain tape: of each of the three weights, and the last.
  const Records records{samples.data(), count, g.record_size()};
  const auto sweep = Sweep::create(g);
  for (const Index column : {Index{0}, Index{300}, width * width + 77, Index{2'000}, n - 1}) {
    const VectorXd direction = VectorXd::Unit(n, column);
    VectorXd expected = VectorXd::Zero(n);
    const auto size = static_cast<std::size_t>(n);
    sweep->hessian_times(
        {theta.data(), size}, records, {direction.data(), size}, 1, {expected.data(), size});
    expected /= static_cast<double>(count);
    EXPECT_TRUE((actual.col(column) - expected).norm() <= test::kSiteTolerance * expected.norm())
        << column;
  }
}

}  // namespace
}  // namespace hesscope
