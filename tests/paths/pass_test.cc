// SPDX-License-Identifier: BSD-3-Clause
//
// The pass of a path if there is none, or if the search for it ends elsewhere.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numbers>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/objective/functor_objective.h>
#include <hesscope/paths/internal/path_quantities.h>
#include <hesscope/paths/internal/path_records.h>
#include <hesscope/paths/internal/path_summary.h>
#include <hesscope/spectra/critical_point.h>

#include "support/quadratic_objective.h"

namespace hesscope {
namespace {

using Eigen::RowVector3d;
using Eigen::VectorXd;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// It rises towards infinity, where gradient and curvature vanish together.
struct Plateau {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Eigen::Index /*sample*/) const {
    using std::exp;
    return -exp(-x(0));
  }
};

// A valley along v = sin(u) / 2 over two passes, the higher one narrower than images are apart.
struct TwoPasses {
  template <typename T>
  static T along(const T& u) {
    using std::exp;
    const T wide = (u + 1.0) / 0.6;
    const T narrow = (u - 1.2) / 0.3;
    return exp(-wide * wide) + 1.3 * exp(-narrow * narrow) +
           0.02 * (u * u * u * u / 4.0 - 8.0 * u * u);
  }

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Eigen::Index /*sample*/) const {
    using std::sin;
    const T across = x(1) - 0.5 * sin(x(0));
    return along(x(0)) + 3.0 * across * across;
  }
};

struct Wave {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Eigen::Index /*sample*/) const {
    using std::sin;
    return sin(x(0));
  }
};

std::string word_of(const Variable& flag) {
  return flag.flag_meanings.at(static_cast<std::size_t>(flag.number()));
}

// A band of three images at rest on a line.
BandState band_of(const RowVector3d& images, const VectorXd& losses) {
  BandState state;
  state.images = images;
  state.losses = losses;
  state.outcome = BandOutcome::kConverged;
  return state;
}

PathResult judged(const Group& saddle, const BandState& state) {
  const Group band = detail::band_summary(state);
  Group scalars = detail::joined_scalars({&saddle, &band});
  scalars["alignment_error"].set(0);
  PathResult result;
  detail::judge(scalars, {}, result);
  return result;
}

TEST(Pass, IsNotWhereTheSearchEndsByVanishing) {
  const auto objective = make_objective(Plateau(), 1, 1);
  BandState state = band_of({-1, 2, 1}, VectorXd(3));
  for (int i = 0; i < 3; ++i) state.losses[i] = objective.value(state.images.col(i));
  const Group saddle = detail::saddle_record(objective, state, {});
  EXPECT_EQ(word_of(saddle["saddle_outcome"]), "vanishing");
  EXPECT_EQ(saddle["barrier"].status(), Status::kFailed);
  const PathResult result = judged(saddle, state);
  EXPECT_FALSE(result.is_conclusive);
  EXPECT_THAT(result.warnings,
              Contains(HasSubstr("from a maximum of the band, ended as vanishing")));
}

