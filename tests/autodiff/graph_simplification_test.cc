// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/graph_simplification.h>

#include "support/graph_oracle.h"
#include "support/numbers.h"
#include "support/sweep_derivatives.h"

namespace hesscope {
namespace {

TEST(Simplified, LeavesOutWhatNothingDependsOn) {
  Graph g;
  const Var a = g.parameter(0, 2, 1);
  const Var unused = exp(g.parameter(2, 3, 1));
  const Var x = g.input(1, 2, 1);
  const std::vector<std::int32_t> swapped = {1, 2};
  g.constant(Eigen::Vector3d(1, 2, 3));
  const Var z = gather(hadamard(a, x), g.constant(Eigen::Vector2d(4, 5)), swapped, 2, 1);
  g.set_prediction(z);
  g.set_output(sum(square(z)));
  const auto smaller = simplified(g);
  EXPECT_EQ(smaller->nodes().size(), g.nodes().size() - 2);  // exp and a constant
  EXPECT_EQ(smaller->num_parameters(), g.num_parameters());
  EXPECT_GT(unused.rows(), 0);
  test::Numbers numbers(3);
  const Eigen::VectorXd theta = numbers.vector(5);
  const SampleTable samples = numbers.table(7, 3);
  for (const Curvature curvature : {Curvature::kHessian, Curvature::kGaussNewton}) {
    const test::Derivatives before = test::from_sweep(g, theta, samples, 8, curvature);
    const test::Derivatives after = test::from_sweep(*smaller, theta, samples, 8, curvature);
    EXPECT_EQ(before.value, after.value);
    EXPECT_EQ(before.gradient, after.gradient);
    EXPECT_EQ(before.hessian, after.hessian);
  }
}

Eigen::Index count_of(const Graph& graph, Graph::Op op) {
  return std::ranges::count(graph.nodes(), op, &Graph::Node::op);
}

// A function of a 3 x 4 matrix, the sum of whose squares with weights is the loss.
std::shared_ptr<Graph> graph_of(const std::function<Var(Graph&, Var)>& function) {
  auto graph = std::make_shared<Graph>();
  const Var x = hadamard(graph->parameter(0, 3, 4), graph->input(0, 3, 4));
  const Var y = function(*graph, x);
  Eigen::MatrixXd weights(y.rows(), y.cols());
  for (Eigen::Index i = 0; i < weights.size(); ++i) weights(i) = 0.3 + 0.2 * static_cast<double>(i);
  graph->set_output(sum(hadamard(graph->constant(weights), square(y))) + sum(y));
  return graph;
}

// The simplified graph, whose derivatives are those of the graph to rounding.
std::shared_ptr<Graph> checked(const Graph& graph) {
  std::shared_ptr<Graph> simple = simplified(graph);
  test::Numbers numbers(5);
  const Eigen::VectorXd theta = numbers.vector(graph.num_parameters());
  const SampleTable samples = numbers.table(6, graph.record_size());
  const test::Derivatives before = test::from_sweep(graph, theta, samples, 8, Curvature::kHessian);
  const test::Derivatives after = test::from_sweep(*simple, theta, samples, 8, Curvature::kHessian);
  EXPECT_NEAR(before.value, after.value, 1e-14 * std::abs(before.value));
  EXPECT_LE((before.gradient - after.gradient).norm(), 1e-14 * before.gradient.norm());
  EXPECT_LE((before.hessian - after.hessian).norm(), 1e-13 * before.hessian.norm());
  return simple;
}

Var number(Graph& g, double value) { return g.constant(Eigen::MatrixXd::Constant(1, 1, value)); }

// x / c in front of a jump is no product with 1 / c, which need not be the same.
TEST(Simplified, KeepsQuotientsThatAStepTakes) {
  Graph g;
  const Var quotient = g.input(0, 1, 1) / number(g, 49);
  g.set_output(sum(elementary(Elementary::kFloor, g.parameter(0, 1, 1) + quotient)));
  const std::shared_ptr<Graph> simple = simplified(g);
  EXPECT_EQ(count_of(*simple, Graph::Op::kDivide), 1);
  for (const double whole : {1.0, 2.0, 3.0, 100.0}) {
    const SampleTable samples = SampleTable::Constant(1, 1, 49 * whole);
    const test::Derivatives found =
        test::from_sweep(*simple, Eigen::VectorXd::Zero(1), samples, 1, Curvature::kHessian);
    EXPECT_EQ(found.value, whole);
  }
  Graph smooth;
  smooth.set_output(sum(square(smooth.parameter(0, 1, 1) / number(smooth, 49))));
  EXPECT_EQ(count_of(*simplified(smooth), Graph::Op::kDivide), 0);
}

Var mean_of_rows(Var x) { return (1.0 / static_cast<double>(x.cols())) * sum_rows(x); }

struct Spelling {
  std::string name;
  bool is_centred;
  std::function<Var(Graph&, Var)> function;
};

void PrintTo(const Spelling& spelling, std::ostream* out) { *out << spelling.name; }

class SimplifiedNormalisation : public testing::TestWithParam<Spelling> {};

TEST_P(SimplifiedNormalisation, IsOneOperation) {
  const auto simple = checked(*graph_of(GetParam().function));
  ASSERT_EQ(count_of(*simple, Graph::Op::kStandardizeRows), 1);
  EXPECT_EQ(count_of(*simple, Graph::Op::kSumRows), 0);
  const auto found =
      std::ranges::find(simple->nodes(), Graph::Op::kStandardizeRows, &Graph::Node::op);
  EXPECT_EQ(found->is_centred, GetParam().is_centred);
}

INSTANTIATE_TEST_SUITE_P(
    Spellings,
    SimplifiedNormalisation,
    testing::Values(Spelling{"Quotient",
                             true,
                             [](Graph& g, Var x) {
                               const Var rest = x - mean_of_rows(x);
                               return rest / sqrt(mean_of_rows(square(rest)) + number(g, 1e-3));
                             }},
                    Spelling{"QuotientByReshapedColumns",
                             true,
                             [](Graph& g, Var x) {
                               const Var rest = reshape(reshape(x, 1, 12), 3, 4) - mean_of_rows(x);
                               const Var variance = reshape(mean_of_rows(power(rest, 2)), 1, 3);
                               return rest / reshape(sqrt(number(g, 1e-3) + variance), 3, 1);
                             }},
                    Spelling{"ProductWithReciprocal",
                             true,
                             [](Graph& g, Var x) {
                               const Var rest = x - mean_of_rows(x);
                               const Var variance = mean_of_rows(hadamard(rest, rest));
                               return hadamard(reciprocal(sqrt(variance + number(g, 1e-3))), rest);
                             }},
                    Spelling{"ProductWithOneOver",
                             true,
                             [](Graph& g, Var x) {
                               const Var rest = x - mean_of_rows(x);
                               const Var variance = mean_of_rows(square(rest));
                               return hadamard(rest, number(g, 1) / sqrt(variance));
                             }},
                    Spelling{"RootMeanSquare",
                             false,
                             [](Graph& g, Var x) {
                               return hadamard(
                                   x, power(mean_of_rows(square(x)) + number(g, 0.1), -0.5));
                             }},
                    Spelling{"RootMeanSquareOfDifference",
                             false,
                             [](Graph& g, Var x) {
                               const Var rest = x - number(g, 0.4);
                               return rest / sqrt(mean_of_rows(square(rest)) + number(g, 0.1));
                             }}),
    [](const auto& instance) { return instance.param.name; });

// Expressions that look like a normalisation but are not.
TEST(Simplified, TakesNothingElseForANormalisation) {
  const std::vector<std::function<Var(Graph&, Var)>> functions = {
      // Means of columns, of other rows, of nothing that is squared; another power; no mean.
      [](Graph&, Var x) {
        const Var part = slice(x, 0, 0, 3, 3);
        const Var rest = part - mean_of_rows(part);
        return rest / reshape(sqrt(mean_of_rows(square(rest))), 1, 3);
      },
      [](Graph&, Var x) { return x / sqrt(mean_of_rows(square(2.0 * x))); },
      [](Graph&, Var x) { return x / sqrt(mean_of_rows(abs(x))); },
      [](Graph&, Var x) { return x / sqrt(mean_of_rows(power(x, 4))); },
      [](Graph&, Var x) { return x / sqrt(sum_rows(square(x))); },
      [](Graph& g, Var x) { return x / (sqrt(mean_of_rows(square(x))) + number(g, 1e-3)); },
      [](Graph& g, Var x) { return x / sqrt(mean_of_rows(square(x)) + number(g, -1e-9)); },
      [](Graph&, Var x) {
        return x / sqrt(slice(mean_of_rows(square(reshape(x, 6, 2))), 0, 0, 3, 1));
      },
  };
  for (const auto& function : functions) {
    const auto simple = checked(*graph_of(function));
    EXPECT_EQ(count_of(*simple, Graph::Op::kStandardizeRows), 0);
  }
}

// 1 + erf(x / sqrt(2)), with the root in single precision as exporters write it.
Var one_plus_erf(Graph& g, Var x) { return erf(x / number(g, 1.4142135381698608)) + number(g, 1); }

TEST(Simplified, TakesGeluHoweverItIsSpelt) {
  const std::function<Var(Graph&, Var)> spellings[] = {
      [](Graph& g, Var x) { return hadamard(hadamard(x, one_plus_erf(g, x)), number(g, 0.5)); },
      [](Graph& g, Var x) { return hadamard(hadamard(number(g, 0.5), x), one_plus_erf(g, x)); },
      [](Graph& g, Var x) { return hadamard(x, 0.5 * one_plus_erf(g, x)); },
      [](Graph& g, Var x) { return hadamard(number(g, 1) + erf(0.7 * x), x) / number(g, 2); },
      [](Graph& g, Var x) { return 0.5 * hadamard(x, number(g, 1) + erf(x)); },
      [](Graph& g, Var x) {
        const Var row = reshape(x, 1, 12);
        return hadamard(0.5 * reshape(x, 4, 3), reshape(one_plus_erf(g, row), 4, 3));
      }};
  for (const auto& spelling : spellings) {
    const auto simple = checked(*graph_of(spelling));
    const auto found =
        std::ranges::find(simple->nodes(), Elementary::kGelu, &Graph::Node::function);
    ASSERT_NE(found, simple->nodes().end());
    EXPECT_EQ(found->op, Graph::Op::kElementary);
    for (const Graph::Node& node : simple->nodes()) EXPECT_NE(node.function, Elementary::kErf);
  }
}

TEST(Simplified, TakesNothingElseForGelu) {
  const std::function<Var(Graph&, Var)> others[] = {
      [](Graph& g, Var x) { return hadamard(x, one_plus_erf(g, x)); },
      [](Graph& g, Var x) { return 0.5 * hadamard(2.0 * x, one_plus_erf(g, x)); },
      [](Graph& g, Var x) { return 0.5 * hadamard(tanh(x), one_plus_erf(g, x)); },
      [](Graph& g, Var x) { return 0.5 * hadamard(x, number(g, 2) + erf(x)); },
      [](Graph& g, Var x) { return 0.5 * hadamard(x, number(g, 1) + tanh(x)); },
      [](Graph& g, Var x) { return 0.5 * hadamard(x, hadamard(x, one_plus_erf(g, x))); },
      [](Graph& g, Var x) { return 0.5 * one_plus_erf(g, x); }};
  for (const auto& other : others) {
    const auto simple = checked(*graph_of(other));
    for (const Graph::Node& node : simple->nodes()) EXPECT_NE(node.function, Elementary::kGelu);
  }
}

// With a mean other than that of the rows, only the root mean square is a normalisation.
TEST(Simplified, TakesAnotherMeanOffBeforehand) {
  const auto simple = checked(*graph_of([](Graph& g, Var x) {
    const Var part = slice(x, 0, 0, 3, 3);
    const Var rest = part - reshape(mean_of_rows(part), 1, 3);
    return rest / sqrt(mean_of_rows(square(rest)) + number(g, 0.1));
  }));
  const auto found =
      std::ranges::find(simple->nodes(), Graph::Op::kStandardizeRows, &Graph::Node::op);
  ASSERT_NE(found, simple->nodes().end());
  EXPECT_FALSE(found->is_centred);
}

TEST(Simplified, ScalesTheSmallerFactorOfAProduct) {
  for (const bool is_quotient : {false, true}) {
    const auto simple = checked(*graph_of([&](Graph& g, Var x) {
      const Var product = reshape(matmul_tn(x, x), 1, 16);
      return is_quotient ? product / number(g, 1.7) : hadamard(number(g, 1 / 1.7), product);
    }));
    const auto scale = std::ranges::find(simple->nodes(), Graph::Op::kScale, &Graph::Node::op);
    ASSERT_NE(scale, simple->nodes().end());
    EXPECT_EQ(scale->size(), 12);
    EXPECT_DOUBLE_EQ(scale->factor, 1 / 1.7);
    EXPECT_EQ(count_of(*simple, Graph::Op::kDivide), 0);
  }
}

// Nothing is gained if the product is no larger, if others use it, too, or if it consists of
// parameters.
TEST(Simplified, ScalesOtherProductsThemselves) {
  const std::vector<std::function<Var(Graph&, Var)>> functions = {
      [](Graph& g, Var x) { return hadamard(matmul_nt(x, x), number(g, 3)); },
      [](Graph& g, Var x) {
        const Var product = matmul_tn(x, x);
        return product / number(g, 3) + tanh(product);
      },
      [](Graph& g, Var x) { return matmul_tn(x, g.parameter(12, 3, 6)) / number(g, 3); },
  };
  for (const auto& function : functions) {
    const auto simple = checked(*graph_of(function));
    const auto scale = std::ranges::find(simple->nodes(), Graph::Op::kScale, &Graph::Node::op);
    ASSERT_NE(scale, simple->nodes().end());
    EXPECT_EQ(simple->nodes()[static_cast<std::size_t>(scale->a)].op, Graph::Op::kMatmul);
  }
}

TEST(Simplified, LeavesAQuotientByZeroAlone) {
  const auto graph = graph_of([](Graph& g, Var x) { return x / number(g, 0); });
  EXPECT_EQ(count_of(*simplified(*graph), Graph::Op::kDivide), 1);
}

TEST(Simplified, MovesEntriesOnce) {
  const std::vector<std::int32_t> turned = {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11};
  const std::vector<std::int32_t> back = {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11};
  const std::vector<std::int32_t> some = {7, -1, 2, 2, 0, 11};
  const std::vector<std::int32_t> few = {5, 1, -1, 0};

  struct Moving {
    std::function<Var(Graph&, Var)> function;
    std::ptrdiff_t gathers;
    std::ptrdiff_t slices;
  };

  const Moving cases[] = {
      {[&](Graph&, Var x) { return gather(gather(x, turned, 4, 3), some, 2, 3); }, 1, 0},
      {[&](Graph&, Var x) { return gather(reshape(gather(x, some, 6, 1), 2, 3), few, 2, 2); },
       1,
       0},
      {[&](Graph&, Var x) { return gather(gather(x, turned, 4, 3), back, 3, 4); }, 0, 0},
      {[&](Graph& g, Var x) {
         const Var both = gather(gather(x, turned, 4, 3), tanh(x), turned, 4, 3);
         return gather(hadamard(both, both), g.input(2, 1, 2), some, 3, 2);
       },
       2,
       0},
      {[&](Graph&, Var x) {  // of three nodes, which is one too many
         const Var both = gather(x, tanh(x), std::vector{0, 13, 5, 20}, 2, 2);
         return gather(both, exp(x), std::vector{1, 0, 6, 3}, 2, 2);
       },
       2,
       0},
      {[&](Graph&, Var x) { return slice(slice(x, 1, 0, 2, 4), 1, 1, 1, 2); }, 0, 1},
      {[&](Graph&, Var x) { return slice(slice(x, 1, 1, 2, 3), 0, 0, 2, 3); }, 0, 1},
      {[&](Graph&, Var x) { return slice(reshape(slice(x, 0, 1, 3, 2), 2, 3), 0, 1, 2, 2); }, 0, 2},
      {[&](Graph&, Var x) { return tanh(slice(x, 0, 0, 3, 4)); }, 0, 0},
      {[&](Graph&, Var x) {
         return gather(slice(x, 1, 1, 2, 3), std::vector{5, -1, 0}, 1, 3);
       },
       1,
       0}};
  for (std::size_t k = 0; k < std::size(cases); ++k) {
    SCOPED_TRACE(k);
    const auto simple = checked(*graph_of(cases[k].function));
    EXPECT_EQ(count_of(*simple, Graph::Op::kGather), cases[k].gathers);
    EXPECT_EQ(count_of(*simple, Graph::Op::kSlice), cases[k].slices);
  }
}

// As logits that a model turns around, and a loss back again.
TEST(Simplified, TakesNothingFromBehindThePrediction) {
  const std::vector<std::int32_t> turned = {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11};
  const std::vector<std::int32_t> back = {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11};
  const std::vector<std::function<Var(Var)>> predictions = {
      [&](Var x) { return gather(x, turned, 4, 3); },
      [&](Var x) { return slice(x, 0, 0, 3, 4); },
      [&](Var x) { return reshape(x, 4, 3); },
  };
  const std::vector<std::function<Var(Var)>> losses = {
      [&](Var z) { return gather(z, back, 3, 4); },
      [&](Var z) { return slice(z, 0, 1, z.rows(), 2); },
  };
  for (const auto& prediction : predictions) {
    for (const auto& loss : losses) {
      Graph g;
      const Var z = prediction(hadamard(g.parameter(0, 3, 4), g.input(0, 3, 4)));
      g.set_prediction(z);
      g.set_output(sum(square(tanh(loss(z)))));
      checked(g);
    }
  }
}

TEST(Simplified, LeavesOutParametersThatAMaskDoes) {
  for (const bool is_second : {false, true}) {
    const auto graph = graph_of([&](Graph& g, Var x) {
      Eigen::MatrixXd mask = Eigen::MatrixXd::Ones(4, 2);
      mask(1, 0) = mask(3, 1) = mask(2, 1) = 0;
      const Var weights = g.parameter(12, 4, 2);
      const Var left =
          is_second ? hadamard(weights, g.constant(mask)) : hadamard(g.constant(mask), weights);
      return matmul(x, left);
    });
    const auto simple = checked(*graph);
    EXPECT_EQ(count_of(*simple, Graph::Op::kGather), 1);
    EXPECT_EQ(count_of(*simple, Graph::Op::kHadamard), count_of(*graph, Graph::Op::kHadamard) - 1);
  }
}

// Masks with other numbers, with one row for all, or that are computed.
TEST(Simplified, LeavesOtherMasksAlone) {
  const Eigen::MatrixXd ones = Eigen::MatrixXd::Ones(4, 2);
  const std::vector<std::function<Var(Graph&, Var)>> functions = {
      [&](Graph& g, Var x) {
        return matmul(x, hadamard(g.parameter(12, 4, 2), g.constant(0.5 * ones)));
      },
      [&](Graph& g, Var x) {
        return matmul(x, hadamard(g.parameter(12, 4, 2), g.constant(ones.topRows(1))));
      },
      [&](Graph& g, Var x) {
        return matmul(x, hadamard(tanh(g.parameter(12, 4, 2)), g.constant(ones)));
      },
  };
  for (const auto& function : functions) {
    EXPECT_EQ(count_of(*checked(*graph_of(function)), Graph::Op::kGather), 0);
  }
}

}  // namespace
}  // namespace hesscope
