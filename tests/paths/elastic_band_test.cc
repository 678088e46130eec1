// SPDX-License-Identifier: BSD-3-Clause
//
// Bands come to rest on minimum-energy paths that are known on paper or published.
#include <cmath>
#include <numbers>
#include <optional>
#include <type_traits>

#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/objective/functor_objective.h>
#include <hesscope/paths/elastic_band.h>
#include <hesscope/spectra/critical_point.h>

#include "paths/passes.h"
#include "support/closed_form_objectives.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

BandState at_rest(const ElasticBand& band, const VectorXd& first, const VectorXd& second) {
  BandState state = band.straight(first, second);
  while (!state.is_done() && state.num_steps < 20000) band.advance(state, 500);
  return state;
}

TEST(ElasticBand, ComesToRestOnTheArcBetweenTwoWells) {
  const auto objective = test::three_wells();
  const ElasticBand band(objective, {.num_images = 41, .tolerance = 1e-8, .num_threads = 1});
  const BandState state = at_rest(band, test::well(0), test::well(1));
  ASSERT_EQ(state.outcome, BandOutcome::kConverged);
  // Tangents point to the higher neighbour, half a piece away: the loss's slope along the arc, at
  // most 3 h, pulls by the angle between them against 2 k (r - 1). So images are off by the first
  // order of pieces, but for the pass.
  const double piece = 2 * std::numbers::pi / 3 / 40;
  const double off =
      1.1 * 3 * test::ThreeWells::kHeight / (2 * test::ThreeWells::kStiffness) * piece / 2;
  const VectorXd arc = state.arc_lengths();
  EXPECT_NEAR(arc[40], 2 * std::numbers::pi / 3, 2 * std::numbers::pi / 3 * off);
  for (Index i = 0; i <= 40; ++i) {
    EXPECT_NEAR(state.images.col(i).norm(), 1, off) << i;
    const double angle = std::atan2(state.images(1, i), state.images(0, i));
    EXPECT_NEAR(state.losses[i],
                -test::ThreeWells::kHeight * std::cos(3 * angle),
                test::ThreeWells::kStiffness * off * off)
        << i;
  }
  const ElasticBand finer(objective, {.num_images = 81, .tolerance = 1e-8, .num_threads = 1});
  const double length = at_rest(finer, test::well(0), test::well(1)).arc_lengths()[80];
  const double exact = 2 * std::numbers::pi / 3;
  EXPECT_NEAR((exact - length) / (exact - arc[40]), 0.5, 0.05);
  // Images at even distances, apart from the climbing one, whose neighbours hang on to it.
  const std::optional<Index> top = state.highest();
  ASSERT_EQ(top, 20);
  for (Index i = 1; i < 40; ++i) {
    if (i == *top) continue;
    EXPECT_NEAR(arc[i + 1] - arc[i], arc[i] - arc[i - 1], 1e-3 * piece) << i;
  }
  // It has climbed to the saddle, as far as its force says, and Newton's method goes the rest of
  // the way.
  const Vector2d saddle(0.5, std::sqrt(3) / 2);
  EXPECT_NEAR((state.images.col(*top) - saddle).norm(), 0, 1e-7);
  const CriticalPoint pass = find_critical_point(objective, state.images.col(*top));
  EXPECT_EQ(pass.outcome, CriticalPointOutcome::kConverged);
  EXPECT_NEAR((pass.theta - saddle).norm(), 0, 1e-14);
  EXPECT_NEAR(pass.loss, test::ThreeWells::kHeight, 1e-15);
}

TEST(ElasticBand, FindsTheHigherOfTwoPassesOfMuellerAndBrown) {
  const auto objective = test::mueller_brown();
  const VectorXd first = find_critical_point(objective, Vector2d(-0.558, 1.442)).theta;
  const VectorXd second = find_critical_point(objective, Vector2d(0.623, 0.028)).theta;
  EXPECT_NEAR(objective.value(first), -146.700, 5e-4);
  EXPECT_NEAR(objective.value(second), -108.167, 5e-4);
  const ElasticBand band(objective, {.num_images = 31, .tolerance = 1e-6, .num_threads = 1});
  const BandState state = at_rest(band, first, second);
  ASSERT_EQ(state.outcome, BandOutcome::kConverged);
  ASSERT_TRUE(state.highest().has_value());
  const VectorXd top = state.images.col(*state.highest());
  EXPECT_NEAR(objective.gradient(top).norm(), 0, 2e-3);
  const CriticalPoint pass = find_critical_point(objective, top);
  EXPECT_NEAR(pass.loss, -40.665, 5e-4);
  EXPECT_NEAR(pass.theta[0], -0.822, 5e-4);
  EXPECT_NEAR(pass.theta[1], 0.624, 5e-4);
  EXPECT_NEAR((pass.theta - top).norm(), 0, 1e-5);
  // The path continues through the middle minimum's basin and over the second, lower pass.
  int num_tops = 0;
  for (Index i = 1; i < 30; ++i) {
    if (state.losses[i] > state.losses[i - 1] && state.losses[i] > state.losses[i + 1]) ++num_tops;
  }
  EXPECT_EQ(num_tops, 2);
}

