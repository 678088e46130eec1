// SPDX-License-Identifier: BSD-3-Clause
//
// What the search finds spans what the built-in kinds know of themselves, keeps every sample's
// loss, and is nothing where there is nothing.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/models/attention.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/invariance_search.h>

#include "support/decompositions.h"
#include "support/maxima.h"
#include "support/numbers.h"
#include "support/quadratic_objective.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

// Random samples of a model; classes are one-hot.
GraphObjective objective_of(Model model, Eigen::Index num_samples = 40) {
  test::Numbers numbers(11);
  SampleTable samples = numbers.table(num_samples, model.record_size());
  for (const DataArray& array : model.arrays) {
    if (array.content != DataArray::Content::kClass) continue;
    for (Eigen::Index i = 0; i < num_samples; ++i) {
      samples.row(i).segment(array.offset, array.width).setZero();
      samples(i, array.offset + i % array.width) = 1;
    }
  }
  return {std::move(model), std::move(samples)};
}

// u(theta) of all generators, as columns.
Eigen::MatrixXd directions(const std::vector<Invariance>& invariances,
                           const Eigen::VectorXd& theta) {
  std::vector<Eigen::VectorXd> columns;
  for (const Invariance& invariance : invariances) {
    for (Eigen::Index k = 0; k < invariance.num_generators; ++k) {
      columns.push_back(invariance.generator(k).at(theta));
    }
  }
  Eigen::MatrixXd all(theta.size(), static_cast<Eigen::Index>(columns.size()));
  for (std::size_t c = 0; c < columns.size(); ++c)
    all.col(static_cast<Eigen::Index>(c)) = columns[c];
  return all;
}

Eigen::Index rank(const Eigen::MatrixXd& columns) {
  if (columns.cols() == 0) return 0;
  const Eigen::VectorXd lambda = test::eigenvalues(columns * columns.transpose());
  return (lambda.array() > 1e-10 * lambda.maxCoeff<Eigen::PropagateNaN>()).count();
}

struct Known {
  const char* name;
  Model model;
};

class Search : public testing::TestWithParam<int> {
 protected:
  static Known known(int i) {
    switch (i) {
      case 0:
        return {"relu perceptron", mlp({.widths = {3, 5, 4, 3}, .activation = Activation::kRelu})};
      case 1:
        return {"tanh perceptron", mlp({.widths = {3, 4, 3}})};
      default:
        return {"linear attention",
                linear_attention({.layers = 2,
                                  .dimension = 2,
                                  .context = 4,
                                  .parametrization = LinearAttentionParametrization::kSplitQk})};
    }
  }
};

