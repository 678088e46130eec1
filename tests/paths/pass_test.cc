// SPDX-License-Identifier: BSD-3-Clause
//
// What is said of the pass where there is none, or where the search for it ends elsewhere.
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/objective/functor_objective.h>
#include <hesscope/paths/internal/path_quantities.h>
#include <hesscope/paths/internal/path_records.h>
#include <hesscope/paths/internal/path_summary.h>

namespace hesscope {
namespace {

using Eigen::RowVector3d;
using Eigen::VectorXd;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// It rises towards infinity, where gradient and curvature vanish together.
struct Plateau {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Eigen::Index /*sample*/) const {
    using std::exp;
    return -exp(-x(0));
  }
};

std::string word_of(const Variable& flag) {
  return flag.flag_meanings.at(static_cast<std::size_t>(flag.number()));
}

// Of three images at rest on a line.
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
  EXPECT_THAT(result.warnings, Contains(HasSubstr("from the highest image, ended as vanishing")));
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

TEST(Pass, OutcomesAreThoseOfTheSearchAndTwoMore) {
  const Variable outcome = path_quantities()["saddle_outcome"];
  ASSERT_EQ(outcome.flag_meanings.size(), std::size(kCriticalPointOutcomes) + 2);
  EXPECT_EQ(outcome.flag_meanings.at(detail::kNoPass), "no_pass");
  EXPECT_EQ(outcome.flag_meanings.at(detail::kNotSearched), "not_searched");
}

}  // namespace
}  // namespace hesscope
