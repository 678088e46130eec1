// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/spectra/sampling_error.h>

#include "support/gaussian_samples.h"
#include "support/matrices.h"
#include "support/quadratic_objective.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using enum SpectralFigure;

constexpr SpectralFigure kEveryFigure[] = {kLambdaMax,
                                           kLambdaMin,
                                           kLambdaMedian,
                                           kMedianMagnitude,
                                           kRobustEigenvalue,
                                           kRobustAbsolute,
                                           kRobustDiagonal};
constexpr SpectralFigure kRatios[] = {kRobustEigenvalue, kRobustAbsolute, kRobustDiagonal};

SamplingErrors errors_of_draw(const VectorXd& variances, std::uint64_t seed) {
  return sampling_errors_of_blocks(test::blocks_of_covariance(variances, 20, seed), 0.95).errors;
}

void expect_use(const SamplingErrors& errors, SpectralFigure figure, IntervalUse expected) {
  EXPECT_EQ(kIntervalUseMeanings[static_cast<std::size_t>(errors[figure].interval)],
            kIntervalUseMeanings[static_cast<std::size_t>(expected)])
      << kSpectralFigureNames[index_of(figure)];
}

VectorXd geometric_variances(Index n, double largest) {
  return VectorXd::LinSpaced(n, 0, std::log(largest)).array().exp();
}

TEST(IntervalUse, OfNumbersThatStandApartIsUsable) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const SamplingErrors errors = errors_of_draw(geometric_variances(7, 1e6), seed);
    for (const SpectralFigure figure : kEveryFigure)
      expect_use(errors, figure, IntervalUse::kUsable);
  }
}

// All eigenvalues of the population are 1, and so are all ratios: none of these intervals holds it.
TEST(IntervalUse, OfACrowdIsCrowdedRatiosIncluded) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const SamplingErrors errors = errors_of_draw(VectorXd::Ones(20), seed);
    for (const SpectralFigure figure : {kLambdaMax, kRobustEigenvalue, kRobustAbsolute}) {
      EXPECT_GT(errors[figure].lower, 1);
      expect_use(errors, figure, IntervalUse::kCrowded);
    }
    expect_use(errors, kLambdaMin, IntervalUse::kCrowded);
    expect_use(errors, kRobustDiagonal, IntervalUse::kCrowded);
    expect_use(errors, kLambdaMedian, IntervalUse::kCrowdedMedian);
    expect_use(errors, kMedianMagnitude, IntervalUse::kCrowdedMedian);
  }
}

// The biases of two equal eigenvalues are often below half the standard error. The gap shows the
// crowd, except in one or two draws of a hundred.
TEST(IntervalUse, OfTwoEqualEigenvaluesIsCrowdedWhateverTheBias) {
  VectorXd variances = VectorXd::Constant(8, 0.3);
  variances.tail(2).setOnes();
  int num_crowded = 0;
  int num_small = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SamplingErrors errors = errors_of_draw(variances, seed);
    const SamplingError& largest = errors[kLambdaMax];
    num_crowded += largest.interval == IntervalUse::kCrowded ? 1 : 0;
    num_small += std::abs(largest.bias) <= 0.5 * largest.standard_error ? 1 : 0;
    EXPECT_EQ(errors[kRobustEigenvalue].interval == IntervalUse::kCrowded,
              largest.interval == IntervalUse::kCrowded);
  }
  EXPECT_GE(num_crowded, 19);
  EXPECT_GE(num_small, 10);
}

// One far above 19 that are equal: the extreme is known, but its denominator is one of many.
TEST(IntervalUse, OfRatiosSaysWhetherOnlyTheMedianIsCrowded) {
  VectorXd variances = VectorXd::Ones(20);
  variances[19] = 50;
  const SamplingErrors errors = errors_of_draw(variances, 1);
  expect_use(errors, kLambdaMax, IntervalUse::kUsable);
  expect_use(errors, kLambdaMin, IntervalUse::kCrowded);
  for (const SpectralFigure figure : kRatios) {
    expect_use(errors, figure, IntervalUse::kCrowdedMedian);
  }
}

