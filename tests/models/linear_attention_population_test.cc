// SPDX-License-Identifier: BSD-3-Clause
//
// The closed form against the mean of linear_attention()'s loss over prompts that are nodes of
// quadrature rules: its polynomials are of degrees that those integrate exactly.
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <ostream>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/linear_attention_population.h>
#include <hesscope/objective/graph_objective.h>

#include "support/maxima.h"
#include "support/numbers.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

enum class TokenLaw { kNormal, kOnSphere, kGammaRadius };

constexpr double kShape = 0.75, kScale = 1.5;  // of kGammaRadius

struct WeightedNode {
  VectorXd at;
  double weight = 1;
};

// All pairs of a node of one rule and a node of another.
std::vector<WeightedNode> product(const std::vector<WeightedNode>& a,
                                  const std::vector<WeightedNode>& b) {
  std::vector<WeightedNode> all;
  for (const WeightedNode& x : a) {
    for (const WeightedNode& y : b) {
      VectorXd both(x.at.size() + y.at.size());
      both << x.at, y.at;
      all.push_back({both, x.weight * y.weight});
    }
  }
  return all;
}

// For N(0, I_d), d 1 or 2: exact to degree 5 in each entry.
std::vector<WeightedNode> gaussian_rule(Index d) {
  const auto one = [](double x) { return VectorXd::Constant(1, x).eval(); };
  const double root = std::sqrt(3.0);
  const std::vector<WeightedNode> line = {
      {one(0), 2.0 / 3}, {one(root), 1.0 / 6}, {one(-root), 1.0 / 6}};
  return d == 1 ? line : product(line, line);
}

// For the unit sphere: exact to degree 5.
std::vector<WeightedNode> sphere_rule(Index d) {
  std::vector<WeightedNode> rule;
  const int count = d == 1 ? 2 : 6;
  for (int k = 0; k < count; ++k) {
    const double angle = 2 * std::numbers::pi * k / count;
    VectorXd at(d);
    at[0] = std::cos(angle);
    if (d == 2) at[1] = std::sin(angle);
    rule.push_back({at, 1.0 / count});
  }
  return rule;
}

// For sqrt(r) u: Gauss and Laguerre's rule with two nodes in r, exact to degree 3.
std::vector<WeightedNode> gamma_rule(Index d) {
  const double low = kShape + 1 - std::sqrt(kShape + 1);
  const double high = kShape + 1 + std::sqrt(kShape + 1);
  const double weight = (high - kShape) / (high - low);  // of `low`: the mean is kShape
  std::vector<WeightedNode> rule;
  for (const WeightedNode& u : sphere_rule(d)) {
    rule.push_back({std::sqrt(kScale * low) * u.at, weight * u.weight});
    rule.push_back({std::sqrt(kScale * high) * u.at, (1 - weight) * u.weight});
  }
  return rule;
}

std::vector<WeightedNode> token_rule(TokenLaw law, Index d) {
  return law == TokenLaw::kNormal     ? gaussian_rule(d)
         : law == TokenLaw::kOnSphere ? sphere_rule(d)
                                      : gamma_rule(d);
}

LinearAttentionPopulationOptions population_of(TokenLaw law,
                                               Index d,
                                               LinearAttentionParametrization parametrization) {
  const auto e = static_cast<double>(d);
  switch (law) {
    case TokenLaw::kNormal:
      return {d, parametrization, e, e * (e + 2)};
    case TokenLaw::kOnSphere:
      return {d, parametrization, 1, 1};
    case TokenLaw::kGammaRadius:
      return {d, parametrization, kShape * kScale, kShape * (kShape + 1) * kScale * kScale};
  }
  throw PreconditionError("population_of: unknown law");
}

// Nodes in (w, x_1, ..., x_{n+1}) as prompts and their weights.
struct Prompts {
  SampleTable table;
  VectorXd weights;
};

Prompts quadrature_prompts(TokenLaw law, Index d, Index n) {
  std::vector<WeightedNode> nodes = gaussian_rule(d);
  for (Index t = 0; t <= n; ++t) nodes = product(nodes, token_rule(law, d));
  Prompts prompts = {SampleTable::Zero(std::ssize(nodes), (d + 1) * (n + 1) + 1),
                     VectorXd(std::ssize(nodes))};
  for (Index i = 0; i < prompts.weights.size(); ++i) {
    const WeightedNode& node = nodes[static_cast<std::size_t>(i)];
    const VectorXd w = node.at.head(d);
    const auto entry = [&](Index row, Index token) -> double& {
      return prompts.table(i, row * (n + 1) + token);
    };
    for (Index t = 0; t <= n; ++t) {
      const VectorXd x = node.at.segment(d * (t + 1), d);
      for (Index r = 0; r < d; ++r) entry(r, t) = x[r];
      (t < n ? entry(d, t) : prompts.table(i, prompts.table.cols() - 1)) = w.dot(x);
    }
    prompts.weights[i] = node.weight;
  }
  return prompts;
}

struct LawCase {
  std::string name;
  TokenLaw law;
  Index d, n;
};

void PrintTo(const LawCase& c, std::ostream* out) { *out << c.name; }

class LinearAttentionPopulation : public testing::TestWithParam<LawCase> {};

