// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/statistics/tail_index.h>

#include "statistics/samples.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// X_(i) = (c / i)^(1 / alpha): alpha H_k = log(k + 1) - log(k!) / k.
TEST(TailIndex, OfParetosQuantilesIsTheClosedForm) {
  for (const double alpha : {0.5, 2.0, 7.0}) {
    SCOPED_TRACE(alpha);
    constexpr Index kCount = 2001;
    const VectorXd ranks = VectorXd::LinSpaced(kCount, 1.0, kCount);
    const VectorXd x = (2.5 / ranks.reverse().array()).pow(1.0 / alpha);
    const TailIndex found = tail_index(x);
    ASSERT_EQ(found.status, Status::kOk);
    ASSERT_EQ(found.by_count.size(), 1000);
    for (Index k = 1; k <= 1000; ++k) {
      const auto count = static_cast<double>(k);
      const double expected = alpha / (std::log(count + 1.0) - std::lgamma(count + 1.0) / count);
      EXPECT_NEAR(found.by_count[k - 1] / expected, 1.0, 1e-11) << k;
    }
    EXPECT_EQ(found.count, 44);
    EXPECT_EQ(found.index.value, found.by_count[43]);
    EXPECT_NEAR(found.standard_error.value, found.index.value / std::sqrt(44.0), 1e-14 * alpha);
  }
}

// Any order of the sample; H_2 of 8, 4, 1, 1 is (log 8 + log 4) / 2.
TEST(TailIndex, OfFourNumbersIsTheDefinition) {
  const TailIndex found = tail_index(Eigen::Vector4d(1.0, 8.0, 1.0, 4.0));
  ASSERT_EQ(found.by_count.size(), 2);
  EXPECT_NEAR(found.by_count[0], 1.0 / std::log(2.0), 1e-15);
  EXPECT_NEAR(found.by_count[1], 2.0 / (std::log(8.0) + std::log(4.0)), 1e-15);
}

TEST(TailIndex, OfParetoSamplesIsWithinItsError) {
  for (const double alpha : {1.0, 3.0}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const TailIndex found = tail_index(test::pareto_sample(100000, alpha, seed));
      ASSERT_EQ(found.status, Status::kOk);
      EXPECT_EQ(found.count, 316);
      EXPECT_NEAR(found.index.value, alpha, 4.0 * found.standard_error.value);
      EXPECT_NEAR(found.by_count[9999], alpha, 4.0 * alpha / 100.0);
    }
  }
}

// The estimate knows no unit, and of a normal tail it grows with the threshold.
TEST(TailIndex, KnowsNoUnitAndSeesALightTail) {
  const VectorXd x = test::normal_sample(20000, 3).cwiseAbs();
  const TailIndex found = tail_index(x);
  const TailIndex scaled = tail_index(x * 0x1p500);
  EXPECT_EQ(found.by_count, scaled.by_count);
  EXPECT_GT(found.by_count[99], 1.5 * found.by_count[4999]);
  EXPECT_GT(found.index.value, 5.0);
}

TEST(TailIndex, NeedsAPositiveUpperHalfThatIsNotFlat) {
  const TailIndex flat = tail_index(VectorXd::Ones(10));
  EXPECT_EQ(flat.status, Status::kOk);
  EXPECT_TRUE(flat.by_count.array().isNaN().all());
  EXPECT_EQ(flat.index.status, Status::kUndefinedZeroDenominator);
  // Two norms that are equal up to rounding, and zeros.
  const TailIndex rounded = tail_index(Eigen::Vector4d(1.0, 1.0 + 0x1p-52, 0.0, 0.0));
  EXPECT_TRUE(rounded.by_count.array().isNaN().all());
  EXPECT_EQ(rounded.index.status, Status::kUndefinedZeroDenominator);
  const TailIndex partly = tail_index(Eigen::Vector4d(2.0, 1.0, 0.0, -1.0));
  EXPECT_NEAR(partly.by_count[0], 1.0 / std::log(2.0), 1e-15);
  EXPECT_TRUE(std::isnan(partly.by_count[1]));
  // A ratio beyond the range of double has a logarithm.
  const TailIndex wide = tail_index(Eigen::Vector2d(1e300, 1e-300));
  EXPECT_NEAR(wide.by_count[0], 1.0 / (600.0 * std::log(10.0)), 1e-15);
}

TEST(TailIndex, SaysWhyThereIsNone) {
  VectorXd values = VectorXd::LinSpaced(5, 1.0, 5.0);
  values[2] = kNaN;
  EXPECT_EQ(tail_index(values).status, Status::kNonFinite);
  EXPECT_EQ(tail_index(values).index.status, Status::kNonFinite);
  const TailIndex of_one = tail_index(VectorXd::Ones(1));
  EXPECT_EQ(of_one.status, Status::kOk);
  EXPECT_EQ(of_one.by_count.size(), 0);
  EXPECT_EQ(of_one.index.status, Status::kUndefinedTooFewPoints);
  EXPECT_EQ(of_one.standard_error.status, Status::kUndefinedTooFewPoints);
  test::expect_refusal([] { tail_index(VectorXd()); }, "tail_index");
}

}  // namespace
}  // namespace hesscope