TEST_P(Search, FindsWhatTheKindKnows) {
  const Known kind = known(GetParam());
  SCOPED_TRACE(kind.name);
  const GraphObjective objective = objective_of(kind.model);
  const std::vector<Invariance> found = find_invariances(objective);
  const std::vector<Invariance> told = kind.model.invariances;
  test::Numbers numbers(5);
  const Eigen::VectorXd theta = numbers.vector(objective.num_parameters());
  const Eigen::MatrixXd all = directions(found, theta);
  const Eigen::MatrixXd of_kind = directions(told, theta);
  EXPECT_GT(of_kind.cols(), 0);
  Eigen::MatrixXd both(theta.size(), all.cols() + of_kind.cols());
  both << all, of_kind;
  EXPECT_EQ(rank(both), rank(all));
  // Every one of them keeps every sample's loss.
  const Eigen::MatrixXd gradients = objective.per_sample_gradients(theta, objective.all_samples());
  for (Eigen::Index c = 0; c < all.cols(); ++c) {
    const Eigen::VectorXd changes = gradients.transpose() * all.col(c);
    EXPECT_TRUE(test::largest_magnitude(changes) <= 1e-12 * gradients.norm() * all.col(c).norm());
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Search, testing::Range(0, 3));

// For each head of a stack alone: WQ_h -> c WQ_h, WK_h -> WK_h / c.
TEST(InvarianceSearch, FindsOneHeadOfAStack) {
  const GraphObjective objective =
      objective_of(attention({.heads = 2, .embedding = 3, .head_dimension = 2, .sequence = 3}));
  const Eigen::VectorXd theta = test::Numbers(5).vector(objective.num_parameters());
  const Eigen::MatrixXd all = directions(find_invariances(objective), theta);
  for (const Eigen::Index head : {0, 1}) {
    Eigen::MatrixXd more(theta.size(), all.cols() + 1);
    more << all, Eigen::VectorXd::Zero(theta.size());
    more.col(all.cols()).segment(6 * head, 6) = theta.segment(6 * head, 6);
    more.col(all.cols()).segment(12 + 6 * head, 6) = -theta.segment(12 + 6 * head, 6);
    EXPECT_EQ(rank(more), rank(all));
  }
}

// The one that has this name, which must be there once.
Invariance named(const std::vector<Invariance>& all, const std::string& name) {
  Invariance found;
  for (const Invariance& each : all) {
    if (each.name != name) continue;
    EXPECT_TRUE(found.name.empty()) << name << " twice";
    found = each;
  }
  EXPECT_EQ(found.name, name);
  return found;
}

// sum tanh(E^T t + p): what is added to all rows of E may be taken from p.
TEST(InvarianceSearch, FindsWhatTwoEmbeddingsShare) {
  ModelBuilder b("embeddings");
  const Var tokens = b.parameter("tokens", {3, 2});
  const Var place = b.parameter("place", {2});
  const Var t = b.one_hot("token", 3);
  const GraphObjective objective = objective_of(
      b.finish(sum(tanh(matmul_tn(tokens, t) + place)) + square(b.array("target", {}))));
  const Invariance shift = named(find_invariances(objective), "shift between tokens, place");
  ASSERT_EQ(shift.num_generators, 2);
  const Eigen::VectorXd u = shift.generator(0).at(Eigen::VectorXd::Random(8));
  Eigen::VectorXd expected(8);
  expected << 1, 0, 1, 0, 1, 0, -1, 0;
  EXPECT_EQ(u / u(0), expected);
}

// sum tanh(W (tanh(x) + a) + b): what is added to a may, times W, be taken from b.
TEST(InvarianceSearch, FindsAShiftThatAMatrixCarriesToABias) {
  ModelBuilder b("biases");
  const Var a = b.parameter("a", {2});
  const Var w = b.parameter("W", {3, 2});
  const Var bias = b.parameter("b", {3});
  const Var x = b.array("inputs", {2});
  const GraphObjective objective = objective_of(b.finish(sum(tanh(matmul(w, tanh(x) + a) + bias))));
  const Invariance shift = named(find_invariances(objective), "shift between a, W, b");
  ASSERT_EQ(shift.num_generators, 2);
  const Eigen::VectorXd theta = Eigen::VectorXd::LinSpaced(11, 1, 11);  // a, W by rows, b
  Eigen::VectorXd u = shift.generator(0).at(theta);
  if (u(1) == 0) u = shift.generator(1).at(theta);
  Eigen::VectorXd expected = Eigen::VectorXd::Zero(11);
  expected(1) = 1;
  expected.tail(3) << -4, -6, -8;  // the second column of W
  EXPECT_EQ(u / u(1), expected);
}

// softmax(W x + c) does not see the single number c that all its scores have.
TEST(InvarianceSearch, FindsWhatHasNoEffectButRounding) {
  ModelBuilder b("scores");
  const Var w = b.parameter("W", {3, 2});
  const Var c = b.parameter("c", {1});
  const Var x = b.array("inputs", {2});
  const Var scores = matmul(w, x) + matmul(b.constant(Eigen::MatrixXd::Ones(3, 1)), c);
  const GraphObjective objective =
      objective_of(b.finish(cross_entropy(scores, b.one_hot("target", 3))));
  const Invariance shift = named(find_invariances(objective), "shift of c without effect");
  ASSERT_EQ(shift.num_generators, 1);
  EXPECT_EQ(shift.generator(0).at(Eigen::VectorXd::Ones(7)), Eigen::VectorXd::Unit(7, 6));
}

Model gated(const std::string& kind,
            const std::function<Var(const Var& a, const Var& b, const Var& x)>& of) {
  ModelBuilder b(kind);
  const Var a = b.parameter("a", {1});
  const Var c = b.parameter("b", {1});
  const Var gate =
      relu(b.parameter("gate", {1}) - b.constant(Eigen::MatrixXd::Constant(1, 1, 0.4)));
  const Var x = b.array("inputs", {1});
  return b.finish(square(sum(hadamard(gate, of(a, c, x))) - b.array("target", {})));
}

// How many of 20 searches say that a number may be added to a and taken from b.
int searches_that_find_a_sum(const GraphObjective& objective) {
  int count = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Invariance> found = find_invariances(objective, {.seed = seed});
    count += static_cast<int>(std::ranges::count(found, "sum of a and b", &Invariance::name));
  }
  return count;
}

