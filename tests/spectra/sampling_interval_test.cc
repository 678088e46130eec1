// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/spectra/sampling_error.h>

#include "support/gaussian_samples.h"
#include "support/quadratic_objective.h"

namespace hesscope {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using enum SpectralFigure;

// diag(1, 2, 3) times 0.5, 1 and 1.5, in units down to where 3e-310 is a subnormal number.
TEST(SamplingErrors, OfSubnormalEigenvaluesHaveTheIntervalsOfOthers) {
  const auto largest = [](double unit) {
    std::vector<MatrixXd> blocks;
    for (const double k : {0.5, 1.0, 1.5}) {
      blocks.emplace_back((unit * k * Eigen::Vector3d(1, 2, 3)).asDiagonal());
    }
    return sampling_errors_of_blocks(blocks, 0.95).errors[kLambdaMax];
  };
  const SamplingError wanted = largest(1);
  for (const double unit : {1e-300, 1e-307, 1e-308, 1e-310}) {
    const SamplingError found = largest(unit);
    EXPECT_NEAR(found.lower / unit, wanted.lower, 1e-11);
    EXPECT_NEAR(found.upper / unit, wanted.upper, 1e-10);
  }
}

// The largest of magnitudes is not below their median: neither is an end of its interval.
TEST(SamplingErrors, OfRatiosToALargestMagnitudeAreNotBelowOne) {
  int num_cut = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const test::QuadraticObjective objective(
        test::blocks_of_covariance(VectorXd::Ones(3), 5, seed));
    const SamplingErrorEstimates errors = sampling_errors(objective, VectorXd::Zero(3));
    for (const SamplingErrors* found : {&errors.full, &errors.first_order}) {
      for (const SpectralFigure figure : {kRobustAbsolute, kRobustDiagonal}) {
        const SamplingError& error = (*found)[figure];
        ASSERT_EQ(error.status, Status::kOk);
        EXPECT_GE(error.lower, 1);
        EXPECT_LE(error.lower, error.value);
        EXPECT_LE(error.value, error.upper);
        num_cut += error.lower == 1 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(num_cut, 0);
}

}  // namespace
}  // namespace hesscope
