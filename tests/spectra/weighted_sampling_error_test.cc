// SPDX-License-Identifier: BSD-3-Clause
//
// Sampling errors of means with weights, of which each sample counts its own.
#include <cmath>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/spectra/internal/jackknife.h>
#include <hesscope/spectra/sampling_error.h>

#include "spectra/sampling_figures.h"
#include "support/matrices.h"
#include "support/weighted_mean.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using enum SpectralFigure;
using test::errors_of;
using test::expect_close;
using test::kAllFigures;
using test::naive_figures;
using test::name_of;
using test::scattered;
using test::WeightedMean;

TEST(SamplingErrors, OfAMeanWithWeightsDivideByThoseOutsideTheBlock) {
  constexpr Index kSamples = 23;
  constexpr double kDecay = 0.7;
  const std::vector<MatrixXd> matrices =
      scattered(test::with_eigenvalues(VectorXd::LinSpaced(6, -4, 9), 7), 0.3, kSamples);
  VectorXd weights = VectorXd::LinSpaced(kSamples, 1, 3);
  weights[4] = 0;
  weights[20] = 40;
  for (const Index num_blocks : {5, 23}) {
    const SamplingErrorEstimates errors =
        errors_of(WeightedMean(matrices, weights, kDecay), num_blocks);
    const std::vector<SampleRange> blocks = detail::sample_blocks(kSamples, num_blocks);
    for (Index b = 0; b < num_blocks; ++b) {
      const SampleRange block = blocks[static_cast<std::size_t>(b)];
      MatrixXd h = MatrixXd::Zero(6, 6);
      double weight = 0;
      for (Index i = 0; i < kSamples; ++i) {
        if (i >= block.begin && i < block.end) continue;
        h += weights[i] * matrices[static_cast<std::size_t>(i)];
        weight += weights[i];
      }
      h /= weight;
      h.diagonal().array() += kDecay;
      const VectorXd expected = naive_figures(h);
      for (const SpectralFigure figure : kAllFigures) {
        const auto f = static_cast<Index>(index_of(figure));
        const std::string what = name_of(figure) + " without block " + std::to_string(b);
        expect_close(errors.full.leave_one_out(b, f),
                     expected[f],
                     1e-11 * (1 + std::abs(expected[f])),
                     what);
        // The matrices are nearly alike: their differences enter in second order.
        if (!is_at_least_one(figure)) {
          expect_close(errors.first_order.leave_one_out(b, f),
                       expected[f],
                       0.02 * (1 + std::abs(expected[f])),
                       what + ", first order");
        }
      }
    }
  }
}

// Where nothing counts without a block there is no H.
TEST(SamplingErrors, OfAMeanWithWeightsNeedAWeightOutsideEachBlock) {
  const std::vector<MatrixXd> matrices = scattered(MatrixXd::Identity(3, 3), 0.3, 6);
  VectorXd weights = VectorXd::Zero(6);
  weights[1] = 1;
  const SamplingErrorEstimates errors = errors_of(WeightedMean(matrices, weights, 0), 6);
  for (const SamplingErrors* found : {&errors.full, &errors.first_order}) {
    EXPECT_NE((*found)[kLambdaMax].status, Status::kOk);
    EXPECT_TRUE(std::isnan((*found)[kLambdaMax].standard_error));
  }
}

}  // namespace
}  // namespace hesscope
