// SPDX-License-Identifier: BSD-3-Clause
//
// The Gauss-Newton matrix of a GraphObjective as an operation on samples; what it is made of is
// tested with the models.
#include <algorithm>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/models/mlp.h>
#include <hesscope/objective/functor_objective.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/internal/gauss_newton_mean.h>

#include "support/numbers.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using test::expect_refusal;
using test::kEpsilon;

// For the generic sweep four blocks of samples, the last one short, and seven groups of columns,
// the last one of seven. For the sum by factors two chunks of samples and three tiles.
constexpr Eigen::Index kSamples = 200;

// The parameter: whether the sum by factors is used.
class GaussNewtonTest : public testing::TestWithParam<bool> {
 protected:
  const Model model = mlp({.widths = {3, 4, 3, 6}, .loss = MlpLoss::kMeanSquaredError});
  const Eigen::Index n = model.num_parameters();
  const SampleTable samples = test::Numbers(161).table(kSamples, model.record_size());
  const Eigen::VectorXd theta = test::Numbers(162).vector(n);
  const Eigen::MatrixXd V = test::Numbers(163).table(n, 11);
  const GraphObjective objective = of(samples);

  GraphObjective of(const SampleTable& table, int num_threads = 0) const {
    return {model, table, {.num_threads = num_threads, .use_structure = GetParam()}};
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, GaussNewtonTest, testing::Bool(), [](const auto& instance) {
  return std::string(instance.param ? "ByFactors" : "Generic");
});

TEST_P(GaussNewtonTest, IsBitIdenticalForAnyNumberOfThreads) {
  const GraphObjective one = of(samples, 1);
  for (const SampleRange range : {SampleRange{0, kSamples}, {3, 140}, {7, 8}}) {
    const Eigen::MatrixXd G = one.gauss_newton(theta, range, {});
    EXPECT_EQ(G, G.transpose().eval());
    for (const int threads : {2, 3, 4}) {
      const GraphObjective many = of(samples, threads);
      for (int repetition = 0; repetition < 3; ++repetition) {
        EXPECT_EQ(many.gauss_newton(theta, range, {}), G);
        EXPECT_EQ(many.gauss_newton_times(theta, V, range),
                  one.gauss_newton_times(theta, V, range));
      }
    }
  }
}

TEST_P(GaussNewtonTest, IsTheSameBothWays) {
  ASSERT_TRUE(detail::factors_pay(*model.graph));
  const GraphObjective other(model, samples, {.use_structure = !GetParam()});
  for (const SampleRange range : {SampleRange{0, kSamples}, {3, 140}, {7, 8}, {10, 18}}) {
    const Eigen::MatrixXd expected = other.gauss_newton(theta, range, {});
    EXPECT_TRUE((objective.gauss_newton(theta, range, {}) - expected).norm() <=
                16 * kEpsilon * expected.norm());
  }
}

TEST_P(GaussNewtonTest, GivesProductsThatDoNotDependOnTheirNeighbours) {
  const Eigen::MatrixXd G = objective.gauss_newton(theta);
  const Eigen::MatrixXd all = objective.gauss_newton_times(theta, V);
  EXPECT_TRUE((all - G * V).norm() <= 64 * kEpsilon * G.norm() * V.norm());
  for (const Eigen::Index k : {0, 7, 8, 10}) {
    EXPECT_EQ(objective.gauss_newton_times(theta, V.col(k)), all.col(k));
  }
  EXPECT_EQ(objective.gauss_newton_times(theta, V.leftCols(0)).cols(), 0);
}

TEST_P(GaussNewtonTest, IsTheMeanOverItsSamples) {
  for (const Eigen::Index count : {1, 2, 3, 8, 9, 64, 65}) {
    SCOPED_TRACE(count);
    Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(n, n);
    for (Eigen::Index i = 0; i < count; ++i) {
      mean += objective.gauss_newton(theta, {i, i + 1}, {}) / static_cast<double>(count);
    }
    const Eigen::MatrixXd G = objective.gauss_newton(theta, {0, count}, {});
    EXPECT_TRUE((G - mean).norm() <= 64 * kEpsilon * mean.norm());
    // A sub-range of the larger table is the same computation.
    const GraphObjective first = of(samples.topRows(count));
    EXPECT_EQ(first.gauss_newton(theta), G);
  }
}

TEST_P(GaussNewtonTest, SeesOnlyTheSamplesOfItsRangeAndLosesNoneOfThem) {
  const double nan = kNaN;
  SampleTable elsewhere = samples;
  elsewhere.topRows(10).setConstant(nan);
  elsewhere.bottomRows(kSamples - 91).setConstant(nan);
  const GraphObjective surrounded = of(elsewhere);
  const SampleRange range{10, 91};
  EXPECT_EQ(surrounded.gauss_newton(theta, range, {}), objective.gauss_newton(theta, range, {}));
  const SampleRange one_more{10, 92};
  EXPECT_TRUE(surrounded.gauss_newton(theta, one_more, {}).array().isNaN().all());
  EXPECT_TRUE(surrounded.gauss_newton_times(theta, V, one_more).array().isNaN().all());
}

TEST_P(GaussNewtonTest, DoesNotSeeTheTargetsOfLeastSquares) {
  // d2l/dz2 is 2/6 I whatever the target: G, unlike H, is a function of inputs and weights alone.
  SampleTable other = samples;
  other.rightCols(6) = test::Numbers(164).table(kSamples, 6);
  const GraphObjective moved = of(other);
  EXPECT_EQ(moved.gauss_newton(theta), objective.gauss_newton(theta));
  EXPECT_GT((moved.hessian(theta) - objective.hessian(theta)).norm(), 1e-3);
}

TEST_P(GaussNewtonTest, ReportsProgressAndStops) {
  std::vector<double> fractions;
  of(samples, 1).gauss_newton(theta, {0, kSamples}, [&](double fraction) {
    fractions.push_back(fraction);
    return true;
  });
  // Three tiles for each of two chunks; seven blocks of columns for each of four of samples.
  ASSERT_EQ(fractions.size(), GetParam() ? 6U : 28U);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_LT(fractions.front(), 1);
  EXPECT_EQ(fractions.back(), 1);
  EXPECT_THROW(objective.gauss_newton(theta, {0, kSamples}, [](double) { return false; }),
               Interrupted);
}

TEST_P(GaussNewtonTest, RefusesWhatBreaksItsPreconditions) {
  const Eigen::VectorXd longer = Eigen::VectorXd::Zero(n + 1);
  const std::string size = ": theta must have 55 entries, got 56";
  expect_refusal([&] { objective.gauss_newton(longer); }, "gauss_newton" + size);
  expect_refusal([&] { objective.gauss_newton_times(longer, V); }, "gauss_newton_times" + size);
  expect_refusal([&] { objective.gauss_newton_times(theta, longer); },
                 "gauss_newton_times: directions must have 55 rows, got 56");
  expect_refusal(
      [&] {
        objective.gauss_newton(theta, {2, 2}, {});
      },
      "gauss_newton: [2, 2) is not a non-empty range");
  expect_refusal(
      [&] {
        objective.gauss_newton_times(theta, V, {0, 201});
      },
      "gauss_newton_times: [0, 201) is not a non-empty range");
}

TEST(GaussNewton, NeedsADeclaredPrediction) {
  const std::string what =
      ": the Gauss-Newton matrix needs an objective that declares a prediction";
  ModelBuilder b("cubic");
  const Var x = b.parameter("x", {1});
  const Var data = b.array("data", {});
  const GraphObjective of_graph{b.finish(hadamard(x, square(x)) + data), SampleTable::Zero(1, 1)};
  const auto of_callable =
      make_objective([](const auto& theta, Eigen::Index) { return theta(0) * theta(0); }, 1, 1);
  const Eigen::VectorXd theta = Eigen::VectorXd::Constant(1, 2.0);
  for (const Objective* objective :
       {static_cast<const Objective*>(&of_graph), static_cast<const Objective*>(&of_callable)}) {
    EXPECT_FALSE(objective->has_gauss_newton());
    expect_refusal([&] { objective->gauss_newton(theta); }, "gauss_newton" + what);
    expect_refusal([&] { objective->gauss_newton_times(theta, theta); },
                   "gauss_newton_times" + what);
  }
}

}  // namespace
}  // namespace hesscope
