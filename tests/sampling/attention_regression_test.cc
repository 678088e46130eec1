// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/sampling/attention_regression.h>

#include "sampling/distribution_checks.h"
#include "sampling/draws.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Targets = AttentionRegressionOptions::Targets;
using Matrix = std::vector<std::vector<double>>;

TEST(AttentionRegression, IsNormalWithoutATeacher) {
  const AttentionRegression sampler({.sequence = 3, .embedding = 4});
  test::expect_tiled(sampler);
  EXPECT_EQ(sampler.arrays()[0].shape, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(sampler.arrays()[1].shape, (std::vector<std::int64_t>{3}));
  std::vector<double> values;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const std::vector<double> record = test::draw(sampler, i);
    values.insert(values.end(), record.begin(), record.end());
  }
  test::expect_distribution(values, test::normal_cdf);
}

Matrix entries(RandomStream& random, std::size_t rows, std::size_t cols, double std) {
  Matrix m(rows, std::vector<double>(cols));
  for (auto& row : m) {
    for (double& x : row) x = std * random.normal();
  }
  return m;
}

// The layer by plain loops, its weights from the documented stream.
std::vector<double> teacher(Targets kernel, const std::vector<double>& x) {
  constexpr std::size_t n = 3, D = 4, H = 2, d = 5;
  RandomStream random(8, Stream::kTask, 0);
  std::vector<Matrix> wq, wk, wv;
  for (std::size_t h = 0; h < H; ++h) {
    wq.push_back(entries(random, D, d, 0.5));
    wk.push_back(entries(random, D, d, 0.5));
    wv.push_back(entries(random, D, d, 0.5));
  }
  const Matrix wo = entries(random, H * d, 1, 1 / std::sqrt(10.0));
  const auto project = [&](const Matrix& w, std::size_t token, std::size_t c) {
    double sum = 0;
    for (std::size_t e = 0; e < D; ++e) sum += x[token * D + e] * w[e][c];
    return sum;
  };
  std::vector<double> y(n, 0);
  for (std::size_t h = 0; h < H; ++h) {
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> weights;
      double total = 0;
      for (std::size_t j = 0; j < n; ++j) {
        double dot = 0, square = 0;
        for (std::size_t c = 0; c < d; ++c) {
          const double q = project(wq[h], i, c);
          const double k = project(wk[h], j, c);
          dot += q * k;
          square += (q - k) * (q - k);
        }
        weights.push_back(kernel == Targets::kSoftmaxTeacher
                              ? std::exp(dot / std::sqrt(5.0))
                              : std::exp(-square / (2 * std::sqrt(5.0))));
        total += weights.back();
      }
      if (kernel == Targets::kGaussianTeacher) total = 1;
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t c = 0; c < d; ++c) {
          y[i] += weights[j] / total * project(wv[h], j, c) * wo[h * d + c][0];
        }
      }
    }
  }
  return y;
}

TEST(AttentionRegression, AsksATeacherThatIsTheDocumentedLayer) {
  for (const Targets kernel : {Targets::kSoftmaxTeacher, Targets::kGaussianTeacher}) {
    const AttentionRegression sampler({.sequence = 3,
                                       .embedding = 4,
                                       .targets = kernel,
                                       .teacher_heads = 2,
                                       .teacher_head_dimension = 5,
                                       .teacher_seed = 8});
    test::expect_tiled(sampler);
    for (std::uint64_t i = 0; i < 5; ++i) {
      const std::vector<double> record = test::draw(sampler, i);
      const std::vector<double> expected = teacher(kernel, record);
      for (std::size_t t = 0; t < 3; ++t) EXPECT_NEAR(record[12 + t], expected[t], 1e-13);
    }
  }
}

TEST(AttentionRegression, ChecksItsKeys) {
  const auto make = [](std::map<std::string, SettingValue> keys) {
    keys.insert({{"sequence", std::int64_t{2}}, {"embedding", std::int64_t{3}}});
    return test::make_sampler("attention-regression", keys);
  };
  EXPECT_EQ(make({})->record_size(), 8);
  test::expect_refusal<ConfigError>(
      [&] {
        make({{"targets", std::string("softmax-teacher")}});
      },
      "targets = \"softmax-teacher\" needs the key 'teacher_heads'");
  test::expect_refusal<ConfigError>(
      [&] {
        make({{"teacher_head_width", std::int64_t{2}}});
      },
      "does not take the key 'teacher_head_width'");
  EXPECT_EQ(make({{"targets", std::string("gaussian-teacher")},
                  {"teacher_heads", std::int64_t{1}},
                  {"teacher_head_width", std::int64_t{2}}})
                ->record_size(),
            8);
  test::expect_refusal([] { AttentionRegression({.sequence = 0}); }, "at least 1");
}

}  // namespace
}  // namespace hesscope