TEST(Pass, IsNotSoughtWhereNoImageIsAboveBothEndsBeyondRounding) {
  const auto objective = make_objective(Plateau(), 1, 1);
  const BandState state = band_of({0, 1, 2}, Eigen::Vector3d(0.7, 0.7 * (1 + 1e-15), 0.7));
  const Group saddle = detail::saddle_record(objective, state, {});
  EXPECT_EQ(word_of(saddle["saddle_outcome"]), "no_pass");
  EXPECT_EQ(saddle["barrier"].number(), 0);
  const PathResult result = judged(saddle, state);
  EXPECT_TRUE(result.is_conclusive);
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(Pass, IsTheHighestOneThoughImagesStandOnBothSidesOfIt) {
  const auto objective = make_objective(TwoPasses(), 2, 1);
  const auto minimum = [&](double u) {
    return find_critical_point(objective, Eigen::Vector2d(u, 0.5 * std::sin(u))).theta;
  };
  const ElasticBand band(objective, {.num_images = 17, .num_threads = 1});
  BandState state = band.straight(minimum(-4), minimum(4));
  band.advance(state, 5000);
  ASSERT_EQ(state.outcome, BandOutcome::kConverged);
  const auto pass_near = [&](double u) {
    return find_critical_point(objective, Eigen::Vector2d(u, 0.5 * std::sin(u))).loss;
  };
  const double higher = pass_near(1.188);
  ASSERT_GT(higher, pass_near(-0.948) + 0.2);
  ASSERT_LT(state.losses.maxCoeff<Eigen::PropagateNaN>(), higher - 0.2);  // no image is near it
  const Group saddle = detail::saddle_record(objective, state, {});
  EXPECT_EQ(word_of(saddle["saddle_outcome"]), "converged");
  EXPECT_EQ(saddle["saddle_index"].number(), 1);
  EXPECT_NEAR(saddle["saddle_loss"].number(), higher, 1e-14);
  EXPECT_NEAR(
      saddle["barrier"].number(), higher - std::max(state.losses[0], state.losses[16]), 1e-14);
}

TEST(Pass, IsNoneOfThePathWhereTheSearchLeavesIt) {
  const auto objective = make_objective(Wave(), 1, 1);
  const BandState state = band_of({1.00, 1.01, 1.02}, Eigen::Vector3d(0, 1, 0));
  const Group saddle = detail::saddle_record(objective, state, {});
  EXPECT_EQ(word_of(saddle["saddle_outcome"]), "elsewhere");
  EXPECT_NEAR(saddle["saddle_parameters"].reals().front(), std::numbers::pi / 2, 1e-12);
  EXPECT_EQ(saddle["barrier"].status(), Status::kFailed);
  const PathResult result = judged(saddle, state);
  EXPECT_FALSE(result.is_conclusive);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("none of this path")));
}

TEST(Pass, IsNotSoughtOnABandThatIsNotFinite) {
  const auto objective = make_objective(Plateau(), 1, 1);
  BandState state = band_of({0, 1, 2}, Eigen::Vector3d(0.7, kNaN, 0.7));
  state.outcome = BandOutcome::kNonFinite;
  const Group saddle = detail::saddle_record(objective, state, {});
  EXPECT_EQ(word_of(saddle["saddle_outcome"]), "not_searched");
  EXPECT_EQ(saddle["barrier"].status(), Status::kNonFinite);
  const PathResult result = judged(saddle, state);
  EXPECT_FALSE(result.is_conclusive);
  EXPECT_THAT(result.warnings,
              ElementsAre("the loss or its gradient is not finite on the band",
                          "path/band_barrier: non_finite",
                          "path/band_force: non_finite"));
}

// Only losses show whether an alignment has changed the loss.
TEST(AlignmentRecord, WithoutAFiniteLossHasNotFailed) {
  const test::QuadraticObjective objective({Eigen::MatrixXd(Eigen::Vector2d(1, 2).asDiagonal())});
  const VectorXd first = VectorXd::Zero(2);
  const VectorXd second = VectorXd::Constant(2, 1e200);
  const Group record = detail::alignment_record(objective, first, second, true, {});
  EXPECT_EQ(record["alignment_error"].status(), Status::kNonFinite);
  EXPECT_EQ(record["aligned_parameters"].numbers(), (std::vector<double>{1e200, 1e200}));
  const Group band = detail::band_summary(band_of({0, 1, 2}, VectorXd::Zero(3)));
  PathResult result;
  detail::judge(detail::joined_scalars({&record, &band}), {}, result);
  EXPECT_THAT(result.warnings, Contains("path/alignment_error: non_finite"));
  EXPECT_THAT(result.warnings, Each(Not(HasSubstr("changed the loss"))));
}

TEST(Pass, OutcomesAreThoseOfTheSearchAndThreeMore) {
  const Variable outcome = path_quantities()["saddle_outcome"];
  ASSERT_EQ(outcome.flag_meanings.size(), std::size(kCriticalPointOutcomes) + 3);
  EXPECT_EQ(outcome.flag_meanings.at(detail::kNoPass), "no_pass");
  EXPECT_EQ(outcome.flag_meanings.at(detail::kNotSearched), "not_searched");
  EXPECT_EQ(outcome.flag_meanings.at(detail::kElsewhere), "elsewhere");
}

}  // namespace
}  // namespace hesscope
