// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analyzers/pseudo_updates.h>
#include <hesscope/analyzers/trajectory.h>

#include "support/quadratic_objective.h"

namespace hesscope {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// f = theta^T A theta / 2, g = A theta.
class PseudoUpdates : public testing::Test {
 protected:
  PseudoUpdates() {
    for (int i = 0; i < 6; ++i) {
      points_.push_back(Eigen::Vector3d(1 + 0.5 * i, std::cos(2.0 * i), std::sin(1.0 + 3 * i)));
    }
  }

  static MatrixXd curvature() {
    return (Eigen::Matrix3d() << 2, 0.5, 0, 0.5, 1, -0.3, 0, -0.3, 4).finished();
  }

  // The updates at checkpoint i, by whatever the trajectory remembers.
  MatrixXd at(std::size_t i, const std::shared_ptr<Trajectory>& trajectory) const {
    PointAnalysis point(objective_, trajectory->point(i));
    point.set_trajectory(trajectory, i);
    return pseudo_updates(point);
  }

  MatrixXd afresh(std::size_t i) const { return at(i, std::make_shared<Trajectory>(points_)); }

  std::vector<VectorXd> points_;
  const test::QuadraticObjective objective_{{curvature()}};
};

TEST_F(PseudoUpdates, FollowEveryRuleAlongTheTrajectory) {
  const auto trajectory = std::make_shared<Trajectory>(points_);
  VectorXd buffer = VectorXd::Zero(3);
  VectorXd m = buffer, v = buffer, lion = buffer;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const MatrixXd u = at(i, trajectory);
    const VectorXd g = curvature() * points_[i];
    const double t = static_cast<double>(i) + 1;
    ASSERT_EQ(u.cols(), 5);
    for (Eigen::Index j = 0; j < 3; ++j) {
      const auto sign = [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; };
      buffer[j] = 0.9 * buffer[j] + g[j];
      m[j] = 0.9 * m[j] + 0.1 * g[j];
      v[j] = 0.999 * v[j] + 0.001 * g[j] * g[j];
      const double m_hat = m[j] / (1 - std::pow(0.9, t));
      const double v_hat = v[j] / (1 - std::pow(0.999, t));
      EXPECT_NEAR(u(j, 0), -g[j], 1e-15);
      EXPECT_NEAR(u(j, 1), -buffer[j], 1e-14);
      EXPECT_NEAR(u(j, 2), -m_hat / (std::sqrt(v_hat) + 1e-8), 1e-12);
      EXPECT_EQ(u(j, 3), -sign(0.9 * lion[j] + 0.1 * g[j]));
      EXPECT_EQ(u(j, 4), -sign(g[j]));
      lion[j] = 0.99 * lion[j] + 0.01 * g[j];
    }
  }
}

TEST_F(PseudoUpdates, DoNotDependOnWhatWasAskedBefore) {
  const auto trajectory = std::make_shared<Trajectory>(points_);
  for (const std::size_t i : {0U, 1U, 4U, 5U, 2U, 2U, 3U, 0U, 5U}) {
    EXPECT_EQ(at(i, trajectory), afresh(i)) << i;
  }
}

TEST_F(PseudoUpdates, PassOverCheckpointsThatAreNotFinite) {
  const MatrixXd expected = afresh(5);
  points_.insert(points_.begin() + 2, Eigen::Vector3d(1, std::nan(""), 1));
  points_.insert(points_.begin() + 4, Eigen::Vector3d(1e308, 1e308, 1e308));  // an infinite loss
  EXPECT_EQ(afresh(7), expected);
}

TEST_F(PseudoUpdates, BeginAtAPointOfNoTrajectory) {
  PointAnalysis point(objective_, points_[3]);
  const std::vector<VectorXd> alone = {points_[3]};
  EXPECT_EQ(pseudo_updates(point), at(0, std::make_shared<Trajectory>(alone)));
  EXPECT_EQ(point.next_theta(), nullptr);
}

TEST_F(PseudoUpdates, LeaveTheLastPointWithoutANext) {
  const auto trajectory = std::make_shared<Trajectory>(points_);
  PointAnalysis point(objective_, points_[4]);
  point.set_trajectory(trajectory, 4);
  ASSERT_NE(point.next_theta(), nullptr);
  EXPECT_EQ(*point.next_theta(), points_[5]);
  point.set_trajectory(trajectory, 5);
  EXPECT_EQ(point.next_theta(), nullptr);
}

}  // namespace
}  // namespace hesscope