// The ends -5 and 5 stand apart from the others, but the largest magnitude may be either's.
TEST(IntervalUse, OfRobustAbsoluteIsThatOfTheLargestMagnitude) {
  const VectorXd entries = (VectorXd(5) << -5, -0.3, 0.1, 1, 5).finished();
  std::vector<MatrixXd> blocks;
  for (std::uint64_t b = 0; b < 32; ++b) {
    blocks.emplace_back(MatrixXd(entries.asDiagonal()) + 0.05 * test::random_symmetric(5, b));
  }
  const SamplingErrors errors = sampling_errors_of_blocks(blocks, 0.95).errors;
  expect_use(errors, kLambdaMax, IntervalUse::kUsable);
  expect_use(errors, kLambdaMin, IntervalUse::kUsable);
  expect_use(errors, kRobustEigenvalue, IntervalUse::kUsable);
  expect_use(errors, kRobustAbsolute, IntervalUse::kCrowded);
  expect_use(errors, kRobustDiagonal, IntervalUse::kCrowded);
}

// As where a model has the same unit twice: no sample moves the copies apart.
TEST(IntervalUse, OfCopiesInEverySampleIsUsable) {
  std::vector<MatrixXd> blocks;
  for (const MatrixXd& one : test::blocks_of_covariance(geometric_variances(5, 1e4), 20, 3)) {
    MatrixXd twice = MatrixXd::Zero(10, 10);
    twice.topLeftCorner(5, 5) = one;
    twice.bottomRightCorner(5, 5) = one;
    blocks.push_back(twice);
  }
  const SamplingErrors errors = sampling_errors_of_blocks(blocks, 0.95).errors;
  for (const SpectralFigure figure : kEveryFigure) expect_use(errors, figure, IntervalUse::kUsable);
}

// Samples that are multiples of one matrix: ratios do not depend on them, and what bias and error
// they have is rounding.
TEST(IntervalUse, OfWhatDoesNotDependOnSamplesIsUsable) {
  const MatrixXd one = test::with_eigenvalues(geometric_variances(6, 30), 2);
  std::vector<MatrixXd> blocks;
  for (int b = 0; b < 32; ++b) blocks.emplace_back((1.0 + std::sin(b)) * one);
  const SamplingErrors errors = sampling_errors_of_blocks(blocks, 0.95).errors;
  for (const SpectralFigure figure : kEveryFigure) expect_use(errors, figure, IntervalUse::kUsable);
}

// With fewer samples than parameters, zeros of the sample say nothing about those of the
// population.
TEST(IntervalUse, OfAnEigenvalueThatIsZeroWithinRoundingIsUnknown) {
  VectorXd variances = geometric_variances(9, 1e4);
  variances.head(5).setZero();
  const SamplingErrors errors = errors_of_draw(variances, 2);
  for (const SpectralFigure figure : {kLambdaMin, kLambdaMedian, kMedianMagnitude}) {
    EXPECT_EQ(errors[figure].status, Status::kOk);
    expect_use(errors, figure, IntervalUse::kUnknown);
  }
  for (const SpectralFigure figure : kRatios) expect_use(errors, figure, IntervalUse::kUnknown);
  expect_use(errors, kLambdaMax, IntervalUse::kUsable);
}

TEST(IntervalUse, IsThatOfTheFullJackknifeAlone) {
  const test::QuadraticObjective objective(
      test::blocks_of_covariance(geometric_variances(7, 1e6), 20, 1));
  const SamplingErrorEstimates errors = sampling_errors(objective, VectorXd::Zero(7));
  for (const SpectralFigure figure : kEveryFigure) {
    expect_use(errors.full, figure, IntervalUse::kUsable);
    expect_use(errors.first_order, figure, IntervalUse::kUnknown);
  }
}

}  // namespace
}  // namespace hesscope
