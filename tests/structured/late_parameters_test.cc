// SPDX-License-Identifier: BSD-3-Clause
//
// Attention in the forms in which models write it: heads side by side, stacked or apart, with and
// without biases, with weights that do not sum to 1.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/structured/internal/graph/late_parameters.h>

#include "graph_hessian_case.h"

namespace hesscope {
namespace {

using Eigen::Index;

constexpr Index kLength = 5;
constexpr Index kInputs = 4;
constexpr Index kHead = 3;

// Parameters one after the other.
class Parameters {
 public:
  explicit Parameters(Graph& graph) : graph_(graph) {}

  Var next(Index rows, Index cols) {
    const Var found = graph_.parameter(offset_, rows, cols);
    offset_ += rows * cols;
    return found;
  }

 private:
  Graph& graph_;
  Index offset_ = 0;
};

// X W + 1 b^T
Var projection(Parameters& p, Var x, Index cols) {
  const Var w = p.next(x.cols(), cols);
  return p.next(1, cols) + matmul(x, w);
}

// Entries of `heads` heads of a matrix whose columns are `heads` times `width`, stacked.
Var stacked(Var a, Index first, Index heads, Index width, bool is_transposed) {
  std::vector<std::int32_t> entries;
  for (Index head = 0; head < heads; ++head) {
    for (Index r = 0; r < (is_transposed ? width : a.rows()); ++r) {
      for (Index c = 0; c < (is_transposed ? a.rows() : width); ++c) {
        const Index token = is_transposed ? c : r;
        const Index col = first + head * width + (is_transposed ? r : c);
        entries.push_back(static_cast<std::int32_t>(token * a.cols() + col));
      }
    }
  }
  return is_transposed ? gather(a, entries, heads * width, a.rows())
                       : gather(a, entries, heads * a.rows(), width);
}

struct Form {
  std::string name;
  std::size_t num_products;  // whose parameters can enter later
  std::function<Var(Graph&, Parameters&, Var)> attention;
};

void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

Var one_head(Graph& /*g*/, Parameters& p, Var x) {
  const Var scores = matmul_nt(projection(p, x, kHead), projection(p, x, kHead));
  return matmul(softmax_rows(0.5 * scores), projection(p, x, kHead));
}

Var without_biases(Graph& /*g*/, Parameters& p, Var x) {
  const Var q = matmul(x, p.next(kInputs, kHead));
  const Var k = matmul_nt(x, p.next(kHead, kInputs));
  const Var v = matmul(x, p.next(kInputs, kHead));
  return matmul(softmax_rows(matmul_nt(q, -0.7 * k)), 0.3 * v);
}

// Weights whose rows do not sum to 1, and keys of fewer tokens.
Var exponentials(Graph& /*g*/, Parameters& p, Var x) {
  const Var some = slice(projection(p, x, kHead), 1, 0, 3, kHead);
  const Var weights = exp(0.2 * matmul_nt(projection(p, x, kHead), some));
  return matmul(weights, slice(2.0 * projection(p, x, kHead), 0, 0, 3, kHead));
}

// All columns of one product, keys transposed by moving them.
Var heads_side_by_side(Graph& /*g*/, Parameters& p, Var x) {
  const Var all = projection(p, x, 6 * kHead);
  const Var q = stacked(all, 0, 2, kHead, false);
  const Var k = stacked(all, 2 * kHead, 2, kHead, true);
  const Var v = stacked(all, 4 * kHead, 2, kHead, false);
  const Var mixed =
      stacked_matmul(softmax_rows(stacked_matmul(q, k, {.stack = 2})), v, {.stack = 2});
  return matmul(reshape(mixed, kLength, 2 * kHead), p.next(2 * kHead, 2));
}

// Two heads of queries for one of keys and of values.
Var shared_keys(Graph& /*g*/, Parameters& p, Var x) {
  const Var q = stacked(projection(p, x, 2 * kHead), 0, 2, kHead, false);
  const Var k = projection(p, x, kHead);
  const Var v = projection(p, x, kHead);
  const StackedProduct product{.stack = 2, .transpose_b = true, .is_shared_b = true};
  const Var weights = tanh(stacked_matmul(q, k, product));
  return stacked_matmul(weights, v, {.stack = 2, .is_shared_b = true});
}

// Keys times values first, as in linear attention; columns are tokens.
Var transposed_weights(Graph& /*g*/, Parameters& p, Var x) {
  const Var weights = tanh(projection(p, x, 2));
  return matmul_tn(weights, projection(p, x, kHead));
}

// Weights that are computed from parameters.
Var computed_weights(Graph& /*g*/, Parameters& p, Var x) {
  const Var v = matmul(x, matmul(p.next(kInputs, kHead), p.next(kHead, 1)));
  return matmul(softmax_rows(matmul_nt(projection(p, x, kInputs), x)), v);
}

// Of no projection: rows of keys are normalised, and values have a factor each.
Var neither(Graph& g, Parameters& p, Var x) {
  const Var k = standardize_rows(projection(p, x, kHead), 0.1);
  const Var v = hadamard(projection(p, x, kHead), g.input(0, kLength, kHead));
  return matmul(softmax_rows(matmul_nt(projection(p, x, kHead), k)), v);
}

std::shared_ptr<const Graph> model(const Form& form, bool is_of_last) {
  auto graph = std::make_shared<Graph>();
  Parameters p(*graph);
  const Var x = tanh(matmul(graph->input(0, kLength, 3), p.next(3, kInputs)));
  const Var y = tanh(form.attention(*graph, p, x));
  const Var z = is_of_last ? slice(y, y.rows() - 1, 0, 1, y.cols()) : y;
  graph->set_prediction(z);
  graph->set_output(sum(log_sum_exp_rows(z)) + sum(square(z)));
  return graph;
}

class LateParametersOf : public testing::TestWithParam<Form> {};

TEST_P(LateParametersOf, LeaveTheHessian) {
  for (const bool is_of_last : {false, true}) {
    SCOPED_TRACE(is_of_last ? "last token" : "all tokens");
    const std::shared_ptr<const Graph> graph = model(GetParam(), is_of_last);
    const detail::LateParameters late(*graph);
    std::vector<std::int32_t> products;
    for (const auto& layer : late.layers()) {
      products.insert(products.end(), layer.begin(), layer.end());
    }
    EXPECT_EQ(products.size(), GetParam().num_products);
    const std::shared_ptr<const Graph> other = late.graph(products);
    const Index n = graph->num_parameters();
    ASSERT_EQ(other->num_parameters(), n);
    const Index count = 9;
    const Eigen::VectorXd theta = 0.7 * test::Numbers(3).vector(n);
    const Eigen::VectorXd numbers = test::Numbers(4).vector(count * graph->record_size());
    const std::vector<double> samples(numbers.begin(), numbers.end());
    const Eigen::MatrixXd expected = test::by_tape(*graph, theta, samples, count);
    const Eigen::MatrixXd by_tape = test::by_tape(*other, theta, samples, count);
    EXPECT_TRUE((by_tape - expected).norm() <= test::kSiteTolerance * expected.norm());
    const Eigen::MatrixXd by_structure =
        test::by_structure(other, theta, samples, count, best_instruction_set(), Executor(1));
    EXPECT_TRUE((by_structure - expected).norm() <= test::kSiteTolerance * expected.norm());
    test::expect_equals_the_plain_tape(graph);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms,
                         LateParametersOf,
                         testing::Values(Form{"OneHead", 2, one_head},
                                         Form{"WithoutBiases", 2, without_biases},
                                         Form{"Exponentials", 2, exponentials},
                                         Form{"HeadsSideBySide", 2, heads_side_by_side},
                                         Form{"SharedKeys", 2, shared_keys},
                                         Form{"TransposedWeights", 1, transposed_weights},
                                         Form{"ComputedWeights", 1, computed_weights},
                                         Form{"Neither", 0, neither}),
                         [](const auto& of_test) { return of_test.param.name; });

TEST(LateParameters, AreThoseOfTheLastLayerFirst) {
  Graph g;
  Parameters p(g);
  const Var first = one_head(g, p, g.input(0, kLength, kInputs));
  const Var second = one_head(g, p, tanh(first));
  g.set_output(sum(square(second)));
  const detail::LateParameters late(g);
  ASSERT_EQ(late.layers().size(), 2U);
  EXPECT_EQ(late.layers()[0].size(), 2U);
  EXPECT_GT(late.layers()[0].front(), late.layers()[1].back());
}

// Attention of one layer: changes of keys and values at one token reach all others, those of
// queries do not. Entering late, no parameter's changes do, and work grows linearly with tokens.
TEST(LateParameters, ReachOneTokenEach) {
  const auto work = [](Index tokens) {
    auto graph = std::make_shared<Graph>();
    Parameters p(*graph);
    const Var x = graph->input(0, tokens, 24);
    const Var q = matmul(x, p.next(24, 16));
    const Var k = matmul(x, p.next(24, 16));
    const Var v = matmul(x, p.next(24, 16));
    graph->set_output(sum(square(matmul(softmax_rows(matmul_nt(q, k)), v))));
    return graph_hessian(graph)->plan().multiply_adds();
  };
  EXPECT_LT(work(12), 2.2 * work(6));
}

}  // namespace
}  // namespace hesscope