// A bump that is narrower than the images are apart, and sharper than where the curvature was
// taken: each climb to it oversteps. With one parameter there is no force across.
TEST(ElasticBand, IsAtRestWhereNothingIsLeftButClimbsInVain) {
  const auto bump = [](const auto& theta, Index /*sample*/) {
    using std::exp;
    const auto place = (theta(0) - 0.53) / 0.008;
    return exp(-place * place) + 0.1 * theta(0) * (1.0 - theta(0));
  };
  const auto objective = make_objective(bump, 1, 1);
  const ElasticBand band(objective, {.num_images = 17, .num_threads = 1});
  BandState state = band.straight(VectorXd::Zero(1), VectorXd::Ones(1));
  band.advance(state, 2000);
  EXPECT_EQ(state.outcome, BandOutcome::kConverged);
  EXPECT_EQ(state.force, 0);
  EXPECT_EQ(state.climbing, -1);
  EXPECT_GT(state.num_vain_climbs, 1);
  EXPECT_LT(state.num_steps, 1000);
}

// A valley between two points of a convex function: the band has no highest point, and none climbs.
TEST(ElasticBand, HasNoPassWhereTheLossIsConvex) {
  MatrixXd h = MatrixXd::Zero(2, 2);
  h.diagonal() << 1, 50;
  const test::QuadraticObjective objective({h});
  const ElasticBand band(objective, {.num_images = 11, .num_threads = 1});
  const BandState state = at_rest(band, Vector2d(-1, 0.2), Vector2d(2, -0.1));
  EXPECT_EQ(state.outcome, BandOutcome::kConverged);
  EXPECT_FALSE(state.highest().has_value());
  EXPECT_EQ(state.climbing, -1);
  EXPECT_NEAR(state.curvature, 50, 1e-6);
}

TEST(ElasticBand, IsAtRestWhereTheStraightPathIsAlready) {
  MatrixXd h = MatrixXd::Zero(2, 2);
  h.diagonal() << -1, 3;  // a ridge along the first axis, straight over the origin
  const test::QuadraticObjective objective({h});
  const ElasticBand band(objective, {.num_images = 5, .num_threads = 1});
  BandState state = band.straight(Vector2d(-1, 0), Vector2d(1, 0));
  if (!state.is_done()) band.advance(state, 10);
  EXPECT_EQ(state.outcome, BandOutcome::kConverged);
  EXPECT_EQ(state.highest(), 2);
  EXPECT_EQ(state.images(1, 2), 0);
}

// (u^2 - 1)^2 + (u - u^3 / 3) / 10 + v^2: nothing pulls across the straight path, and the highest
// image still has to climb along it.
struct StraightValley {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Index /*sample*/) const {
    const T u = x(0);
    const T well = u * u - 1.0;
    return well * well + 0.1 * (u - u * u * u / 3.0) + x(1) * x(1);
  }
};

TEST(ElasticBand, ClimbsWhereTheStraightPathIsTheValley) {
  const auto objective = make_objective(StraightValley(), 2, 1);
  for (const Index num_images : {5, 8, 17}) {
    const ElasticBand band(objective, {.num_images = num_images, .num_threads = 1});
    const BandState state = at_rest(band, Vector2d(-1, 0), Vector2d(1, 0));
    EXPECT_EQ(state.outcome, BandOutcome::kConverged) << num_images;
    ASSERT_TRUE(state.highest().has_value());
    // u (u^2 - 1) 4 + (1 - u^2) / 10 = 0 at u = 1/40.
    EXPECT_NEAR(state.images(0, *state.highest()), 0.025, 1e-3) << num_images;
    EXPECT_EQ(state.images.row(1).norm(), 0) << num_images;
  }
}

TEST(ElasticBand, TakesTwentyStepsAsTenAndTen) {
  const auto objective = test::three_wells();
  const ElasticBand band(objective, {.num_images = 9, .num_threads = 1});
  BandState once = band.straight(test::well(0), test::well(1));
  BandState twice = once;
  band.advance(once, 20);
  band.advance(twice, 10);
  band.advance(twice, 10);
  EXPECT_EQ(once.images, twice.images);
  EXPECT_EQ(once.velocities, twice.velocities);
  EXPECT_EQ(once.force, twice.force);
  EXPECT_EQ(once.num_steps, 20);
  const ElasticBand threads(objective, {.num_images = 9, .num_threads = 3});
  BandState other = threads.straight(test::well(0), test::well(1));
  threads.advance(other, 20);
  EXPECT_EQ(once.images, other.images);
}

