// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/spectra/decomposition_cost.h>
#include <hesscope/spectra/spectrum.h>

#include "spectra/matrices.h"
#include "support/cost_ratio.h"

namespace hesscope {
namespace {

class DecompositionCost : public ::testing::TestWithParam<Eigen::Index> {};

TEST_P(DecompositionCost, IsForeseenWithinAFactor) {
  const Eigen::MatrixXd h = test::random_symmetric(GetParam(), 1);
  const double ratio =
      test::cost_ratio([&] { return estimate_decomposition_seconds(h.rows(), processor_seconds); },
                       [&] { dense_spectrum(h); });
  EXPECT_GT(ratio, 1 / test::kCostFactor);
  EXPECT_LT(ratio, test::kCostFactor);
}

// Decomposed as it is; from one of half the size, in one stage; and in two.
INSTANTIATE_TEST_SUITE_P(Sizes, DecompositionCost, ::testing::Values(700, 2000, 3000));

TEST(DecompositionCost, IsFiniteForTheSmallest) {
  const double seconds = estimate_decomposition_seconds(1);
  EXPECT_GE(seconds, 0.0);
  EXPECT_LT(seconds, 1.0);
}

// Fractions of progress are shares of the time, so that the time left follows from them.
class DecompositionProgress : public ::testing::TestWithParam<Eigen::Index> {};

TEST_P(DecompositionProgress, IsInProportionToTheTime) {
  const Eigen::MatrixXd h = test::random_symmetric(GetParam(), 2);
  const Eigen::VectorXd expected = dense_spectrum(h).eigenvalues;
  constexpr double kMostDeviation = 0.2;
  constexpr double kMostSilence = 0.15;  // of the whole time
  double deviation = kInfinity;
  double silence = kInfinity;
  for (int attempt = 0; attempt < test::kCostAttempts; ++attempt) {
    std::vector<std::pair<double, double>> reports;  // seconds, fraction
    const double start = processor_seconds();
    const Spectrum spectrum = dense_spectrum(h, [&](double fraction) {
      reports.emplace_back(processor_seconds() - start, fraction);
      return true;
    });
    const double total = processor_seconds() - start;
    ASSERT_EQ(spectrum.status, Status::kOk);
    EXPECT_EQ(spectrum.eigenvalues, expected);
    EXPECT_GT(reports.size(), 20U);
    deviation = silence = 0;
    double last_seconds = 0;
    double last_fraction = 0;
    for (const auto& [seconds, fraction] : reports) {
      EXPECT_GE(fraction, last_fraction);
      EXPECT_LE(fraction, 1.0);
      deviation = std::max(deviation, std::abs(fraction - seconds / total));
      silence = std::max(silence, (seconds - last_seconds) / total);
      last_seconds = seconds;
      last_fraction = fraction;
    }
    if (deviation < kMostDeviation && silence < kMostSilence) break;
  }
  EXPECT_LT(deviation, kMostDeviation);
  EXPECT_LT(silence, kMostSilence);
}

INSTANTIATE_TEST_SUITE_P(Sizes, DecompositionProgress, ::testing::Values(1600, 2600));

}  // namespace
}  // namespace hesscope
