// SPDX-License-Identifier: BSD-3-Clause
//
// Stochastic Lanczos quadrature of Hessians of models, against their eigenvalues as NumPy computed
// them.
#include <cstdint>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/spectra/distribution_distance.h>
#include <hesscope/spectra/lanczos_quadrature.h>

#include "spectra/golden_hessians.h"

namespace hesscope {
namespace {

// 10 probes of 100 steps, the defaults. The weights of the rules alone, not calibrated, miss the
// 1 % on most of these for some of 20 seeds, by up to a factor of 2.
TEST(LanczosQuadrature, IsWithinOnePercentOfTheWidthOnHessiansOfModels) {
  for (const test::GoldenHessian& golden : test::golden_hessians()) {
    SCOPED_TRACE(golden.name);
    const SpectralMeasure exact = exact_measure(golden.eigenvalues);
    const double width = exact.nodes.tail(1)[0] - exact.nodes[0];
    const MatrixOperator op(golden.hessian);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const LanczosQuadrature found = lanczos_quadrature(op, {.seed = seed});
      ASSERT_EQ(found.status, Status::kOk);
      EXPECT_LE(wasserstein_distance(found.measure, exact), 0.01 * width) << "seed " << seed;
      const double slack = 1e-10 * width;  // where nothing is left to chance
      EXPECT_NEAR(
          found.trace.value, golden.eigenvalues.sum(), 6.0 * found.trace.standard_error + slack);
    }
  }
}

}  // namespace
}  // namespace hesscope
