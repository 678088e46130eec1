// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/sampling/random_stream.h>

#include "sampling/distribution_checks.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Words = std::array<std::uint64_t, 4>;
using Key = std::array<std::uint64_t, 2>;
__extension__ using Wide = unsigned __int128;

// As Salmon et al. (2011), section 3, write it.
Words philox(Words c, Key k) {
  for (int round = 0; round < 10; ++round) {
    const Wide left = static_cast<Wide>(0xD2E7470EE14C6C93u) * c[0];
    const Wide right = static_cast<Wide>(0xCA5A826395121157u) * c[2];
    c = {static_cast<std::uint64_t>(right >> 64) ^ c[1] ^ k[0],
         static_cast<std::uint64_t>(right),
         static_cast<std::uint64_t>(left >> 64) ^ c[3] ^ k[1],
         static_cast<std::uint64_t>(left)};
    k[0] += 0x9E3779B97F4A7C15u;
    k[1] += 0xBB67AE8584CAA73Bu;
  }
  return c;
}

// The vectors of Random123's tests/kat_vectors, philox4x64 with 10 rounds.
TEST(Philox, OfThisTestHasTheKnownAnswers) {
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  EXPECT_EQ(
      philox({0, 0, 0, 0}, {0, 0}),
      (Words{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}));
  EXPECT_EQ(
      philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
      (Words{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}));
  EXPECT_EQ(
      philox({0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
             {0x452821e638d01377, 0xbe5466cf34e90c6c}),
      (Words{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}));
}

TEST(RandomStream, GivesTheWordsOfPhilox) {
  for (const std::uint64_t seed : {0u, 7u, ~0u}) {
    for (const Stream stream : {Stream::kEvaluation, Stream::kNoise}) {
      for (const std::uint64_t index : {std::uint64_t{0}, ~std::uint64_t{0}}) {
        RandomStream random(seed, stream, index);
        for (std::uint64_t block = 0; block < 9; ++block) {
          for (const std::uint64_t word :
               philox({block, index, 0, 0}, {seed, static_cast<std::uint64_t>(stream)})) {
            EXPECT_EQ(random(), word);
          }
        }
      }
    }
  }
}

// What is drawn is part of every result: neither a compiler nor a library may change it.
TEST(RandomStream, KeepsItsNumbers) {
  RandomStream random(1, Stream::kTraining, 2);
  EXPECT_EQ(random.uniform(), 0.97136615249944858);
  EXPECT_EQ(random.normal(), -1.080463738897216);
  EXPECT_EQ(random.normal(), 0.59290095042299085);
  EXPECT_EQ(random.below(1000), 431u);
  EXPECT_DOUBLE_EQ(random.gamma(0.1, 10), 1.7788839291526622e-07);
  EXPECT_DOUBLE_EQ(random.gamma(2.5, 2), 5.3521333025235247);
}

TEST(RandomStream, DependsOnNeitherOrderNorThreads) {
  constexpr Eigen::Index kItems = 300;
  const auto draw = [](Eigen::Index i) {
    RandomStream random(3, Stream::kNoise, static_cast<std::uint64_t>(i));
    return random.normal() + random.gamma(0.3, 1) + random.uniform();
  };
  std::vector<double> backwards(kItems);
  for (Eigen::Index i = kItems; i-- > 0;) backwards[static_cast<std::size_t>(i)] = draw(i);
  std::vector<double> parallel(kItems);
  Executor(4).for_each(kItems,
                       [&](Eigen::Index i) { parallel[static_cast<std::size_t>(i)] = draw(i); });
  EXPECT_EQ(parallel, backwards);
  EXPECT_EQ(std::set<double>(parallel.begin(), parallel.end()).size(), parallel.size());
}

TEST(RandomStream, FillsWithTheNumbersOfSingleCalls) {
  RandomStream single(5, Stream::kTask, 1);
  RandomStream filling(5, Stream::kTask, 1);
  std::vector<double> out(1001);
  filling.normal(out);
  for (const double x : out) EXPECT_EQ(x, single.normal());
  EXPECT_EQ(filling(), single());
}

constexpr std::size_t kDraws = 200000;

// From many items of a few words each, as samplers draw.
template <typename Draw>
std::vector<double> numbers(const Draw& draw) {
  std::vector<double> values;
  for (std::uint64_t i = 0; values.size() < kDraws; ++i) {
    RandomStream random(11, Stream::kEvaluation, i);
    for (int k = 0; k < 20; ++k) values.push_back(draw(random));
  }
  return values;
}

TEST(RandomStream, IsUniform) {
  const auto values = numbers([](RandomStream& r) { return r.uniform(); });
  test::expect_distribution(values, [](double x) { return x; });
  test::expect_mean(values, 0.5, std::sqrt(1.0 / 12));
  EXPECT_LT(*std::max_element(values.begin(), values.end()), 1);
}

TEST(RandomStream, IsNormal) {
  const auto values = numbers([](RandomStream& r) { return r.normal(); });
  test::expect_distribution(values, test::normal_cdf);
  // Var x^k = (2k - 1)!! - ((k - 1)!!)^2
  test::expect_mean(values, 0, 1);
  test::expect_mean(test::powers(values, 2), 1, std::sqrt(2.0));
  test::expect_mean(test::powers(values, 3), 0, std::sqrt(15.0));
  test::expect_mean(test::powers(values, 4), 3, std::sqrt(96.0));
  // Beyond 3.44 the ziggurat draws from its tail.
  const double tail = 2 * test::normal_cdf(-3.5);
  std::vector<double> is_far;
  for (const double x : values) is_far.push_back(std::abs(x) > 3.5 ? 1 : 0);
  test::expect_mean(is_far, tail, std::sqrt(tail));
}

TEST(RandomStream, HasNeighboursWithoutCorrelation) {
  std::vector<double> products;
  for (std::uint64_t i = 0; i + 1 < kDraws; ++i) {
    products.push_back(RandomStream(1, Stream::kTraining, i).normal() *
                       RandomStream(1, Stream::kTraining, i + 1).normal());
  }
  test::expect_mean(products, 0, 1);
}

TEST(RandomStream, IsGamma) {
  for (const double shape : {0.1, 0.5, 1.0, 2.5, 30.0}) {
    const double scale = 10;
    const auto values = numbers([&](RandomStream& r) { return r.gamma(shape, scale); });
    test::expect_distribution(values, [&](double x) { return test::gamma_cdf(shape, x / scale); });
    test::expect_mean(values, shape * scale, std::sqrt(shape) * scale);
    // E x^2 = k (k + 1) theta^2, E x^4 = k (k + 1) (k + 2) (k + 3) theta^4.
    const double second = shape * (shape + 1) * scale * scale;
    const double fourth = second * (shape + 2) * (shape + 3) * scale * scale;
    test::expect_mean(test::powers(values, 2), second, std::sqrt(fourth - second * second));
  }
}

TEST(RandomStream, CountsWithoutBias) {
  std::vector<double> values = numbers([](RandomStream& r) { return double(r.below(3)); });
  for (const double digit : {0.0, 1.0, 2.0}) {
    std::vector<double> hits;
    for (const double x : values) hits.push_back(x == digit ? 1 : 0);
    test::expect_mean(hits, 1.0 / 3, std::sqrt(2.0) / 3);
  }
  // A count of 3 * 2^62 leaves over a quarter of the 2^64 words, which a careless method would give
  // to every third value.
  const std::uint64_t count = std::uint64_t{3} << 62;
  std::vector<double> thirds;
  for (std::uint64_t i = 0; i < kDraws / 10; ++i) {
    thirds.push_back(RandomStream(2, Stream::kOrder, i).below(count) % 3 == 0 ? 1 : 0);
  }
  test::expect_mean(thirds, 1.0 / 3, std::sqrt(2.0) / 3);
  RandomStream one(0, Stream::kOrder, 0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(one.below(1), 0u);
}

TEST(RandomStream, RefusesWhatIsNoDistribution) {
  RandomStream random(0, Stream::kTask, 0);
  const double nan = kNaN;
  for (const double bad : {0.0, -1.0, nan, kInfinity}) {
    test::expect_refusal([&] { random.gamma(bad, 1); }, "must be positive and finite");
    test::expect_refusal([&] { random.gamma(1, bad); }, "must be positive and finite");
  }
  test::expect_refusal([&] { random.below(0); }, "at least 1");
}

}  // namespace
}  // namespace hesscope
