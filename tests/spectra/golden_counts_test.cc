// SPDX-License-Identifier: BSD-3-Clause
//
// Counts and extremes on Hessians of trained models: tests/fixtures/*/golden-*.npz.
#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/spectra/counts.h>
#include <hesscope/spectra/extremes.h>
#include <hesscope/spectra/spectrum.h>

#include "spectra/golden_hessians.h"

namespace hesscope {
namespace {

TEST(EigenvalueCounter, MedianIsThatOfTheDenseSpectrumOnHessiansOfModels) {
  for (const test::GoldenHessian& golden : test::golden_hessians()) {
    SCOPED_TRACE(golden.name);
    const Spectrum dense = dense_spectrum(golden.hessian);
    ASSERT_EQ(dense.status, Status::kOk);
    EigenvalueCounter counter(golden.hessian);
    const RankedEigenvalue median = counter.median();
    ASSERT_EQ(median.status, Status::kOk);
    EXPECT_NEAR(median.eigenvalue.value, dense.median.value, 2.0 * dense.rounding_band);
    EXPECT_LE(median.eigenvalue.residual, dense.rounding_band);
    EXPECT_TRUE(counter.is_confirmed(median));
    const double band = dense.rounding_band;
    EXPECT_EQ(counter.num_below(-2.0 * band), (dense.eigenvalues.array() < -2.0 * band).count());
  }
}

TEST(Extremes, AreThoseOfTheDenseSpectrumOnHessiansOfModels) {
  std::int64_t most_columns = 0;
  for (const test::GoldenHessian& golden : test::golden_hessians()) {
    SCOPED_TRACE(golden.name);
    const Spectrum dense = dense_spectrum(golden.hessian);
    const MatrixOperator op(golden.hessian);
    ExtremesOptions options;
    options.dense_limit = 0;
    const Extremes extremes = extreme_eigenpairs(op, options);
    ASSERT_EQ(extremes.smallest.status, Status::kOk);
    ASSERT_EQ(extremes.largest.status, Status::kOk);
    EXPECT_EQ(extremes.smallest.proof,
              golden.hessian.rows() <= 48 ? Proof::kDense : Proof::kConverged);
    const double norm = std::max(-dense.smallest.value, dense.largest.value);
    EXPECT_LE(extremes.largest.error_bound, 5e-8 * norm);
    EXPECT_NEAR(extremes.smallest.values[0], dense.smallest.value, extremes.smallest.error_bound);
    EXPECT_NEAR(extremes.largest.values[0], dense.largest.value, extremes.largest.error_bound);
    most_columns = std::max(most_columns, extremes.num_columns);
  }
  RecordProperty("most_operator_columns", static_cast<int>(most_columns));
  EXPECT_LE(most_columns, 110);
}

}  // namespace
}  // namespace hesscope
