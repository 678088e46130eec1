// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <random>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/internal/norms.h>

#include "support/multiprecision.h"

namespace hesscope::detail {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using test::Real50;

class Norms : public testing::TestWithParam<double> {
 protected:
  MatrixXd numbers(Eigen::Index rows, Eigen::Index cols) {
    return MatrixXd::NullaryExpr(rows, cols, [this] {
      return GetParam() * (std::ldexp(static_cast<double>(engine_() >> 11), -53) - 0.5);
    });
  }

  static Real50 exact_dot(const MatrixXd& a, const MatrixXd& b) {
    Real50 sum = 0;
    for (Eigen::Index i = 0; i < a.size(); ++i) sum += Real50(a.data()[i]) * b.data()[i];
    return sum;
  }

  std::mt19937_64 engine_{7};
};

TEST_P(Norms, AreThoseOfFiftyDigits) {
  const VectorXd v = numbers(103, 1);
  const MatrixXd m = numbers(17, 11);
  const double of_v = static_cast<double>(sqrt(exact_dot(v, v)));
  const double of_m = static_cast<double>(sqrt(exact_dot(m, m)));
  EXPECT_NEAR(norm(v) / of_v, 1, 20 * kEpsilon);
  EXPECT_NEAR(norm(m) / of_m, 1, 20 * kEpsilon);
  EXPECT_NEAR(sqrt(sum_of_squares(m)).value() / of_m, 1, 20 * kEpsilon);
  const MatrixXd part = m.block(2, 3, 5, 4);
  EXPECT_NEAR(norm(m.block(2, 3, 5, 4)) / static_cast<double>(sqrt(exact_dot(part, part))),
              1,
              20 * kEpsilon);
}

TEST_P(Norms, MakeRatiosThatDoNotKnowTheScale) {
  const VectorXd v = numbers(50, 1);
  const VectorXd w = numbers(50, 1);
  const double cosine = (dot(v, w) / sqrt(sum_of_squares(v) * sum_of_squares(w))).value();
  const Real50 exact = exact_dot(v, w) / sqrt(exact_dot(v, v) * exact_dot(w, w));
  EXPECT_NEAR(cosine, static_cast<double>(exact), 50 * kEpsilon);
}

// 1e-323 and 1e308 lose digits of the entries themselves; the norm of these is exact.
INSTANTIATE_TEST_SUITE_P(Scales,
                         Norms,
                         testing::Values(1e-323,
                                         1e-310,
                                         1e-300,
                                         1e-235,
                                         1e-162,
                                         1e-154,
                                         1e-136,
                                         1.0,
                                         1e120,
                                         1e154,
                                         1e200,
                                         1e300,
                                         1e306));

TEST(Norms, HaveTheBitsOfEigenWhereThoseAreRight) {
  std::srand(1);
  for (int trial = 0; trial < 200; ++trial) {
    const MatrixXd a = MatrixXd::Random(1 + trial, 3) * std::pow(10.0, trial % 100 - 50);
    EXPECT_EQ(norm(a), a.norm());
    EXPECT_EQ(sum_of_squares(a).value(), a.squaredNorm());
    EXPECT_EQ(dot(a.col(0), a.col(1)).value(), a.col(0).dot(a.col(1)));
    EXPECT_EQ(sum(a.col(2)), a.col(2).sum());
  }
}

TEST(Norms, DoNotOverflowBeforeTheyMust) {
  EXPECT_EQ(norm(Vector2d(3e307, 4e307)), 5e307);
  EXPECT_EQ(norm(Vector2d(1.7e308, 1.7e308)), kInfinity);
  EXPECT_NEAR(
      (sqrt(sum_of_squares(Vector2d(1.5e308, 1.5e308))) / 1.5e308).value(), std::sqrt(2.0), 1e-15);
  EXPECT_EQ(norm(Vector2d(5e-324, 0)), 5e-324);
  EXPECT_EQ(sum(Vector3d(1.7e308, 1.7e308, -1.7e308)), 1.7e308);
  EXPECT_EQ(sum(Vector2d(1.7e308, 1.7e308)), kInfinity);
}

TEST(Norms, KeepZerosAndWhatIsNotFinite) {
  EXPECT_EQ(norm(VectorXd()), 0);
  EXPECT_EQ(norm(VectorXd::Zero(3)), 0);
  EXPECT_EQ(norm(MatrixXd(0, 4)), 0);
  EXPECT_EQ(norm(Vector2d(kInfinity, 1)), kInfinity);
  EXPECT_TRUE(std::isnan(norm(Vector2d(std::nan(""), 1))));
  EXPECT_TRUE(std::isnan(norm(Vector2d(kInfinity, std::nan("")))));
  EXPECT_TRUE(std::isnan(sum(Vector2d(kInfinity, -kInfinity))));
  EXPECT_EQ(dot(VectorXd(), VectorXd()).value(), 0);
  EXPECT_TRUE(std::isnan(dot(Vector2d(kInfinity, 1), Vector2d(0, 1)).value()));
}

TEST(Dot, AddsProductsThatAreNoDoubles) {
  // One product overflows and cancels, another is all that is left.
  EXPECT_EQ(dot(Vector3d(1e200, 1e200, 3), Vector3d(1e200, -1e200, 5)).value(), 15);
  EXPECT_EQ(dot(Vector2d(1e300, 1e-20), Vector2d(1e-320, 1e300)).value(), 1e280);
  // Both underflow; their ratio does not.
  const Wide found = dot(Vector2d(1e-200, 2e-200), Vector2d(3e-200, 4e-200));
  EXPECT_EQ(found.value(), 0);
  EXPECT_NEAR((found / (Wide(1e-200) * 1e-200)).value(), 11, 1e-14);
}

TEST(NormsOfZerosAndNan, AreNan) {
  for (Eigen::Index size = 1; size < 12; ++size) {
    for (Eigen::Index place = 0; place < size; ++place) {
      VectorXd v = VectorXd::Zero(size);
      v[place] = kNaN;
      EXPECT_TRUE(std::isnan(norm(v)));
      EXPECT_TRUE(std::isnan(norm(v - VectorXd::Zero(size))));
      EXPECT_TRUE(std::isnan(column_norms(v)[0]));
      EXPECT_TRUE(normalized(v).hasNaN());
    }
  }
}

TEST_P(Norms, OfColumnsAndOfNormalizedVectors) {
  const MatrixXd m = numbers(17, 5);
  const VectorXd norms = column_norms(m);
  for (Eigen::Index j = 0; j < m.cols(); ++j) {
    EXPECT_EQ(norms[j], norm(m.col(j)));
    const VectorXd unit = normalized(m.col(j));
    EXPECT_NEAR(unit.norm(), 1, 4 * kEpsilon);
    EXPECT_NEAR(unit[3] * (m(4, j) / norms[j]), unit[4] * (m(3, j) / norms[j]), 8 * kEpsilon);
  }
}

TEST(Normalized, BearsTheLargestAndTheSmallest) {
  const double largest = std::numeric_limits<double>::max();
  const VectorXd unit = normalized(Vector3d(largest, -largest, largest));
  EXPECT_NEAR(unit.norm(), 1, 4 * kEpsilon);
  EXPECT_LT(unit[1], -0.5);
  EXPECT_EQ(normalized(Vector2d(0, 5e-324)), Vector2d(0, 1));
  EXPECT_EQ(normalized(VectorXd::Zero(3)), VectorXd::Zero(3));
  EXPECT_EQ(normalized(VectorXd(0)).size(), 0);
  EXPECT_TRUE(normalized(Vector2d(HUGE_VAL, 1)).hasNaN());
}

}  // namespace
}  // namespace hesscope::detail
