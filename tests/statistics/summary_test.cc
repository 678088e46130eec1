// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/statistics/summary.h>

#include "statistics/samples.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// Some sums of rounding errors; deviations have no more than a few eps.
constexpr double kSummaryTolerance = 1e-14;

void expect_value(const Statistic& found, double expected, double tolerance) {
  EXPECT_EQ(found.status, Status::kOk);
  EXPECT_NEAR(found.value, expected, tolerance);
}

void expect_missing(const Statistic& found, Status status) {
  EXPECT_EQ(found.status, status);
  EXPECT_TRUE(std::isnan(found.value));
}

// The distance of the first number from the mean is above the largest double.
TEST(Summary, KnowsDeviationsBeyondTheLargestDouble) {
  const Summary found = summarize(1e308 * Eigen::Vector4d(-1.7, 1.7, 1.7, 1.7));
  expect_value(found.mean, 0.85e308, 1e308 * kSummaryTolerance);
  expect_value(found.standard_deviation, 1.7e308, 1e308 * kSummaryTolerance);
}

// m_2 = 2/9, m_3 = 2/27, m_4 = 2/27.
TEST(Summary, OfThreeNumbersIsTheClosedForm) {
  const Summary found = summarize(Eigen::Vector3d(1.0, 0.0, 0.0));
  expect_value(found.mean, 1.0 / 3.0, kSummaryTolerance);
  expect_value(found.standard_deviation, 1.0 / std::sqrt(3.0), kSummaryTolerance);
  expect_value(found.skewness, 1.0 / std::sqrt(2.0), kSummaryTolerance);
  expect_value(found.excess_kurtosis, -1.5, kSummaryTolerance);
  expect_value(found.median, 0.0, 0.0);
  expect_value(found.minimum, 0.0, 0.0);
  expect_value(found.maximum, 1.0, 0.0);
  expect_missing(found.max_over_median, Status::kUndefinedZeroMedian);
}

// 1 .. n: m_2 = (n^2 - 1) / 12, g_2 = -6/5 (n^2 + 1) / (n^2 - 1).
TEST(Summary, OfTheFirstNumbersIsTheClosedForm) {
  for (const Index n : {2, 3, 10, 999, 10000}) {
    SCOPED_TRACE(n);
    const auto count = static_cast<double>(n);
    const double square = count * count;
    const Summary found = summarize(VectorXd::LinSpaced(n, 1.0, count));
    expect_value(found.mean, (count + 1.0) / 2.0, kSummaryTolerance * count);
    expect_value(found.standard_deviation,
                 std::sqrt(count / (count - 1.0) * (square - 1.0) / 12.0),
                 kSummaryTolerance * count);
    expect_value(found.skewness, 0.0, kSummaryTolerance);
    expect_value(found.excess_kurtosis, -1.2 * (square + 1.0) / (square - 1.0), kSummaryTolerance);
    expect_value(found.median, std::floor((count + 1.0) / 2.0), 0.0);
    expect_value(found.max_over_median, count / std::floor((count + 1.0) / 2.0), kSummaryTolerance);
  }
}

// A fraction p of ones among zeros: g_1 = (1 - 2 p) / sqrt(p q), g_2 = (1 - 6 p q) / (p q).
TEST(Summary, OfRareOnesIsThatOfBernoullisDistribution) {
  for (const Index num_ones : {1, 10, 300}) {
    SCOPED_TRACE(num_ones);
    VectorXd values = VectorXd::Zero(1000);
    values.tail(num_ones).setOnes();
    const double p = static_cast<double>(num_ones) / 1000.0;
    const double variance = p * (1.0 - p);
    const Summary found = summarize(values);
    const double skewness = (1.0 - 2.0 * p) / std::sqrt(variance);
    const double kurtosis = (1.0 - 6.0 * variance) / variance;
    expect_value(found.skewness, skewness, 1e-13 * skewness);
    expect_value(found.excess_kurtosis, kurtosis, 1e-13 * (kurtosis + 3.0));
  }
}

