// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/objective/fresh_samples.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/sampling/linear_regression.h>
#include <hesscope/spectra/sample_ladder.h>

#include "support/matrices.h"
#include "support/maxima.h"
#include "support/quadratic_objective.h"
#include "support/refusal.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::expect_refusal;
using ::testing::ElementsAre;

TEST(SampleLadder, DoublesUpToTheSamplesAskedFor) {
  EXPECT_THAT(sample_ladder(1), ElementsAre(32));
  EXPECT_THAT(sample_ladder(1000), ElementsAre(1024));
  EXPECT_THAT(sample_ladder(2000), ElementsAre(1024, 2048));
  EXPECT_THAT(sample_ladder(10'000), ElementsAre(1280, 2560, 5120, 10'240));
  const auto many = sample_ladder(10'000'000);
  EXPECT_GE(many.back(), 10'000'000);
  EXPECT_LE(many.back(), 10'000'000 + 10'000'000 / 32);
  expect_refusal([] { sample_ladder(0); }, "num_samples must be in [1, ");
}

// Each rung is what the jackknife says of an objective that holds just its samples.
TEST(SampleLadder, HasTheErrorsOfEachSampleByItself) {
  std::vector<MatrixXd> all;
  for (std::uint64_t i = 0; i < 128; ++i) {
    all.push_back(MatrixXd(VectorXd::LinSpaced(5, 1, 5).asDiagonal()) +
                  test::random_symmetric(5, i));
  }
  const test::QuadraticObjective objective(all);
  const VectorXd theta = VectorXd::Zero(5);
  std::vector<std::int64_t> drawn(128, 0);
  const auto rungs = climb_sample_ladder(
      {32, 64, 128},
      [&](std::int64_t first, std::int64_t count, const ProgressCallback& progress) {
        for (std::int64_t i = first; i < first + count; ++i) ++drawn[static_cast<std::size_t>(i)];
        return objective.hessian(theta, {first, first + count}, progress);
      },
      0.9);
  EXPECT_EQ(drawn, std::vector<std::int64_t>(128, 1));  // each sample once
  ASSERT_EQ(rungs.size(), 3);
  for (const LadderRung& rung : rungs) {
    const auto size = static_cast<std::size_t>(rung.num_samples);
    const test::QuadraticObjective some(std::vector<MatrixXd>(all.data(), all.data() + size));
    const SamplingErrors expected =
        sampling_errors(some, theta, {.num_blocks = 32, .level = 0.9}).full;
    for (std::size_t f = 0; f < kSpectralFigureNames.size(); ++f) {
      const SamplingError& one = rung.errors.figures[f];
      const SamplingError& other = expected.figures[f];
      EXPECT_EQ(one.status, other.status);
      EXPECT_NEAR(one.value, other.value, 1e-12) << kSpectralFigureNames[f];
      EXPECT_NEAR(one.standard_error, other.standard_error, 1e-10) << kSpectralFigureNames[f];
      EXPECT_NEAR(one.lower, other.lower, 1e-10) << kSpectralFigureNames[f];
      EXPECT_NEAR(one.upper, other.upper, 1e-10) << kSpectralFigureNames[f];
    }
    EXPECT_EQ(rung.num_negative, 0);
    EXPECT_EQ(rung.num_zero, 0);
  }
}

// One layer of linear attention on Gaussian prompts with w ~ N(0, I): the prediction is s^T Q x, s
// the mean of y_i x_i over the context and x the query, whatever P is. By the fourth moments of a
// Gaussian E s s^T = (n + d + 1) / n I, so that the Hessian by Q is 2 (n + d + 1) / n I, and all
// else zero.
TEST(SampleLadder, ComesToTheMomentsOfOneLayerOfLinearAttention) {
  constexpr Index kD = 2;
  constexpr Index kN = 3;
  constexpr double kExact = 2.0 * (kN + kD + 1) / kN;
  const LinearRegression sampler({.dimension = kD, .context = kN});
  const Model model = linear_attention({.layers = 1, .dimension = kD, .context = kN});
  const GraphObjective objective(model, SampleTable::Ones(1, model.record_size()), {});
  const auto fresh = fresh_samples(objective, sampler, "sampler");
  const VectorXd theta = test::random_matrix(2 * kD * kD, 1, 3);
  MatrixXd sum = MatrixXd::Zero(8, 8);
  const std::vector<std::int64_t> sizes = sample_ladder(200'000);
  const auto rungs = climb_sample_ladder(
      sizes,
      [&](std::int64_t first, std::int64_t count, const ProgressCallback& progress) {
        const FreshSamples::Range range = {.seed = 1,
                                           .stream = Stream::kPopulation,
                                           .first = static_cast<std::uint64_t>(first),
                                           .count = count};
        const MatrixXd h = fresh->hessian(theta, range, progress);
        sum += static_cast<double>(count) * h;
        return h;
      },
      0.95);
  const MatrixXd mean = sum / static_cast<double>(sizes.back());
  MatrixXd exact = MatrixXd::Zero(8, 8);
  exact.bottomRightCorner(4, 4) = kExact * MatrixXd::Identity(4, 4);
  const SamplingError& last = rungs.back().errors[SpectralFigure::kLambdaMax];
  // The largest of four equal eigenvalues is above them by their spread, about the error of one.
  EXPECT_LE(std::abs(last.value - kExact), 5 * last.standard_error);
  EXPECT_LE(last.standard_error, 0.02 * kExact);
  EXPECT_LE(test::largest_difference(mean, exact), 5 * last.standard_error);
  EXPECT_EQ(rungs.back().num_zero, 4);
  EXPECT_EQ(rungs.back().num_negative, 0);
  const SamplingError& first = rungs.front().errors[SpectralFigure::kLambdaMax];
  EXPECT_GT(first.standard_error, 4 * last.standard_error);  // by 14 for independent samples
  EXPECT_LE(std::abs(first.value - kExact), 5 * first.standard_error);
}

TEST(SampleLadder, RefusesWhatIsNoLadder) {
  const auto hessian = [](std::int64_t, std::int64_t, const ProgressCallback&) {
    return MatrixXd(MatrixXd::Identity(2, 2));
  };
  expect_refusal([&] { climb_sample_ladder({}, hessian, 0.9); },
                 "must double from a multiple of 32");
  expect_refusal([&] { climb_sample_ladder({33}, hessian, 0.9); }, "must double");
  expect_refusal([&] { climb_sample_ladder({32, 96}, hessian, 0.9); }, "must double");
  expect_refusal([&] { climb_sample_ladder({32}, hessian, 1.0); },
                 "a level in (0, 1), got 32 and 1");
}

}  // namespace
}  // namespace hesscope
