// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/spectra/ball_maximum.h>

namespace hesscope::test {

/// lower is attained by the direction, and upper is not below it.
inline void expect_consistent(const BallMaximum& found, const Eigen::MatrixXd& h) {
  ASSERT_EQ(found.status, Status::kOk);
  const double value = found.direction.dot(h * found.direction);
  EXPECT_LE(std::abs(value - found.lower), found.rounding);
  EXPECT_GE(found.lower, 0);
  EXPECT_GE(found.upper, found.lower);
  EXPECT_EQ(found.is_closed, found.upper - found.lower <= found.rounding);
  // About 1e-13 of the sum of magnitudes, which bounds every such form.
  EXPECT_LE(found.rounding, 1e-11 * h.cwiseAbs().sum());
}

inline void expect_closed(const BallMaximum& found, const Eigen::MatrixXd& h, double expected) {
  expect_consistent(found, h);
  EXPECT_TRUE(found.is_closed) << found.upper - found.lower << " " << found.rounding;
  EXPECT_LE(std::abs(found.lower - expected), 2 * found.rounding) << expected;
}

}  // namespace hesscope::test