// Shape knows neither origin nor unit. One-pass moments would have no digit left of 2^40 + x, and
// the fourth powers of 1e300 and 1e-300 are no doubles.
TEST(Summary, HasTheSameShapeFarFromZeroAndAtEveryScale) {
  const VectorXd whole = (1000.0 * test::normal_sample(501, 1).array().exp()).floor();
  const Summary reference = summarize(whole);
  for (const double origin : {0x1p40, -0x1p40}) {
    const Summary moved = summarize(whole.array() + origin);
    expect_value(moved.skewness, reference.skewness.value, 1e-13);
    expect_value(moved.excess_kurtosis, reference.excess_kurtosis.value, 1e-12);
    expect_value(moved.standard_deviation,
                 reference.standard_deviation.value,
                 1e-13 * reference.standard_deviation.value);
  }
  for (const double scale : {0x1p980, 0x1p-980}) {
    const Summary scaled = summarize(whole * scale);
    expect_value(scaled.skewness, reference.skewness.value, 0.0);
    expect_value(scaled.excess_kurtosis, reference.excess_kurtosis.value, 0.0);
    expect_value(scaled.mean, reference.mean.value * scale, 0.0);
    expect_value(scaled.standard_deviation, reference.standard_deviation.value * scale, 0.0);
  }
  const Summary mirrored = summarize(-whole);
  expect_value(mirrored.skewness, -reference.skewness.value, 1e-13);
  expect_value(mirrored.excess_kurtosis, reference.excess_kurtosis.value, 1e-12);
}

// One ulp apart.
TEST(Summary, SeesTheShapeOfNumbersThatDifferInTheirLastBit) {
  VectorXd values = VectorXd::Constant(9, 1.0);
  values[4] = std::nextafter(1.0, 2.0);
  const Summary found = summarize(values);
  expect_value(found.skewness, 7.0 / std::sqrt(8.0), 1e-13);
  const double ulp = std::numeric_limits<double>::epsilon();
  expect_value(found.standard_deviation, ulp / 3.0, 1e-13 * ulp);
}

// Standard errors of g_1 and g_2 are sqrt(6 / n) and sqrt(24 / n).
TEST(Summary, OfNormalSamplesIsNormal) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    constexpr double kCount = 100000.0;
    const Summary found = summarize(3.0 + 2.0 * test::normal_sample(100000, seed).array());
    expect_value(found.mean, 3.0, 4.0 * 2.0 / std::sqrt(kCount));
    expect_value(found.standard_deviation, 2.0, 4.0 * 2.0 / std::sqrt(2.0 * kCount));
    expect_value(found.skewness, 0.0, 4.0 * std::sqrt(6.0 / kCount));
    expect_value(found.excess_kurtosis, 0.0, 4.0 * std::sqrt(24.0 / kCount));
  }
}

TEST(Summary, OfEqualNumbersHasNoShape) {
  for (const double value : {0.1, -1e300, 3e-310, 0.0}) {
    const Summary found = summarize(VectorXd::Constant(7, value));
    expect_value(found.mean, value, 0.0);
    expect_value(found.standard_deviation, 0.0, 0.0);
    expect_missing(found.skewness, Status::kUndefinedZeroDenominator);
    expect_missing(found.excess_kurtosis, Status::kUndefinedZeroDenominator);
  }
}

TEST(Summary, OfOneNumberIsThatNumber) {
  const Summary found = summarize(VectorXd::Constant(1, 4.0));
  expect_value(found.mean, 4.0, 0.0);
  expect_value(found.median, 4.0, 0.0);
  expect_value(found.max_over_median, 1.0, 0.0);
  expect_missing(found.standard_deviation, Status::kUndefinedTooFewPoints);
  expect_missing(found.skewness, Status::kUndefinedTooFewPoints);
  expect_missing(found.excess_kurtosis, Status::kUndefinedTooFewPoints);
}

TEST(Summary, OfWhatIsNotFiniteHasNothing) {
  for (const double bad : {kNaN, kInfinity, -kInfinity}) {
    VectorXd values = test::normal_sample(5, 1);
    values[3] = bad;
    const Summary found = summarize(values);
    for (const auto member : {&Summary::mean,
                              &Summary::standard_deviation,
                              &Summary::skewness,
                              &Summary::excess_kurtosis,
                              &Summary::median,
                              &Summary::minimum,
                              &Summary::maximum,
                              &Summary::max_over_median}) {
      expect_missing(found.*member, Status::kNonFinite);
    }
  }
}

TEST(Summary, RefusesNoNumbers) {
  test::expect_refusal([] { summarize(VectorXd()); }, "summarize: values must be at least 1");
}

}  // namespace
}  // namespace hesscope