// A unit that a gate lets through at one of five random points, where a and b have the same sign
// and so both samples' slopes along them are equal: that says nothing of where the signs differ.
TEST(InvarianceSearch, TakesNothingForAnInvarianceThatHardlyAnyPointShows) {
  const GraphObjective objective =
      objective_of(gated("two relu units",
                         [](const Var& a, const Var& b, const Var& x) {
                           return relu(hadamard(a, x)) + relu(hadamard(b, x));
                         }),
                   2);
  EXPECT_EQ(searches_that_find_a_sum(objective), 0);
}

// For (a + b) x, it is an invariance, and the gate must not prevent the search from saying so.
TEST(InvarianceSearch, FindsWhatFewPointsShow) {
  const GraphObjective objective = objective_of(
      gated("a sum", [](const Var& a, const Var& b, const Var& x) { return hadamard(a + b, x); }),
      12);
  EXPECT_GE(searches_that_find_a_sum(objective), 10);
}

// relu(a x) + relu(b x) for x = 1 and 2 depends on a + b where both are positive.
TEST(InvarianceSearch, LooksAtAPointForWhatHoldsThere) {
  ModelBuilder b("two relu units");
  const Var a = b.parameter("a", {1});
  const Var c = b.parameter("b", {1});
  const Var x = b.array("inputs", {1});
  SampleTable samples(2, 1);
  samples << 1, 2;
  const GraphObjective objective(b.finish(square(sum(relu(hadamard(a, x)) + relu(hadamard(c, x))))),
                                 samples);
  const std::vector<Invariance> found = {
      {"sum of a and b", 1, [](Eigen::Index /*k*/) {
         return AffineGenerator{.linear = {}, .constant = {{0, 1.0}, {1, -1.0}}};
       }}};
  const auto count_at = [&](double at_a, double at_b) {
    const auto holding = invariances_at(objective, Eigen::Vector2d(at_a, at_b), found);
    EXPECT_EQ(holding.at(0).name, "sum of a and b");
    return holding.at(0).num_generators;
  };
  EXPECT_EQ(count_at(0.5, 2), 1);
  EXPECT_EQ(count_at(0.5, -2), 0);
  test::expect_refusal([&] { invariances_at(objective, Eigen::VectorXd::Ones(3), found); },
                       "invariances_at: ");
}

TEST(InvarianceSearch, FindsNothingWhereThereIsNothing) {
  ModelBuilder b("ridge");
  const Var w = b.parameter("weight", {4});
  const Var x = b.array("inputs", {4});
  const GraphObjective objective =
      objective_of(b.finish(square(matmul_tn(w, x) - b.array("target", {})) + sum(exp(w))));
  EXPECT_TRUE(find_invariances(objective).empty());
}

TEST(InvarianceSearch, IsAskedWhereTheKindKnowsNone) {
  Model model = mlp({.widths = {3, 5, 3}, .activation = Activation::kRelu});
  model.invariances.clear();
  EXPECT_TRUE(objective_of(model).invariances().empty());
  model.searches_invariances = true;
  EXPECT_FALSE(objective_of(model).invariances().empty());
  model.weight_decay = 0.1;  // sees the norm of the parameters
  EXPECT_TRUE(objective_of(model).invariances().empty());
}

// For (x1 + x2)^2: the shift of one against the other, whatever tensors without entries there are.
TEST(InvarianceSearch, DoesNotMindATensorWithoutEntries) {
  const test::QuadraticObjective objective({Eigen::MatrixXd::Ones(2, 2)},
                                           {},
                                           0,
                                           {{"none", {0, 2}, 0, 0},
                                            {"a", {1}, 0, 1},
                                            {"b", {1}, 1, 1},
                                            {"row", {2, 0}, 2, 0},
                                            {"bias", {0}, 2, 0}});
  EXPECT_EQ(directions(find_invariances(objective), Eigen::VectorXd::Ones(2)).cols(), 1);
}

TEST(InvarianceSearch, RefusesBlocksThatDoNotFit) {
  const test::QuadraticObjective misshapen(
      {Eigen::MatrixXd::Identity(3, 3)}, {}, 0, {{"w", {7, 9}, 0, 3}});
  test::expect_refusal([&] { find_invariances(misshapen); },
                       "find_invariances: parameter block 'w' has the size 3");
}

TEST(InvarianceSearch, RefusesToLookAtNoSamples) {
  const test::QuadraticObjective objective({Eigen::MatrixXd::Identity(3, 3)});
  for (const Eigen::Index none : {0, -1}) {
    test::expect_refusal([&] { find_invariances(objective, {.max_samples = none}); },
                         "find_invariances: max_samples must be at least 1, got ");
  }
}

}  // namespace
}  // namespace hesscope
