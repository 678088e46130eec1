// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <initializer_list>
#include <string>
#include <type_traits>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/mlp.h>
#include <hesscope/spectra/critical_point.h>

#include "support/closed_form_objectives.h"
#include "support/maxima.h"
#include "support/numbers.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;
using Outcome = CriticalPointOutcome;

// (x^2 - 1)^2 / 4 + y^2 / 2: minima at x = 1 and -1, a saddle at 0.
struct DoubleWell {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Eigen::Index /*sample*/) const {
    const T depth = x(0) * x(0) - 1.0;
    return 0.25 * depth * depth + 0.5 * x(1) * x(1);
  }
};

TEST(FindCriticalPoint, OfADoubleWellIsTheOneNearby) {
  const auto objective = make_objective(DoubleWell(), 2, 1);
  const auto leads_to = [&](const Vector2d& start, double x) {
    const CriticalPoint found = find_critical_point(objective, start);
    EXPECT_EQ(found.outcome, Outcome::kConverged);
    EXPECT_TRUE((found.theta - Vector2d(x, 0)).norm() <= 1e-12) << found.theta;
    EXPECT_TRUE(found.gradient_norm <= 1e-12);
    EXPECT_NEAR(found.loss, x == 0 ? 0.25 : 0, 1e-15);
    EXPECT_LE(found.num_iterations, 20);
  };
  leads_to({0.2, 0.3}, 0);
  leads_to({-0.3, -2}, 0);
  leads_to({0.9, 0.1}, 1);
  leads_to({-1.3, 5}, -1);
}

// log(1 + exp(-x)) falls for ever: its gradient passes any tolerance, and so does its curvature.
struct SeparableLoss {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Eigen::Index /*sample*/) const {
    using std::exp, std::log1p;
    return log1p(exp(-x(0)));
  }
};

TEST(FindCriticalPoint, TowardsInfinityVanishes) {
  const auto objective = make_objective(SeparableLoss(), 1, 1);
  const CriticalPoint found = find_critical_point(objective, Eigen::VectorXd::Constant(1, 5.0));
  EXPECT_EQ(found.outcome, Outcome::kVanishing);
  EXPECT_TRUE(found.gradient_norm <= 1e-12);
  EXPECT_GT(found.theta[0], 27);
}

// Another direction, which is determined, keeps ||H|| where it is.
struct PartlySeparableLoss {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Eigen::Index /*sample*/) const {
    using std::exp, std::log1p;
    return log1p(exp(-x(0))) + (x(1) - 1.0) * (x(1) - 1.0);
  }
};

TEST(FindCriticalPoint, TowardsInfinityInOneDirectionVanishes) {
  const auto objective = make_objective(PartlySeparableLoss(), 2, 1);
  const CriticalPoint found = find_critical_point(objective, Vector2d(5, 0.5));
  EXPECT_EQ(found.outcome, Outcome::kVanishing);
  EXPECT_GT(found.theta[0], 27);
  EXPECT_NEAR(found.theta[1], 1, 1e-12);
}

// x^4 has a minimum that steps approach slowly, and they get short.
struct Quartic {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Eigen::Index /*sample*/) const {
    return x(0) * x(0) * x(0) * x(0) + (x(1) - 1.0) * (x(1) - 1.0);
  }
};

TEST(FindCriticalPoint, ThatIsDegenerateConverges) {
  const auto objective = make_objective(Quartic(), 2, 1);
  const CriticalPoint found = find_critical_point(objective, Vector2d(0.1, 0.5));
  EXPECT_EQ(found.outcome, Outcome::kConverged);
  EXPECT_NEAR(found.theta[0], 0, 1e-4);
  EXPECT_NEAR(found.theta[1], 1, 1e-12);
}

// (x - 1)^K, expanded, so that its gradient has rounding of its own and lets no one come closer to
// 1 than eps^(1 / (K - 1)); and a direction that is determined.
template <int K>
struct ExpandedPower {
  double weight;

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Eigen::Index /*sample*/) const {
    T sum(0.0);
    T power(1.0);
    double coefficient = K % 2 == 0 ? 1 : -1;
    for (int k = 0; k <= K; ++k) {
      sum += coefficient * power;
      power = power * x(0);
      coefficient *= -static_cast<double>(K - k) / (k + 1);
    }
    return sum + weight * (x(1) - 0.2) * (x(1) - 0.2);
  }
};

