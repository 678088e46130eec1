// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/noise/minibatches.h>

#include "support/refusal.h"

namespace hesscope {
namespace {

using Samples = std::vector<std::uint32_t>;

TEST(ResampledMinibatch, IsThatOfItsDocumentedGenerator) {
  constexpr std::uint64_t kSeed = (std::uint64_t{7} << 32) + 5;
  std::seed_seq key{5U, 7U, 40U, 0U, 3U, 0U};
  std::mt19937_64 engine(key);
  Samples expected;
  for (int i = 0; i < 40; ++i) expected.push_back(static_cast<std::uint32_t>(engine() % 1000));
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(resampled_minibatch(kSeed, 3, 40, 1000), expected);
}

TEST(ResampledMinibatch, IsAnotherForAnotherKey) {
  const std::set<Samples> different = {resampled_minibatch(1, 0, 50, 10000),
                                       resampled_minibatch(2, 0, 50, 10000),
                                       resampled_minibatch(std::uint64_t{1} << 32, 0, 50, 10000),
                                       resampled_minibatch(1, 1, 50, 10000)};
  EXPECT_EQ(different.size(), 4U);
  const Samples longer = resampled_minibatch(1, 0, 51, 10000);
  const Samples shorter = resampled_minibatch(1, 0, 50, 10000);
  EXPECT_FALSE(std::includes(longer.begin(), longer.end(), shorter.begin(), shorter.end()));
}

// Counts of 100 samples in 2,000 minibatches of 50: chi squared with 99 degrees of freedom is 99
// with a standard deviation of 14.
TEST(ResampledMinibatch, IsUniform) {
  std::vector<double> counts(100, 0.0);
  for (int draw = 0; draw < 2000; ++draw) {
    const Samples samples = resampled_minibatch(0, draw, 50, 100);
    ASSERT_EQ(samples.size(), 50U);
    EXPECT_TRUE(std::is_sorted(samples.begin(), samples.end()));
    for (const std::uint32_t sample : samples) {
      ASSERT_LT(sample, 100U);
      counts[sample] += 1.0;
    }
  }
  double chi_squared = 0.0;
  for (const double count : counts) chi_squared += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_GT(chi_squared, 99.0 - 4.0 * 14.0);
  EXPECT_LT(chi_squared, 99.0 + 4.0 * 14.0);
}

TEST(ResampledMinibatch, OfOneSampleAndOfVeryMany) {
  EXPECT_EQ(resampled_minibatch(0, 0, 3, 1), Samples(3, 0));
  const Samples far = resampled_minibatch(0, 0, 100, std::numeric_limits<std::uint32_t>::max());
  EXPECT_GT(far.back(), std::uint32_t{1} << 31);
}

TEST(ResampledMinibatch, RefusesWhatIsNone) {
  test::expect_refusal([] { resampled_minibatch(0, 0, 0, 1); }, "got 1, 0 and 0");
  test::expect_refusal([] { resampled_minibatch(0, -1, 1, 1); }, "got 1, 1 and -1");
  test::expect_refusal([] { resampled_minibatch(0, 0, 1, 0); }, "num_samples");
  test::expect_refusal([] { resampled_minibatch(0, 0, 1, Eigen::Index{1} << 32); }, "num_samples");
}

}  // namespace
}  // namespace hesscope
