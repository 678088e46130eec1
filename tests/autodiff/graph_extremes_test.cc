// SPDX-License-Identifier: BSD-3-Clause
//
// What a graph does with numbers of every size, with infinities and with NaN.
#include <cmath>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>

#include "support/graph_oracle.h"
#include "support/numbers.h"
#include "support/sweep_derivatives.h"

namespace hesscope {
namespace {

// Derivatives of record(graph) at theta, of one sample without data.
template <typename Record>
test::Derivatives derivatives_at(Record record, const Eigen::VectorXd& theta) {
  Graph g;
  g.set_output(record(g));
  return test::from_sweep(g, theta, SampleTable::Zero(1, 1));
}

TEST(SoftmaxRows, IsExactForLargeArguments) {
  // Rows (1000, 1001, 999.5) and (-1000, -1001, -900): shifts of moderate rows, and one certain.
  Eigen::VectorXd large(6);
  large << 1000, 1001, 999.5, -1000, -1001, -900;
  Eigen::VectorXd moderate(6);
  moderate << 0, 1, -0.5, -100, -101, 0;
  const auto loss = [](Graph& g) {
    const Eigen::MatrixXd w = (Eigen::MatrixXd(2, 3) << 1, 2, 4, 3, 5, 7).finished();
    return sum(hadamard(g.constant(w), square(softmax_rows(g.parameter(0, 2, 3)))));
  };
  const test::Derivatives actual = derivatives_at(loss, large);
  const test::Derivatives shifted = derivatives_at(loss, moderate);
  EXPECT_EQ(actual.value, shifted.value);
  EXPECT_EQ(actual.gradient, shifted.gradient);
  EXPECT_EQ(actual.hessian, shifted.hessian);
  EXPECT_TRUE(actual.hessian.allFinite());
  EXPECT_GT(actual.hessian.topLeftCorner(3, 3).norm(), 0.1);
}

TEST(LogSumExp, IsExactForLargeArguments) {
  for (const double shift : {1000.0, -1000.0}) {
    const Eigen::VectorXd theta = Eigen::Vector3d(shift, shift + 1, shift - 2);
    const test::Derivatives actual =
        derivatives_at([](Graph& g) { return log_sum_exp(g.parameter(0, 3, 1)); }, theta);
    const Eigen::Vector3d e(1, std::exp(1.0), std::exp(-2.0));
    const Eigen::Vector3d p = e / e.sum();
    const Eigen::Matrix3d H = Eigen::Matrix3d(p.asDiagonal()) - p * p.transpose();
    // p = exp(x - y), and y near 1000 has a rounding of 1000 eps.
    test::expect_near(
        actual, {shift + std::log(e.sum()), p, H}, 1000 * test::kEpsilon, "the closed form");
  }
}

TEST(SoftmaxRows, PropagatesNaNWithinItsRowOnly) {
  const auto of_row = [](Eigen::Index row) {
    return [row](Graph& g) {
      return sum(square(slice(softmax_rows(g.parameter(0, 2, 3)), row, 0, 1, 3)));
    };
  };
  for (const Eigen::Index place : {0, 1, 2}) {
    Eigen::VectorXd theta = Eigen::VectorXd::LinSpaced(6, 0, 1);
    theta(place) = kNaN;
    const test::Derivatives bad = derivatives_at(of_row(0), theta);
    EXPECT_TRUE(std::isnan(bad.value));
    EXPECT_TRUE(bad.gradient.head(3).array().isNaN().all());
    EXPECT_TRUE(bad.hessian.topLeftCorner(3, 3).array().isNaN().all());
    EXPECT_TRUE(std::isfinite(derivatives_at(of_row(1), theta).value));
  }
}

TEST(LogSumExp, PropagatesNaNFromAnyEntry) {
  for (const Eigen::Index place : {0, 1, 3}) {
    Eigen::VectorXd theta = Eigen::VectorXd::LinSpaced(4, 0, 1);
    theta(place) = kNaN;
    const test::Derivatives bad =
        derivatives_at([](Graph& g) { return log_sum_exp(g.parameter(0, 2, 2)); }, theta);
    EXPECT_TRUE(std::isnan(bad.value));
    EXPECT_TRUE(bad.gradient.array().isNaN().all());
    EXPECT_TRUE(bad.hessian.array().isNaN().all());
  }
}

TEST(LogSumExp, HasWeightsThatSumToOneForHugeArguments) {
  const auto loss = [](Graph& g) { return log_sum_exp(g.parameter(0, 2, 1)); };
  for (const double x : {1e12, 1e17, -1e17}) {
    EXPECT_EQ(derivatives_at(loss, Eigen::Vector2d(x, x)).gradient, Eigen::Vector2d(0.5, 0.5)) << x;
  }
}

TEST(CrossEntropy, IsExactForLargeArguments) {
  const auto loss = [](Graph& g) {
    return cross_entropy(g.parameter(0, 2, 1), g.constant(Eigen::Vector2d(1, 0)));
  };
  // log(1 + exp(-d)) for d = z_0 - z_1, with slope -1 / (1 + exp(d)) in d.
  for (const double d : {-800.0, -30.0, 0.0, 30.0, 700.0}) {
    const test::Derivatives actual = derivatives_at(loss, Eigen::Vector2d(d, 0));
    const double value = d < -700 ? -d : std::log1p(std::exp(-d));
    const double slope = -1 / (1 + std::exp(d));
    const double curvature = -slope / (1 + std::exp(-d));
    EXPECT_LE(std::abs(actual.value - value), 1e-14 * value) << d;
    EXPECT_LE((actual.gradient - Eigen::Vector2d(slope, -slope)).norm(), 1e-14 * std::abs(slope));
    EXPECT_LE(std::abs(actual.hessian(0, 0) - curvature), 1e-14 * curvature) << d;
    EXPECT_LE(std::abs(actual.hessian(0, 1) + curvature), 1e-14 * curvature) << d;
  }
}

TEST(CrossEntropy, PropagatesNaNFromAnyEntry) {
  const auto loss = [](Graph& g) {
    return cross_entropy(g.parameter(0, 3, 1), g.constant(Eigen::Vector3d(0, 1, 0)));
  };
  for (const Eigen::Index place : {0, 1, 2}) {
    Eigen::VectorXd theta = Eigen::VectorXd::LinSpaced(3, 0, 1);
    theta(place) = kNaN;
    const test::Derivatives bad = derivatives_at(loss, theta);
    EXPECT_TRUE(std::isnan(bad.value));
    EXPECT_TRUE(bad.gradient.array().isNaN().all());
  }
}

TEST(CrossEntropy, RefusesATargetThatIsNoData) {
  Graph g;
  const Var z = g.parameter(0, 3, 1);
  EXPECT_THROW(cross_entropy(z, g.parameter(3, 3, 1)), PreconditionError);
  EXPECT_THROW(cross_entropy(z, g.input(0, 2, 1)), PreconditionError);
  EXPECT_THROW(cross_entropy(g.parameter(0, 3, 2), g.input(0, 3, 2)), PreconditionError);
}

TEST(LogSumExp, DoesNotInventNumbersForInfinities) {
  const auto loss = [](Graph& g) { return log_sum_exp(g.parameter(0, 2, 1)); };
  EXPECT_FALSE(std::isfinite(derivatives_at(loss, Eigen::Vector2d(kInfinity, 0)).value));
  EXPECT_FALSE(derivatives_at(loss, Eigen::Vector2d(kInfinity, 0)).gradient.allFinite());
}

TEST(SquaredDistances, OfCoincidingRowsHaveExactDerivatives) {
  // sqrt-free and without cancellation: at a == b the value and gradient are 0, the Hessian is not.
  const auto loss = [](Graph& g) {
    return sum(squared_distances(g.parameter(0, 1, 2), g.parameter(2, 1, 2)));
  };
  const test::Derivatives actual = derivatives_at(loss, Eigen::Vector4d(1e8, 3, 1e8, 3));
  Eigen::Matrix4d H = 2 * Eigen::Matrix4d::Identity();
  H.topRightCorner<2, 2>() = H.bottomLeftCorner<2, 2>() = -2 * Eigen::Matrix2d::Identity();
  EXPECT_EQ(actual.value, 0);
  EXPECT_EQ(actual.gradient, Eigen::VectorXd::Zero(4));
  EXPECT_EQ(actual.hessian, H);
}

}  // namespace
}  // namespace hesscope
