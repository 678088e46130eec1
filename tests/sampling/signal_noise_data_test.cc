// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <hesscope/sampling/signal_noise_data.h>

#include "sampling/distribution_checks.h"
#include "sampling/draws.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Placement = SignalNoiseDataOptions::Placement;

TEST(SignalNoiseData, HasOneTokenOfSignalAndOneOfSparseNoise) {
  const SignalNoiseData sampler({.dimension = 6,
                                 .sparsity = 3,
                                 .noise_std = 0.5,
                                 .signal = 2,
                                 .placement = Placement::kFirst});
  test::expect_tiled(sampler);
  EXPECT_EQ(sampler.arrays()[0].shape, (std::vector<std::int64_t>{2, 6}));
  EXPECT_EQ(sampler.arrays()[1].name, "target");
  std::map<std::set<std::size_t>, double> supports;
  std::vector<double> noise, signs;
  constexpr int kSamples = 5000;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    const std::vector<double> record = test::draw(sampler, i);
    const double y = record.back();
    ASSERT_EQ(std::abs(y), 1);
    signs.push_back(y);
    EXPECT_EQ(record[0], 2 * y);
    for (std::size_t j = 1; j < 7; ++j) EXPECT_EQ(record[j], 0);  // 6: the signal's coordinate
    std::set<std::size_t> support;
    for (std::size_t j = 7; j < 12; ++j) {
      if (record[j] == 0) continue;
      support.insert(j);
      noise.push_back(record[j] / 0.5);
    }
    EXPECT_EQ(support.size(), 3u);
    ++supports[support];
  }
  test::expect_mean(signs, 0, 1);
  test::expect_distribution(noise, test::normal_cdf);
  // Each of the 5 choose 3 = 10 sets a tenth of the time.
  EXPECT_EQ(supports.size(), 10u);
  for (const auto& [support, count] : supports) {
    EXPECT_LE(std::abs(count - kSamples / 10.0), test::kSigmas * std::sqrt(kSamples * 0.09));
  }
}

TEST(SignalNoiseData, SwapsTokensOnlyIfAsked) {
  const SignalNoiseData sampler({.dimension = 4, .sparsity = 3, .placement = Placement::kRandom});
  std::vector<double> is_first, product;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const std::vector<double> record = test::draw(sampler, i);
    const bool first = record[0] != 0;
    EXPECT_EQ(record[first ? 0 : 4], record.back());
    EXPECT_EQ(record[first ? 4 : 0], 0);
    is_first.push_back(first ? 1 : 0);
    product.push_back((first ? 1 : -1) * record.back());
  }
  test::expect_mean(is_first, 0.5, 0.5);
  test::expect_mean(product, 0, 1);
}

TEST(SignalNoiseData, ChecksItsKeys) {
  const auto make = [](std::map<std::string, SettingValue> keys) {
    keys.insert({{"dimension", std::int64_t{4}},
                 {"sparsity", std::int64_t{2}},
                 {"noise_std", 1.0},
                 {"signal", 1.0}});
    return test::make_sampler("signal-noise", keys);
  };
  EXPECT_EQ(make({})->record_size(), 9);
  EXPECT_EQ(make({{"noise_std", 0.0}})->record_size(), 9);
  test::expect_refusal<ConfigError>(
      [&] {
        make({{"sparsity", std::int64_t{4}}});
      },
      "'sparsity' must be below 'dimension', which is 4, got 4");
  test::expect_refusal<ConfigError>([&] { make({{"noise_std", -1.0}}); }, "'noise_std'");
  test::expect_refusal<ConfigError>([&] { make({{"signal", 0.0}}); }, "'signal'");
  test::expect_refusal<ConfigError>(
      [] {
        test::make_sampler("signal-noise", {{"dimension", std::int64_t{4}}});
      },
      "needs the key 'sparsity'");
  test::expect_refusal([] { SignalNoiseData({.dimension = 1, .sparsity = 1}); }, "dimension >= 2");
}

}  // namespace
}  // namespace hesscope
