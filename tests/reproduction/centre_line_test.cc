// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/reproduction/internal/centre_line.h>

namespace hesscope::detail {
namespace {

TEST(CentreLine, IsOfTheAxis) {
  const std::vector<double> positive = {1, 2, kNaN};
  const std::vector<double> mixed = {1, -2, kNaN};
  EXPECT_EQ(centre_of("auto", "linear", mixed), Centre::kMean);
  EXPECT_EQ(centre_of("auto", "log", positive), Centre::kGeometricMean);
  EXPECT_EQ(centre_of("auto", "log", mixed), Centre::kMedian);
  EXPECT_EQ(centre_of("auto", "signed-log", positive), Centre::kMedian);
  EXPECT_EQ(centre_of("mean", "signed-log", mixed), Centre::kMean);
  EXPECT_EQ(centre_of("median", "linear", mixed), Centre::kMedian);
}

TEST(CentreLine, OfTheMedianHasTheQuartilesForItsBand) {
  const SeedStatistics seeds = seed_statistics(std::vector<double>{-10, -1, 0, 1, 100});
  const Centred drawn = centred(seeds, "std/4", Centre::kMedian);
  EXPECT_EQ(drawn.centre, 0);
  EXPECT_EQ(drawn.low, -1);
  EXPECT_EQ(drawn.high, 1);
  const Centred all = centred(seeds, "min-max", Centre::kMedian);
  EXPECT_EQ(all.centre, 0);
  EXPECT_EQ(all.low, -10);
  EXPECT_EQ(all.high, 100);
  EXPECT_EQ(words_for_band("std/4", Centre::kMedian), "from the lower to the upper quartile");
}

TEST(CentreLine, OfOneSeedHasNoBand) {
  const SeedStatistics one = seed_statistics(std::vector<double>{3});
  for (const Centre centre : {Centre::kMean, Centre::kGeometricMean, Centre::kMedian}) {
    const Centred drawn = centred(one, "std", centre);
    EXPECT_NEAR(drawn.low, 3, 1e-15);
    EXPECT_EQ(drawn.low, drawn.centre);
    EXPECT_EQ(drawn.high, drawn.centre);
  }
}

TEST(SignedThreshold, IsReachedByNineInTen) {
  std::vector<double> values = {1e-12, kNaN, 0, kInfinity};
  for (int k = 1; k < 20; ++k) values.push_back(k % 2 == 0 ? 5.0 + k : -5.0 - k);
  EXPECT_NEAR(signed_threshold(values), 6.9, 1e-12);  // as NumPy's quantile of twenty
  EXPECT_EQ(signed_threshold(std::vector<double>{0, kNaN}), 0);
}

}  // namespace
}  // namespace hesscope::detail
