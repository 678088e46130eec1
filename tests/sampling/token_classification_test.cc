// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/sampling/token_classification.h>

#include "sampling/distribution_checks.h"
#include "sampling/draws.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

constexpr std::size_t kVocabulary = 7;
constexpr std::size_t kLength = 5;

const TokenClassificationOptions kTokens = {
    .vocabulary = kVocabulary, .length = kLength, .strength = 2, .task_seed = 3};

// Tokens of a record with one-hot embeddings.
std::vector<std::size_t> tokens(const std::vector<double>& record) {
  std::vector<std::size_t> found;
  for (std::size_t t = 0; t < kLength; ++t) {
    for (std::size_t e = 0; e < kVocabulary + kLength; ++e) {
      const double x = record[t * (kVocabulary + kLength) + e];
      EXPECT_EQ(x, e < kVocabulary ? x * x : double(e == kVocabulary + t));
      if (e < kVocabulary && x == 1) found.push_back(e);
    }
  }
  EXPECT_EQ(found.size(), kLength);
  return found;
}

TEST(TokenClassification, DrawsTokensAsOftenAsItsClassesSay) {
  const TokenClassification sampler(kTokens);
  test::expect_tiled(sampler);
  EXPECT_EQ(sampler.arrays()[0].shape, (std::vector<std::int64_t>{5, 12}));
  RandomStream random(3, Stream::kTask, 0);
  std::vector<double> scores(kVocabulary);
  random.normal(scores);
  std::vector<double> classes;
  std::vector<double> hits[2][kVocabulary];
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const std::vector<double> record = test::draw(sampler, i);
    const auto c = static_cast<std::size_t>(record.back());
    classes.push_back(record.back());
    ASSERT_LE(c, 1u);
    for (const std::size_t token : tokens(record)) {
      for (std::size_t v = 0; v < kVocabulary; ++v) hits[c][v].push_back(v == token ? 1 : 0);
    }
  }
  test::expect_mean(classes, 0.5, 0.5);
  for (std::size_t c = 0; c < 2; ++c) {
    double total = 0;
    for (const double z : scores) total += std::exp(c == 0 ? -z : z);
    for (std::size_t v = 0; v < kVocabulary; ++v) {
      const double p = std::exp(c == 0 ? -scores[v] : scores[v]) / total;
      test::expect_mean(hits[c][v], p, std::sqrt(p * (1 - p)));
    }
  }
}

TEST(TokenClassification, EmbedsTheSameTokensAtRandom) {
  TokenClassificationOptions options = kTokens;
  options.embedding = 4;
  options.embedding_seed = 21;
  const TokenClassification embedded(options);
  test::expect_tiled(embedded);
  RandomStream random(21, Stream::kTask, 1);
  std::vector<double> table((kVocabulary + kLength) * 4);
  for (double& x : table) x = 0.5 * random.normal();
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::vector<double> record = test::draw(embedded, i);
    const std::vector<double> plain = test::draw(TokenClassification(kTokens), i);
    EXPECT_EQ(record.back(), plain.back());
    const std::vector<std::size_t> ids = tokens(plain);
    for (std::size_t t = 0; t < kLength; ++t) {
      for (std::size_t e = 0; e < 4; ++e) {
        EXPECT_DOUBLE_EQ(record[t * 4 + e],
                         table[ids[t] * 4 + e] + table[(kVocabulary + t) * 4 + e]);
      }
    }
  }
}

TEST(TokenClassification, ChecksItsKeys) {
  const auto make = [](std::map<std::string, SettingValue> keys) {
    keys.insert({{"vocabulary", std::int64_t{3}}, {"length", std::int64_t{2}}});
    return test::make_sampler("token-classification", keys);
  };
  EXPECT_EQ(make({})->record_size(), 11);
  EXPECT_EQ(make({{"embedding", std::int64_t{6}}})->record_size(), 13);
  test::expect_refusal<ConfigError>([&] { make({{"strength", 0.0}}); }, "'strength'");
  test::expect_refusal<ConfigError>(
      [&] {
        make({{"vocabulary", std::int64_t{1}}});
      },
      "'vocabulary' must be between 2");
  test::expect_refusal([] { TokenClassification({.vocabulary = 0}); }, "needs features");
  test::expect_refusal([] { TokenClassification({.strength = -1}); }, "strength above 0");
  test::expect_refusal<ConfigError>([&] { make({{"strength", 1e7}}); }, "'strength'");
  std::vector<double> record(11);
  make({{"strength", 1e6}})->draw(0, Stream::kTask, 0, record);
  EXPECT_EQ(std::accumulate(record.begin(), record.begin() + 10, 0.0), 4);  // tokens and places
}

}  // namespace
}  // namespace hesscope
