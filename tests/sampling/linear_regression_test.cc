// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/sampling/linear_regression.h>

#include "sampling/distribution_checks.h"
#include "sampling/draws.h"
#include "support/decompositions.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Prompt {
  MatrixXd x;  // d x (n + 1)
  VectorXd y;  // n + 1, the query's from the target
};

Prompt prompt(const Sampler& sampler, std::uint64_t index) {
  const auto& shape = sampler.arrays()[0].shape;
  const std::vector<double> record = test::draw(sampler, index);
  const Eigen::Index d = shape[0] - 1;
  const Eigen::Index tokens = shape[1];
  Prompt result{MatrixXd(d, tokens), VectorXd(tokens)};
  const auto z = [&](Eigen::Index r, Eigen::Index c) {
    return record[static_cast<std::size_t>(r * tokens + c)];
  };
  for (Eigen::Index c = 0; c < tokens; ++c) {
    for (Eigen::Index r = 0; r < d; ++r) result.x(r, c) = z(r, c);
    result.y[c] = z(d, c);
  }
  EXPECT_EQ(result.y[tokens - 1], 0);
  result.y[tokens - 1] = record.back();
  return result;
}

// How much of y is no linear function of the columns: min over w of ||X^T w - y|| / ||y||.
double misfit(const MatrixXd& x, const VectorXd& y) {
  const MatrixXd rows = x.transpose();
  return (rows * test::least_squares(rows, y) - y).norm() / y.norm();
}

TEST(LinearRegression, HasTheArraysOfLinearAttention) {
  const LinearRegression sampler({.dimension = 3, .context = 7});
  const auto arrays = sampler.arrays();
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].name, "Z");
  EXPECT_EQ(arrays[0].shape, (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(arrays[1].name, "target");
  EXPECT_TRUE(arrays[1].shape.empty());
  test::expect_tiled(sampler);
}

// Labels of all tokens, the query's included, are one linear function: more equations than
// unknowns.
TEST(LinearRegression, HasOneLinearFunctionAPrompt) {
  for (const Covariates law : {Covariates::kGaussian, Covariates::kSphere, Covariates::kGamma}) {
    const LinearRegression sampler(
        {.dimension = 4, .context = 12, .covariates = law, .gamma_shape = 2.5, .gamma_scale = 2});
    for (std::uint64_t i = 0; i < 20; ++i) {
      const Prompt p = prompt(sampler, i);
      EXPECT_LE(misfit(p.x, p.y), 1e-12);
    }
  }
}

// For d orthogonal tokens X, X^T X = d I: w = X y / d.
TEST(LinearRegression, DrawsWeightsAndTokensFromTheirLaws) {
  const Eigen::Index d = 3;
  const LinearRegression gaussian({.dimension = d, .context = 5});
  const LinearRegression orthogonal(
      {.dimension = d, .context = 5, .covariates = Covariates::kOrthogonal});
  std::vector<double> entries, weights, products;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const Prompt p = prompt(gaussian, i);
    entries.insert(entries.end(), p.x.data(), p.x.data() + p.x.size());
    const Prompt q = prompt(orthogonal, i);
    const VectorXd w = q.x.leftCols(d) * q.y.head(d) / double(d);
    weights.insert(weights.end(), w.begin(), w.end());
    products.push_back(w[0] * q.x(0, 0));
  }
  test::expect_distribution(entries, test::normal_cdf);
  test::expect_distribution(weights, test::normal_cdf);
  test::expect_mean(products, 0, 1);
}

TEST(LinearRegression, DrawsTokensFromTheSphere) {
  const LinearRegression sampler({.dimension = 3, .context = 4, .covariates = Covariates::kSphere});
  std::vector<double> first;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const Prompt p = prompt(sampler, i);
    for (Eigen::Index j = 0; j < 5; ++j) {
      EXPECT_NEAR(p.x.col(j).norm(), 1, 1e-14);
      first.push_back(p.x(0, j));
    }
  }
  // Archimedes: a coordinate of the sphere in three dimensions is uniform on [-1, 1].
  test::expect_distribution(first, [](double x) { return (x + 1) / 2; });
}

TEST(LinearRegression, GivesEveryTokenARadiusOfItsOwn) {
  const LinearRegression sampler({.dimension = 3,
                                  .context = 3,
                                  .covariates = Covariates::kGamma,
                                  .gamma_shape = 0.1,
                                  .gamma_scale = 10});
  std::vector<double> squares, cosines, products;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const Prompt p = prompt(sampler, i);
    for (Eigen::Index j = 0; j < 4; ++j) {
      squares.push_back(p.x.col(j).squaredNorm());
      if (squares.back() > 1e-200) cosines.push_back(p.x(0, j) / p.x.col(j).norm());
    }
    // The query's radius against the first token's; k theta = 1, k theta^2 = 10.
    products.push_back((p.x.col(0).squaredNorm() - 1) * (p.x.col(3).squaredNorm() - 1));
  }
  test::expect_distribution(squares, [](double x) { return test::gamma_cdf(0.1, x / 10); });
  test::expect_distribution(cosines, [](double x) { return (x + 1) / 2; });
  test::expect_mean(products, 0, 10);
}