TEST_P(LinearAttentionPopulation, IsTheMeanOverAllPrompts) {
  const auto& [name, law, d, n] = GetParam();
  const Prompts prompts = quadrature_prompts(law, d, n);
  for (const auto parametrization : {LinearAttentionParametrization::kSparse,
                                     LinearAttentionParametrization::kFull,
                                     LinearAttentionParametrization::kSplitQk,
                                     LinearAttentionParametrization::kSparseSplitQk}) {
    SCOPED_TRACE(static_cast<int>(parametrization));
    const GraphObjective drawn(
        linear_attention(
            {.layers = 1, .dimension = d, .context = n, .parametrization = parametrization}),
        prompts.table);
    const GraphObjective exact(linear_attention_population(population_of(law, d, parametrization)),
                               SampleTable::Constant(1, 1, static_cast<double>(n)));
    ASSERT_EQ(exact.num_parameters(), drawn.num_parameters());
    const VectorXd theta = test::Numbers(5).vector(exact.num_parameters());
    double value = 0;
    VectorXd gradient = VectorXd::Zero(theta.size());
    MatrixXd hessian = MatrixXd::Zero(theta.size(), theta.size());
    for (Index i = 0; i < prompts.weights.size(); ++i) {
      const auto at = drawn.value_and_gradient(theta, {i, i + 1});
      value += prompts.weights[i] * at.value;
      gradient += prompts.weights[i] * at.gradient;
      hessian += prompts.weights[i] * drawn.hessian(theta, {i, i + 1}, {});
    }
    const auto found = exact.value_and_gradient(theta, {0, 1});
    EXPECT_LE(std::abs(found.value - value), 1e-13 * std::abs(value));
    EXPECT_LE((found.gradient - gradient).norm(), 1e-13 * gradient.norm());
    EXPECT_LE((exact.hessian(theta) - hessian).norm(), 1e-13 * hessian.norm());
  }
}

INSTANTIATE_TEST_SUITE_P(Laws,
                         LinearAttentionPopulation,
                         testing::Values(LawCase{"Gaussian1", TokenLaw::kNormal, 1, 2},
                                         LawCase{"Gaussian2", TokenLaw::kNormal, 2, 1},
                                         LawCase{"Sphere1", TokenLaw::kOnSphere, 1, 3},
                                         LawCase{"Sphere2", TokenLaw::kOnSphere, 2, 1},
                                         LawCase{"Gamma1", TokenLaw::kGammaRadius, 1, 2},
                                         LawCase{"Gamma2", TokenLaw::kGammaRadius, 2, 1}),
                         [](const auto& instance) { return instance.param.name; });

TEST(LinearAttentionPopulationHessian, OfTheSparseFormIsAMultipleOfTheIdentity) {
  constexpr Index kD = 5;
  constexpr double kN = 20;
  const GraphObjective objective(
      linear_attention_population(
          population_of(TokenLaw::kNormal, kD, LinearAttentionParametrization::kSparse)),
      SampleTable::Constant(1, 1, kN));
  MatrixXd expected = MatrixXd::Zero(50, 50);
  expected.bottomRightCorner(25, 25) = 2 * (kN + kD + 1) / kN * MatrixXd::Identity(25, 25);
  for (const std::uint64_t seed : {1U, 2U}) {
    const MatrixXd found = objective.hessian(test::Numbers(seed).vector(50));
    EXPECT_LE(test::largest_difference(found, expected), 1e-14);
  }
}

TEST(LinearAttentionPopulationLoss, IsTheMeanOverLengthsOfContextAndSeesTheProductOfPAndQ) {
  const Model model = linear_attention_population(
      population_of(TokenLaw::kGammaRadius, 3, LinearAttentionParametrization::kFull));
  const GraphObjective both(model, SampleTable(Eigen::Vector2d(4, 9)));
  VectorXd theta = test::Numbers(3).vector(both.num_parameters());
  const double value = both.value(theta);
  const auto of = [&](double n) {
    return GraphObjective(model, SampleTable::Constant(1, 1, n)).value(theta);
  };
  EXPECT_NEAR(value, (of(4) + of(9)) / 2, 1e-14 * std::abs(value));
  EXPECT_GT(std::abs(of(4) - of(9)), 1e-3 * std::abs(value));
  theta.head(16) *= 4;
  theta.tail(16) /= 4;
  EXPECT_NEAR(both.value(theta), value, 1e-14 * std::abs(value));
}

TEST(LinearAttentionPopulationOptionsTest, RefuseWhatAreNoMomentsOfALaw) {
  const auto with = [](std::int64_t d, double second, double fourth) {
    return [=] {
      linear_attention_population({d, LinearAttentionParametrization::kSparse, second, fourth});
    };
  };
  EXPECT_NO_THROW(with(2, 1, 1)());
  for (const auto& bad : std::vector<std::function<void()>>{with(0, 1, 3),
                                                            with(2, 0, 1),
                                                            with(2, NAN, 1),
                                                            with(2, 1, INFINITY),
                                                            with(2, 1, NAN),
                                                            with(2, 2, 3.9)}) {
    test::expect_refusal<PreconditionError>(bad, "and the moments of a law");
  }
}

}  // namespace
}  // namespace hesscope
