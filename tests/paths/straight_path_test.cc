// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/objective/functor_objective.h>
#include <hesscope/paths/straight_path.h>

#include "paths/passes.h"
#include "support/closed_form_objectives.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

// x^3 - 3 x in one variable: from -2 to 2 the chord is x, the excess x^3 - 4 x, highest at
// -2 / sqrt(3).
struct Cubic {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Index /*sample*/) const {
    return x(0) * x(0) * x(0) - 3.0 * x(0);
  }
};

// From 0 to 1 the chord is 0: the only maximum is before the first of some places, at
// ((1 + a) - sqrt((1 + a)^2 - 3 a)) / 3, and from 1 to 0 after the last of them.
struct CubicNearTheEnd {
  static constexpr double kRoot = 0.02;

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Index /*sample*/) const {
    return x(0) * (kRoot - x(0)) * (1.0 - x(0));
  }
};

TEST(StraightPath, FindsTheBarrierOfACubicToRounding) {
  const auto objective = make_objective(Cubic(), 1, 1);
  const VectorXd first = VectorXd::Constant(1, -2);
  const VectorXd second = VectorXd::Constant(1, 2);
  for (const Index places : {3, 4, 5, 21}) {
    const StraightPath path = straight_path(objective, first, second, places);
    ASSERT_EQ(path.status, Status::kOk);
    const double x = -2 / std::sqrt(3);
    EXPECT_NEAR(path.barrier, x * x * x - 4 * x, 1e-14) << places;
    EXPECT_NEAR(path.barrier_place, (x + 2) / 4, 1e-8) << places;  // by slopes alone
    EXPECT_EQ(path.losses[0], -2);
    EXPECT_EQ(path.losses[places - 1], 2);
  }
}

TEST(StraightPath, FindsABarrierBeforeTheFirstAndAfterTheLastPlaceBetweenTheEnds) {
  const auto objective = make_objective(CubicNearTheEnd(), 1, 1);
  const VectorXd zero = VectorXd::Zero(1);
  const VectorXd one = VectorXd::Ones(1);
  constexpr double kRoot = CubicNearTheEnd::kRoot;
  const double x = (1 + kRoot - std::sqrt((1 + kRoot) * (1 + kRoot) - 3 * kRoot)) / 3;
  const double barrier = x * (kRoot - x) * (1 - x);
  for (const Index places : {3, 5, 21}) {
    const StraightPath forth = straight_path(objective, zero, one, places);
    EXPECT_NEAR(forth.barrier, barrier, 1e-16) << places;
    EXPECT_NEAR(forth.barrier_place, x, 1e-9) << places;
    const StraightPath back = straight_path(objective, one, zero, places);
    EXPECT_NEAR(back.barrier, barrier, 1e-16) << places;
    EXPECT_NEAR(back.barrier_place, 1 - x, 1e-9) << places;
  }
}

TEST(StraightPath, HasNoBarrierWhereTheLossIsConvex) {
  MatrixXd h = MatrixXd::Identity(2, 2);
  const test::QuadraticObjective objective({h});
  const StraightPath path = straight_path(objective, Vector2d(-1, 0), Vector2d(3, 1), 9);
  EXPECT_EQ(path.barrier, 0);
  EXPECT_EQ(path.barrier_place, 0);
}

TEST(StraightPath, OfAConcaveLossIsTheClosedForm) {
  MatrixXd h = -2 * MatrixXd::Identity(2, 2);
  const test::QuadraticObjective objective({h});
  const Vector2d first(-1, 0.5);
  const Vector2d second(3, 1);
  const StraightPath path = straight_path(objective, first, second, 10);
  EXPECT_NEAR(path.barrier, (second - first).squaredNorm() / 4, 1e-13);  // t (1 - t) |d|^2
  EXPECT_NEAR(path.barrier_place, 0.5, 1e-14);
}

TEST(StraightPath, SaysWhereTheLossIsNotFinite) {
  const StraightPath path = straight_path(test::three_wells(), Vector2d(-1, 0), Vector2d(1, 0), 5);
  EXPECT_EQ(path.status, Status::kNonFinite);
  EXPECT_TRUE(std::isnan(path.barrier));
}

TEST(StraightPath, RefusesOtherSizes) {
  const auto objective = test::three_wells();
  EXPECT_THROW(straight_path(objective, VectorXd::Zero(3), Vector2d(1, 0), 5), PreconditionError);
  EXPECT_THROW(straight_path(objective, Vector2d(0, 1), Vector2d(1, 0), 1), PreconditionError);
}

}  // namespace
}  // namespace hesscope