// N(0, I_d) is Gamma(d / 2, 2): the other law of the paper's code.
TEST(LinearRegression, WithTheRightGammaIsGaussian) {
  const LinearRegression sampler({.dimension = 5,
                                  .context = 3,
                                  .covariates = Covariates::kGamma,
                                  .gamma_shape = 2.5,
                                  .gamma_scale = 2});
  std::vector<double> entries;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const Prompt p = prompt(sampler, i);
    entries.insert(entries.end(), p.x.data(), p.x.data() + p.x.size());
  }
  test::expect_distribution(entries, test::normal_cdf);
}

TEST(LinearRegression, DrawsOrthogonalTokens) {
  const Eigen::Index d = 4;
  const LinearRegression sampler(
      {.dimension = d, .context = 8, .covariates = Covariates::kOrthogonal});
  std::vector<double> traces;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const MatrixXd x = prompt(sampler, i).x;
    const MatrixXd context = x.leftCols(8);
    EXPECT_LE((context * context.transpose() - 8 * MatrixXd::Identity(d, d)).norm(), 1e-12);
    const MatrixXd first = x.leftCols(d);
    EXPECT_LE((first.transpose() * first - d * MatrixXd::Identity(d, d)).norm(), 1e-12);
    EXPECT_NEAR(x.col(8).norm(), 2, 1e-14);
    EXPECT_GT((x.leftCols(d) - x.middleCols(d, d)).norm(), 1e-3);
    traces.push_back(first.trace() / 2);
  }
  // For a Haar orthogonal matrix, E tr^k is that of a normal number up to k = 2 d / 2 (Diaconis and
  // Evans 2001): 0, 1, 0, 3.
  test::expect_mean(traces, 0, 1);
  test::expect_mean(test::powers(traces, 2), 1, std::sqrt(2.0));
  test::expect_mean(test::powers(traces, 4), 3, std::sqrt(96.0));
}

// The network by hand, from the documented stream: labels are linear in its outputs, not in x.
TEST(LinearRegression, DistortsTargetsByOneFixedNetwork) {
  const LinearRegressionOptions options = {
      .dimension = 2, .context = 30, .distortion_hidden = 6, .distortion_seed = 7};
  const LinearRegression sampler(options);
  RandomStream random(7, Stream::kTask, 0);
  const auto entries = [&](Eigen::Index rows, Eigen::Index cols, double inputs) {
    MatrixXd m(rows, cols);
    for (Eigen::Index r = 0; r < rows; ++r) {
      for (Eigen::Index c = 0; c < cols; ++c)
        m(r, c) = (2 * random.uniform() - 1) / std::sqrt(inputs);
    }
    return m;
  };
  const MatrixXd a1 = entries(6, 2, 2);
  const MatrixXd b1 = entries(6, 1, 2);
  const MatrixXd a2 = entries(2, 6, 6);
  const MatrixXd b2 = entries(2, 1, 6);
  for (std::uint64_t i = 0; i < 10; ++i) {
    const Prompt p = prompt(sampler, i);
    MatrixXd features(2, 31);
    for (Eigen::Index j = 0; j < 31; ++j) {
      const VectorXd h = (a1 * p.x.col(j) + b1).cwiseMax(0.0);
      features.col(j) = a2 * h + b2;
    }
    EXPECT_LE(misfit(features, p.y), 1e-12);
    EXPECT_GT(misfit(p.x, p.y), 1e-3);
  }
  // Another network, the same tokens.
  LinearRegressionOptions other = options;
  other.distortion_seed = 8;
  const Prompt p = prompt(sampler, 0);
  const Prompt q = prompt(LinearRegression(other), 0);
  EXPECT_EQ(p.x, q.x);
  EXPECT_NE(p.y, q.y);
}

TEST(LinearRegression, ChecksItsKeys) {
  const auto make = [](std::map<std::string, SettingValue> keys) {
    keys.insert({{"dimension", std::int64_t{2}}, {"context", std::int64_t{3}}});
    return test::make_sampler("linear-regression", keys);
  };
  EXPECT_EQ(make({})->record_size(), 13);
  const std::string gamma = "gamma";
  EXPECT_EQ(
      make({{"covariates", gamma}, {"gamma_shape", 0.1}, {"gamma_scale", 10.0}})->record_size(),
      13);
  test::expect_refusal<ConfigError>(
      [&] {
        make({{"covariates", gamma}});
      },
      "needs the key 'gamma_shape'");
  test::expect_refusal<ConfigError>(
      [&] {
        make({{"gamma_scale", 1.0}});
      },
      "covariates = \"gaussian\" does not take the key 'gamma_scale'");
  test::expect_refusal<ConfigError>(
      [&] {
        make({{"covariates", gamma}, {"gamma_shape", -0.1}, {"gamma_scale", 10.0}});
      },
      "'gamma_shape' must be above 0, got -0.1");
  test::expect_refusal<ConfigError>(
      [&] {
        make({{"dimension", std::int64_t{0}}});
      },
      "'dimension' must be between 1");
  test::expect_refusal([] { LinearRegression({.dimension = 0}); }, "at least 1");
  test::expect_refusal([] { LinearRegression({.covariates = Covariates::kGamma}); },
                       "must be positive and finite");
  std::vector<double> record(5);
  test::expect_refusal([&] { make({})->draw(0, Stream::kTask, 0, record); },
                       "record must have 13 entries, got 5");
}

}  // namespace
}  // namespace hesscope