// The wells by a power of two lower.
struct ShallowWells {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Index sample) const {
    return 0x1p-664 * test::ThreeWells()(x, sample);
  }
};

// Squares of such forces are below the least double.
TEST(ElasticBand, ComesToRestWhateverTheSizeOfForces) {
  const ElasticBand::Options options = {.num_images = 9, .num_threads = 1};
  const auto wells = test::three_wells();
  const auto shallow = make_objective(ShallowWells(), 2, 1);
  const BandState deep = at_rest(ElasticBand(wells, options), test::well(0), test::well(1));
  const BandState state = at_rest(ElasticBand(shallow, options), test::well(0), test::well(1));
  EXPECT_EQ(state.outcome, BandOutcome::kConverged);
  EXPECT_TRUE(state.images.isApprox(deep.images, 1e-9));
}

// Nor are there losses that would show which image is higher.
TEST(ElasticBand, ComesToRestWhateverItsLength) {
  MatrixXd h = MatrixXd::Zero(2, 2);
  h.diagonal() << 1, 50;
  const test::QuadraticObjective objective({h});
  const ElasticBand band(objective, {.num_images = 11, .num_threads = 1});
  const BandState state = at_rest(band, 1e-200 * Vector2d(-1, 0.2), 1e-200 * Vector2d(2, -0.1));
  EXPECT_EQ(state.outcome, BandOutcome::kConverged);
  EXPECT_TRUE(state.num_steps < 100);
}

TEST(ElasticBand, OfOnePointIsAtRestThere) {
  const auto objective = test::three_wells();
  const Vector2d far(0.4, 0.3);  // where the loss is steep
  const ElasticBand band(objective, {.num_images = 5, .num_threads = 1});
  for (const Vector2d& end : {far, Vector2d(far * (1 + 1e-12))}) {
    const BandState state = band.straight(far, end);
    EXPECT_EQ(state.outcome, BandOutcome::kConverged);
    EXPECT_EQ(state.num_steps, 0);
    EXPECT_EQ(state.force, 0);
    EXPECT_FALSE(state.highest().has_value());
  }
}

// Along a valley that is level losses differ by rounding.
TEST(ElasticBand, IsHighestWhereItIsAboveBothEndsBeyondRounding) {
  BandState state;
  state.images = MatrixXd::Zero(1, 4);
  state.losses = VectorXd::Constant(4, 0.7);
  EXPECT_FALSE(state.highest().has_value());
  state.losses[2] *= 1 + 4e-15;
  EXPECT_FALSE(state.highest().has_value());
  state.losses[2] = 0.7 + 1e-12;
  EXPECT_EQ(state.highest(), 2);
  state.losses[3] = state.losses[2];
  EXPECT_FALSE(state.highest().has_value());
  state.losses.setZero();
  state.losses[1] = 1e-300;
  EXPECT_EQ(state.highest(), 1);
}

TEST(ElasticBand, SaysWhereTheLossIsNotFinite) {
  const auto objective = test::three_wells();
  const ElasticBand band(objective, {.num_images = 5, .num_threads = 1});
  // The middle image is at the origin, where the angle is undefined.
  const BandState state = band.straight(Vector2d(-1, 0), Vector2d(1, 0));
  EXPECT_EQ(state.outcome, BandOutcome::kNonFinite);
  EXPECT_TRUE(std::isnan(state.force));
}

TEST(ElasticBand, RefusesWhatIsNoBand) {
  const auto objective = test::three_wells();
  // It refers to the objective: of a temporary nothing would be left.
  using Options = const ElasticBand::Options&;
  static_assert(std::is_constructible_v<ElasticBand, const Objective&, Options>);
  static_assert(!std::is_constructible_v<ElasticBand, Objective&&, Options>);
  EXPECT_THROW(ElasticBand(objective, {.num_images = 2}), PreconditionError);
  EXPECT_THROW(ElasticBand(objective, {.tolerance = 0}), PreconditionError);
  EXPECT_THROW(ElasticBand(objective, {.tolerance = kNaN}), PreconditionError);
  const ElasticBand band(objective, {.num_images = 5});
  test::expect_refusal([&] { band.straight(VectorXd::Zero(3), Vector2d(1, 0)); }, "2 numbers");
}

}  // namespace
}  // namespace hesscope
