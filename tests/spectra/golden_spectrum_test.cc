// SPDX-License-Identifier: BSD-3-Clause
#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/spectra/spectrum.h>

#include "spectra/golden_hessians.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

TEST(DenseSpectrum, MatchesNumPyOnHessiansOfModels) {
  for (const test::GoldenHessian& golden : test::golden_hessians()) {
    SCOPED_TRACE(golden.name);
    const Eigen::VectorXd& expected = golden.eigenvalues;
    const Spectrum spectrum = dense_spectrum(golden.hessian);
    ASSERT_EQ(spectrum.status, Status::kOk);
    // Either solver may err by the rounding band.
    EXPECT_LE(test::largest_difference(spectrum.eigenvalues, expected),
              2.0 * spectrum.rounding_band);
    EXPECT_NEAR(spectrum.median.value, lower_median(expected), 2.0 * spectrum.rounding_band);
    for (const Eigenvalue& e : {spectrum.smallest, spectrum.median, spectrum.largest}) {
      EXPECT_LE(e.residual, spectrum.rounding_band);
    }
  }
}

}  // namespace
}  // namespace hesscope