template <int K>
void expect_degenerate_point(double resolution) {
  for (const double weight : {0.0, 0.5}) {
    const auto objective = make_objective(ExpandedPower<K>{weight}, 2, 1);
    for (const double start : {1.5, 1.1, 1.01, 0.97, 0.3}) {
      SCOPED_TRACE(start);
      const CriticalPoint found = find_critical_point(objective, Vector2d(start, 0.3));
      EXPECT_EQ(found.outcome, Outcome::kConverged);
      EXPECT_NEAR(found.theta[0], 1, resolution);
      ASSERT_EQ(found.rest.size(), 2);
      const double rest = 1 - found.theta[0];
      EXPECT_NEAR(found.rest[0], rest, 0.7 * std::abs(rest));
      EXPECT_NEAR(found.rest[1], 0, resolution);
    }
  }
}

TEST(FindCriticalPoint, ThatIsDegenerateConvergesAsFarAsRoundingAllows) {
  expect_degenerate_point<4>(3e-5);
  expect_degenerate_point<5>(5e-4);
  expect_degenerate_point<6>(3e-3);
}

// Steps towards infinity do not shrink, or less and less.
template <typename Loss>
void expect_vanishing(const Loss& loss, std::initializer_list<double> starts) {
  const auto objective = make_objective(
      [&](const auto& x, Eigen::Index /*sample*/) {
        using T = std::decay_t<decltype(x(0))>;
        return T(loss(x(0)) + (x(1) - 3.0) * (x(1) - 3.0));
      },
      2,
      1);
  for (const double start : starts) {
    SCOPED_TRACE(start);
    const CriticalPoint found = find_critical_point(objective, Vector2d(start, 0.5));
    EXPECT_EQ(found.outcome, Outcome::kVanishing);
    EXPECT_EQ(found.rest.size(), 0);
    EXPECT_GT(found.theta[0], start);
  }
}

TEST(FindCriticalPoint, TowardsInfinityHowsoeverVanishes) {
  using std::exp, std::tanh;
  expect_vanishing([](const auto& x) { return exp(-x); }, {1, 3, 5, 20, 29});
  expect_vanishing([](const auto& x) { return exp(-x * x); }, {1, 3, 5});
  expect_vanishing([](const auto& x) { return exp(-exp(x)); }, {1, 3});
  expect_vanishing([](const auto& x) { return 1.0 - tanh(x); }, {1, 3, 5});
  expect_vanishing([](const auto& x) { return exp(-100.0 * x); }, {0.01, 0.05, 0.2});
}

TEST(FindCriticalPoint, AtZeroIsOne) {
  const auto objective = make_objective(DoubleWell(), 2, 1);
  EXPECT_EQ(find_critical_point(objective, Vector2d(0, 0)).outcome, Outcome::kConverged);
  EXPECT_EQ(find_critical_point(objective, Vector2d(0, 1e-14)).outcome, Outcome::kConverged);
}

// (a b - 2)^2 / 2: the minima are a hyperbola, reached quadratically though H is singular there.
TEST(FindCriticalPoint, OnAManifoldConvergesQuadratically) {
  const GraphObjective objective = test::product_of_two({2});
  const CriticalPoint minimum = find_critical_point(objective, Vector2d(2.1, 1));
  EXPECT_EQ(minimum.outcome, Outcome::kConverged);
  EXPECT_NEAR(minimum.theta[0] * minimum.theta[1], 2, 1e-14);
  EXPECT_TRUE((minimum.theta - Vector2d(2.1, 1)).norm() < 0.1);
  EXPECT_LE(minimum.num_iterations, 8);
  const CriticalPoint saddle = find_critical_point(objective, Vector2d(0.1, 0.3));
  EXPECT_EQ(saddle.outcome, Outcome::kConverged);
  EXPECT_TRUE(saddle.theta.norm() <= 1e-12);
  EXPECT_NEAR(saddle.loss, 2, 1e-15);
}

