// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/statistics/normal_qq.h>

#include "statistics/samples.h"
#include "support/maxima.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// The normal distribution function, of which the quantiles are the inverse.
double probability(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

TEST(NormalQq, HasFillibensPositions) {
  for (const Index n : {1, 2, 3, 4, 10, 1000}) {
    SCOPED_TRACE(n);
    const QqPlot found = normal_qq(test::normal_sample(n, 1), QqConvention::kFilliben);
    ASSERT_EQ(found.status, Status::kOk);
    const auto count = static_cast<double>(n);
    const double end = std::pow(0.5, 1.0 / count);
    for (Index i = 1; i <= n; ++i) {
      double expected = (static_cast<double>(i) - 0.3175) / (count + 0.365);
      if (i == 1) expected = 1.0 - end;
      if (i == n) expected = end;
      EXPECT_NEAR(probability(found.theoretical[i - 1]), expected, 1e-14) << i;
    }
  }
}

TEST(NormalQq, HasThePositionsOfStatsmodels) {
  for (const Index n : {2, 3, 10, 1000}) {
    SCOPED_TRACE(n);
    const QqPlot found = normal_qq(test::normal_sample(n, 1), QqConvention::kStandardized);
    ASSERT_EQ(found.status, Status::kOk);
    for (Index i = 1; i <= n; ++i) {
      const double expected = static_cast<double>(i) / static_cast<double>(n + 1);
      EXPECT_NEAR(probability(found.theoretical[i - 1]), expected, 1e-14) << i;
    }
  }
}

// From tables of the normal distribution: the quantile of 3/4 and of 0.9.
TEST(NormalQq, HasTabulatedQuantiles) {
  const QqPlot three =
      normal_qq(Eigen::Vector3d(1.0, 2.0, 3.0), QqConvention::kStandardized);  // 1/4, 1/2, 3/4
  EXPECT_NEAR(three.theoretical[2], 0.674489750196082, 1e-14);
  EXPECT_EQ(three.theoretical[1], 0.0);
  EXPECT_EQ(three.theoretical[0], -three.theoretical[2]);
  const QqPlot nine = normal_qq(VectorXd::LinSpaced(9, 1.0, 9.0), QqConvention::kStandardized);
  EXPECT_NEAR(nine.theoretical[8], 1.28155156554460, 1e-13);
}

TEST(NormalQq, SortsTheSampleAndStandardizesItByMaximumLikelihood) {
  const VectorXd values = 7.0 + 3.0 * test::normal_sample(101, 2).array();
  VectorXd sorted = values;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(normal_qq(values, QqConvention::kFilliben).sample, sorted);
  const double variance = (values.array() - values.mean()).square().mean();
  const VectorXd standardized = (sorted.array() - values.mean()) / std::sqrt(variance);
  const QqPlot found = normal_qq(values, QqConvention::kStandardized);
  EXPECT_LE(test::largest_difference(found.sample, standardized), 1e-13);
}

TEST(NormalQq, OfTheQuantilesThemselvesIsTheirLine) {
  const VectorXd t = normal_qq(test::normal_sample(64, 1), QqConvention::kFilliben).theoretical;
  const QqPlot found = normal_qq(5.0 + 2.0 * t.array(), QqConvention::kFilliben);
  EXPECT_NEAR(found.line.slope.value, 2.0, 1e-13);
  EXPECT_NEAR(found.line.intercept.value, 5.0, 1e-13);
  EXPECT_NEAR(found.line.correlation.value, 1.0, 1e-14);
}

TEST(NormalQq, TellsNormalFromHeavyTails) {
  const QqPlot normal =
      normal_qq(3.0 + 2.0 * test::normal_sample(20000, 4).array(), QqConvention::kFilliben);
  EXPECT_NEAR(normal.line.slope.value, 2.0, 0.05);
  EXPECT_NEAR(normal.line.intercept.value, 3.0, 0.06);
  EXPECT_GT(normal.line.correlation.value, 0.9995);
  const QqPlot heavy = normal_qq(test::pareto_sample(20000, 2.0, 5), QqConvention::kFilliben);
  EXPECT_LT(heavy.line.correlation.value, 0.9);
  const Index last = heavy.sample.size() - 1;
  EXPECT_GT(heavy.sample[last],
            heavy.line.intercept.value + heavy.line.slope.value * heavy.theoretical[last]);
}

TEST(NormalQq, SaysWhyThereIsNone) {
  VectorXd values = test::normal_sample(5, 1);
  values[0] = kInfinity;
  const QqPlot found = normal_qq(values, QqConvention::kFilliben);
  EXPECT_EQ(found.status, Status::kNonFinite);
  EXPECT_EQ(found.theoretical.size(), 0);
  const VectorXd equal = VectorXd::Constant(5, 0.1);
  EXPECT_EQ(normal_qq(equal, QqConvention::kStandardized).status,
            Status::kUndefinedZeroDenominator);
  const QqPlot flat = normal_qq(equal, QqConvention::kFilliben);
  EXPECT_EQ(flat.status, Status::kOk);
  EXPECT_EQ(flat.line.slope.value, 0.0);
  EXPECT_EQ(flat.line.correlation.status, Status::kUndefinedZeroDenominator);
  EXPECT_EQ(normal_qq(VectorXd::Ones(1), QqConvention::kFilliben).line.slope.status,
            Status::kUndefinedZeroDenominator);
  test::expect_refusal([] { normal_qq(VectorXd(), QqConvention::kFilliben); }, "normal_qq");
}

}  // namespace
}  // namespace hesscope
