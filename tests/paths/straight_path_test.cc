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

// x^3 - 3 x in one variable: from -2 to 2 the chord is x, the excess x^3 - 4 x, highest at -2 / sqrt(3).
struct Cubic {
  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& x, Index /*sample*/) const {
    return x(0) * x(0) * x(0) - 3.0 * x(0);
  }
};

TEST(StraightPath, FindsTheBarrierOfACubicToRounding) {
  const auto objective = make_objective(Cubic(), 1, 1);
  const VectorXd first = VectorXd::Constant(1, -2);
  const VectorXd second = VectorXd::Constant(1, 2);
  for (const Index places : {3, 4, 5, 21}) {
    const StraightPath path = straight_path(objective, first, second, places);
    ASSERT_EQ(path.status, Status::kOk);
    if (places == 3) {  // the middle has no excess, and is all that is seen
      EXPECT_EQ(path.barrier, 0);
      continue;
    }
    const double x = -2 / std::sqrt(3);
    EXPECT_NEAR(path.barrier, x * x * x - 4 * x, 1e-14) << places;
    EXPECT_NEAR(path.barrier_place, (x + 2) / 4, 1e-8) << places;  // by slopes alone
    EXPECT_EQ(path.losses[0], -2);
    EXPECT_EQ(path.losses[places - 1], 2);
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
