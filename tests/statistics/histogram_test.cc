// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/statistics/histogram.h>

#include "statistics/samples.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// The examples of numpy.histogram's documentation.
TEST(Histogram, CountsLikeNumpy) {
  const Histogram found = histogram(Eigen::Vector4d(1.0, 2.0, 1.0, 3.0), 2);
  ASSERT_EQ(found.status, Status::kOk);
  EXPECT_EQ(found.edges, Eigen::Vector3d(1.0, 2.0, 3.0));
  EXPECT_EQ(found.counts, Eigen::Vector2d(2.0, 2.0));  // 2 is in the second bin, 3 too
  EXPECT_EQ(found.density, Eigen::Vector2d(0.5, 0.5));
  const Histogram four = histogram(VectorXd::LinSpaced(5, 0.0, 4.0), 4);
  EXPECT_EQ(four.counts, Eigen::Vector4d(1.0, 1.0, 1.0, 2.0));
}

// By the definition, comparing with the edges; values on the edges too.
TEST(Histogram, CountsWhatLiesBetweenItsEdges) {
  for (const Index num_bins : {1, 3, 10, 49, 100}) {
    SCOPED_TRACE(num_bins);
    VectorXd values = test::normal_sample(2000, 7);
    const VectorXd edges = histogram(values, num_bins).edges;
    values.head(num_bins + 1) = edges;
    const Histogram found = histogram(values, num_bins);
    ASSERT_EQ(found.status, Status::kOk);
    ASSERT_EQ(found.edges.size(), num_bins + 1);
    EXPECT_EQ(found.edges[0], values.minCoeff<Eigen::PropagateNaN>());
    EXPECT_EQ(found.edges[num_bins], values.maxCoeff<Eigen::PropagateNaN>());
    double integral = 0.0;
    for (Index b = 0; b < num_bins; ++b) {
      const double left = found.edges[b];
      const double right = found.edges[b + 1];
      const bool is_last = b == num_bins - 1;
      Index expected = 0;
      for (const double value : values) {
        if (value >= left && (is_last ? value <= right : value < right)) ++expected;
      }
      EXPECT_EQ(found.counts[b], static_cast<double>(expected)) << "bin " << b;
      integral += found.density[b] * (right - left);
    }
    EXPECT_NEAR(integral, 1.0, 1e-13);
    EXPECT_EQ(found.counts.sum(), 2000.0);
  }
}

TEST(Histogram, OfEqualNumbersIsOneWide) {
  const Histogram found = histogram(VectorXd::Constant(6, 2.0), 4);
  ASSERT_EQ(found.status, Status::kOk);
  EXPECT_EQ(found.edges, VectorXd::LinSpaced(5, 1.5, 2.5));
  EXPECT_EQ(found.counts, Eigen::Vector4d(0.0, 0.0, 6.0, 0.0));
}

TEST(Histogram, SaysWhyThereIsNone) {
  VectorXd values = test::normal_sample(5, 1);
  values[2] = kNaN;
  EXPECT_EQ(histogram(values, 3).status, Status::kNonFinite);
  EXPECT_EQ(histogram(values, 3).counts.size(), 0);
  EXPECT_EQ(histogram(Eigen::Vector2d(-1.7e308, 1.7e308), 3).status, Status::kNonFinite);
  // One over the width of the bin is no double.
  EXPECT_EQ(histogram(Eigen::Vector2d(0.0, 5e-322), 1).status, Status::kNonFinite);
  EXPECT_EQ(histogram(Eigen::Vector2d(0.0, 5e-322), 1).edges.size(), 0);
  // There are no ten doubles between these neighbours, nor within 1/2 of 1e300.
  EXPECT_EQ(histogram(Eigen::Vector2d(1.0, std::nextafter(1.0, 2.0)), 10).status, Status::kFailed);
  EXPECT_EQ(histogram(Eigen::Vector2d(1e300, 1e300), 10).status, Status::kFailed);
}

TEST(Histogram, RefusesNoNumbersAndNoBins) {
  test::expect_refusal([] { histogram(VectorXd(), 3); }, "histogram: values");
  test::expect_refusal([] { histogram(VectorXd::Ones(3), 0); },
                       "num_bins must be at least 1, got 0");
}

}  // namespace
}  // namespace hesscope