// A critical point leads to itself. For some seeds, hidden units saturate instead: the gradient
// vanishes as their biases grow, until only rounding is left. For others, |g| falls too slowly.
TEST(FindCriticalPoint, IsFoundAgainFromItself) {
  const Model model = mlp(
      {.widths = {2, 3, 1}, .activation = Activation::kTanh, .loss = MlpLoss::kMeanSquaredError});
  const GraphObjective objective(model, test::Numbers(1).table(20, model.record_size()));
  int num_converged = 0;
  for (std::uint64_t seed = 1; seed <= 45; ++seed) {
    const VectorXd start = 0.5 * test::Numbers(seed).vector(model.num_parameters());
    const CriticalPoint found = find_critical_point(objective, start, {.max_iterations = 200});
    EXPECT_NEAR(found.gradient_norm, objective.gradient(found.theta).norm(), 1e-15);
    EXPECT_NEAR(found.loss, objective.value(found.theta), 1e-15);
    const bool is_vanishing = found.outcome == Outcome::kVanishing;
    const bool is_done = found.gradient_norm <= 1e-12;
    EXPECT_EQ(found.outcome == Outcome::kConverged || is_vanishing, is_done);
    EXPECT_EQ(is_vanishing, is_done && test::largest_magnitude(found.theta) > 10);
    if (found.outcome != Outcome::kConverged) continue;
    ++num_converged;
    const CriticalPoint again = find_critical_point(objective, found.theta);
    EXPECT_EQ(again.outcome, Outcome::kConverged);
    EXPECT_TRUE((again.theta - found.theta).norm() <= 1e-9 * found.theta.norm());
  }
  EXPECT_GE(num_converged, 10);
}

// x^3 / 3 + x has the gradient x^2 + 1, whose square is least at 0, where it is 1.
TEST(FindCriticalPoint, WhereThereIsNoneSaysSo) {
  const auto slope = make_objective(
      [](const auto& x, Eigen::Index /*sample*/) {
        using T = std::decay_t<decltype(x(0))>;
        return T(x(0) * x(0) * x(0) / 3.0 + x(0));
      },
      1,
      1);
  const CriticalPoint found = find_critical_point(slope, VectorXd::Ones(1));
  EXPECT_EQ(found.outcome, Outcome::kStalled);
  EXPECT_NEAR(found.theta[0], 0, 1e-3);
  EXPECT_NEAR(found.gradient_norm, 1, 1e-6);

  const auto well = make_objective(DoubleWell(), 2, 1);
  EXPECT_EQ(find_critical_point(well, Vector2d(5, 5), {.max_iterations = 1}).outcome,
            Outcome::kOutOfIterations);
  EXPECT_EQ(find_critical_point(well, Vector2d(kNaN, 0)).outcome, Outcome::kNonFinite);
  const auto edge = make_objective(
      [](const auto& x, Eigen::Index /*sample*/) {
        using T = std::decay_t<decltype(x(0))>;
        using std::cbrt;
        const T root = cbrt(x(1));
        return T(x(0) * x(0) + root * root);
      },
      2,
      1);
  EXPECT_TRUE(std::isnan(edge.gradient(Vector2d(0, 0))[1]));
  EXPECT_EQ(find_critical_point(edge, Vector2d(0, 0)).outcome, Outcome::kNonFinite);
  // What is one already takes no step.
  const CriticalPoint there = find_critical_point(well, Vector2d(0, 0), {.max_iterations = 0});
  EXPECT_EQ(there.outcome, Outcome::kConverged);
  EXPECT_EQ(there.num_iterations, 0);
  // Only a Hessian shows whether a point with a small gradient is near a critical point.
  const CriticalPoint beside = find_critical_point(well, Vector2d(5e-13, 0), {.max_iterations = 0});
  EXPECT_LE(beside.gradient_norm, CriticalPointOptions().gradient_tolerance);
  EXPECT_EQ(beside.outcome, Outcome::kOutOfIterations);
}

TEST(FindCriticalPoint, RefusesWhatDoesNotFit) {
  const auto well = make_objective(DoubleWell(), 2, 1);
  test::expect_refusal([&] { find_critical_point(well, VectorXd::Zero(3)); },
                       "find_critical_point");
  test::expect_refusal(
      [&] { find_critical_point(well, Vector2d(1, 1), {.gradient_tolerance = 0}); },
      "gradient_tolerance");
}

}  // namespace
}  // namespace hesscope
