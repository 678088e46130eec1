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

#include "support/cost_ratio.h"
#include "support/matrices.h"
#include "support/progress_shares.h"

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
  const test::ProgressShares shares = test::progress_shares_of(kMostDeviation, kMostSilence, [&] {
    return [&](const ProgressCallback& callback) {
      const Spectrum spectrum = dense_spectrum(h, callback);
      EXPECT_EQ(spectrum.status, Status::kOk);
      EXPECT_EQ(spectrum.eigenvalues, expected);
    };
  });
  EXPECT_GT(shares.num_reports, 20U);
  EXPECT_LT(shares.deviation, kMostDeviation);
  EXPECT_LT(shares.silence, kMostSilence);
}

// In one stage, of a size at which the eigenvalues of the tridiagonal form, one call of LAPACK,
// take a tenth; in two.
INSTANTIATE_TEST_SUITE_P(Sizes, DecompositionProgress, ::testing::Values(2200, 2600));

}  // namespace
}  // namespace hesscope
