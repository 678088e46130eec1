// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/statistics/least_squares.h>

#include "statistics/samples.h"
#include "support/decompositions.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kTolerance = 1e-13;

TEST(LineFit, FindsALineAndNoError) {
  const VectorXd x = test::normal_sample(50, 1);
  const LineFit found = fit_line(x, 2.0 - 3.0 * x.array());
  EXPECT_NEAR(found.slope.value, -3.0, kTolerance);
  EXPECT_NEAR(found.intercept.value, 2.0, kTolerance);
  EXPECT_NEAR(found.correlation.value, -1.0, kTolerance);
  EXPECT_NEAR(found.slope_standard_error.value, 0.0, kTolerance);
}

// By a decomposition, and the standard error by the covariance s^2 (A^T A)^-1.
TEST(LineFit, IsTheLeastSquaresSolution) {
  const VectorXd x = 5.0 + test::normal_sample(40, 2).array();
  const VectorXd y = 1.0 + 0.5 * x.array() + test::normal_sample(40, 3).array();
  MatrixXd a(40, 2);
  a << x, VectorXd::Ones(40);
  const VectorXd solution = test::least_squares(a, y);
  const double variance = (y - a * solution).squaredNorm() / 38.0;
  const MatrixXd inverse_gram = test::solve_symmetric(a.transpose() * a, MatrixXd::Identity(2, 2));
  const LineFit found = fit_line(x, y);
  EXPECT_NEAR(found.slope.value, solution[0], kTolerance);
  EXPECT_NEAR(found.intercept.value, solution[1], kTolerance);
  EXPECT_NEAR(
      found.slope_standard_error.value, std::sqrt(variance * inverse_gram(0, 0)), kTolerance);
  const VectorXd u = x.array() - x.mean();
  const VectorXd v = y.array() - y.mean();
  EXPECT_NEAR(found.correlation.value, u.dot(v) / (u.norm() * v.norm()), kTolerance);
}

// Three points, by hand: slope 3/2, residuals 1/6, -1/3, 1/6.
TEST(LineFit, OfThreePointsIsTheClosedForm) {
  const LineFit found = fit_line(Eigen::Vector3d(0.0, 1.0, 2.0), Eigen::Vector3d(0.0, 1.0, 3.0));
  EXPECT_NEAR(found.slope.value, 1.5, kTolerance);
  EXPECT_NEAR(found.intercept.value, -1.0 / 6.0, kTolerance);
  EXPECT_NEAR(found.slope_standard_error.value, std::sqrt(1.0 / 6.0 / 2.0), kTolerance);
  EXPECT_NEAR(found.correlation.value, 3.0 / std::sqrt(2.0 * 14.0 / 3.0), kTolerance);
}

// Distances from the mean may be above the largest double, and products of slopes and means, too.
TEST(LineFit, IsThatOfTheSameNumbersInAnotherUnit) {
  const Eigen::Vector4d x(-1.7, 1.7, 1.7, 1.7);
  const Eigen::Vector4d y(-1.0, 1.0, 1.0, 1.0);
  const LineFit found = fit_line(1e308 * x, 1e300 * y);
  EXPECT_NEAR(found.slope.value, 1e-8 / 1.7, 1e-8 * kTolerance);
  EXPECT_NEAR(found.intercept.value, 0.0, 1e300 * kTolerance);
  EXPECT_NEAR(found.correlation.value, 1.0, kTolerance);
  EXPECT_NEAR(found.slope_standard_error.value, 0.0, 1e-8 * kTolerance);
  EXPECT_EQ(fit_line(1e300 * y, 1e308 * x).slope.status, Status::kOk);
  // A slope that is no double.
  EXPECT_EQ(fit_line(1e-300 * y, 1e300 * x).slope.status, Status::kNonFinite);
}

TEST(LineFit, SaysWhatIsUndefined) {
  const Eigen::Vector2d one_two(1.0, 2.0);
  const LineFit of_two = fit_line(one_two, Eigen::Vector2d(3.0, 5.0));
  EXPECT_EQ(of_two.slope.value, 2.0);
  EXPECT_EQ(of_two.slope_standard_error.status, Status::kUndefinedZeroDenominator);
  const LineFit vertical = fit_line(Eigen::Vector2d(0.1, 0.1), one_two);
  EXPECT_EQ(vertical.slope.status, Status::kUndefinedZeroDenominator);
  EXPECT_TRUE(std::isnan(vertical.intercept.value));
  const LineFit flat = fit_line(one_two, Eigen::Vector2d(0.1, 0.1));
  EXPECT_EQ(flat.slope.value, 0.0);
  EXPECT_EQ(flat.correlation.status, Status::kUndefinedZeroDenominator);
  const LineFit bad = fit_line(one_two, Eigen::Vector2d(0.0, std::log(-1.0)));
  EXPECT_EQ(bad.slope.status, Status::kNonFinite);
}

TEST(LineFit, RefusesWhatAreNoPoints) {
  test::expect_refusal([] { fit_line(VectorXd::Ones(2), VectorXd::Ones(3)); }, "got 2 and 3");
  test::expect_refusal([] { fit_line(VectorXd(), VectorXd()); }, "fit_line");
}

}  // namespace
}  // namespace hesscope
