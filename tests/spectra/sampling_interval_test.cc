// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/spectra/sampling_error.h>

namespace hesscope {
namespace {

using Eigen::MatrixXd;
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

}  // namespace
}  // namespace hesscope
