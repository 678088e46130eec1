// SPDX-License-Identifier: BSD-3-Clause
//
// Figures that are undefined, or zero within rounding, without some of the samples, and their
// errors.
#include <cmath>
#include <cstddef>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/status.h>
#include <hesscope/spectra/sampling_error.h>

#include "spectra/sampling_figures.h"
#include "support/matrices.h"
#include "support/quadratic_objective.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using enum SpectralFigure;
using test::diagonals;
using test::errors_of;
using test::expect_close;
using test::kAllFigures;
using test::name_of;
using test::QuadraticObjective;
using test::scattered;
using test::zero_for;

void expect_undefined(const SamplingError& error, Status status) {
  EXPECT_EQ(error.status, status) << to_string(error.status);
  for (const double number : {error.bias, error.standard_error, error.lower, error.upper}) {
    EXPECT_TRUE(std::isnan(number)) << number;
  }
}

TEST(SamplingErrors, OfARatioByZeroAreUndefined) {
  const VectorXd a = 2.0 + test::random_matrix(12, 1, 1).array();
  std::vector<VectorXd> entries;
  for (const double x : a) entries.emplace_back(Eigen::Vector3d(0.0, 0.0, x));
  const SamplingErrorEstimates errors = errors_of(diagonals(entries), 4);
  for (const SamplingErrors* found : {&errors.full, &errors.first_order}) {
    for (const SpectralFigure figure : {kRobustEigenvalue, kRobustAbsolute, kRobustDiagonal}) {
      expect_undefined((*found)[figure], Status::kUndefinedZeroMedian);
      EXPECT_TRUE(std::isnan((*found)[figure].value));
    }
    EXPECT_EQ((*found)[kLambdaMax].status, Status::kOk);
    EXPECT_EQ((*found)[kLambdaMedian].status, Status::kOk);
    EXPECT_EQ((*found)[kLambdaMedian].standard_error, 0.0);
  }
}

// Only sample 3 of 6 has a Hessian, v v^T: without it nothing is left but rounding, of whatever
// sign, and the jackknife's standard error of its eigenvalue |v|^2 / 6 is that eigenvalue.
TEST(SamplingErrors, WithoutTheOnlySampleThatCurvesNothingButRoundingIsLeft) {
  const MatrixXd v = test::random_matrix(3, 20, 5);
  for (Index k = 0; k < v.cols(); ++k) {
    std::vector<MatrixXd> matrices(6, MatrixXd::Zero(3, 3));
    matrices[3] = v.col(k) * v.col(k).transpose();
    const SamplingErrorEstimates errors = errors_of(QuadraticObjective(matrices), 6);
    const double largest = v.col(k).squaredNorm() / 6;
    constexpr double kT = 2.570581835636314;  // of 5 degrees of freedom
    for (const SamplingErrors* found : {&errors.full, &errors.first_order}) {
      const SamplingError& error = (*found)[kLambdaMax];
      EXPECT_EQ(error.status, Status::kOk);
      expect_close(error.value, largest, 1e-14, "value");
      expect_close(error.standard_error, largest, 1e-13, "standard error");
      expect_close(error.lower, (1 - kT) * largest, 1e-12, "lower");
      expect_close(error.upper, (1 + kT) * largest, 1e-12, "upper");
      expect_undefined((*found)[kRobustDiagonal], Status::kUndefinedZeroMedian);
    }
    const SamplingErrors of_blocks = sampling_errors_of_blocks(matrices, 0.95).errors;
    for (Index f = 0; f < 7; ++f) {
      EXPECT_EQ(of_blocks.figures[f].status, errors.full.figures[f].status);
    }
    expect_close(of_blocks[kLambdaMax].lower, (1 - kT) * largest, 1e-12, "of blocks");
  }
}

// The lower median of two is the smaller one: 1 or 1.5 in the first block and nowhere else.
TEST(SamplingErrors, OfARatioByWhatIsZeroOrOfOtherSignWithoutABlockAreUndefined) {
  for (const double otherwise : {0.0, 1e-17, -0.1}) {
    std::vector<VectorXd> entries(12, Eigen::Vector2d(otherwise, 5.0));
    for (std::size_t i = 0; i < 3; ++i) entries[i][0] = 1.5;
    const SamplingErrorEstimates errors = errors_of(diagonals(entries), 4);
    for (const SamplingErrors* found : {&errors.full, &errors.first_order}) {
      const double median = (3 * 1.5 + 9 * otherwise) / 12;
      EXPECT_NEAR((*found)[kLambdaMedian].value, median, 1e-15);
      EXPECT_EQ((*found)[kLambdaMedian].status, Status::kOk);
      EXPECT_GT((*found)[kLambdaMedian].standard_error, 0.0);
      EXPECT_NEAR((*found)[kRobustEigenvalue].value, 5.0 / median, 1e-12);
      expect_undefined((*found)[kRobustEigenvalue], Status::kUndefinedZeroMedian);
      EXPECT_TRUE(std::isnan(found->leave_one_out(0, index_of(kRobustEigenvalue))));
      EXPECT_EQ((*found)[kLambdaMax].status, Status::kOk);
    }
    // A figure that changes its sign has no logarithm, and the logarithm of one that is zero within
    // rounding is noise.
    for (const SpectralFigure figure : {kLambdaMedian, kMedianMagnitude}) {
      if (figure == kMedianMagnitude && otherwise < 0) continue;
      for (const SamplingErrors* found : {&errors.full, &errors.first_order}) {
        const SamplingError& median = (*found)[figure];
        EXPECT_NEAR(median.upper - median.value, median.value - median.lower, 1e-13);
        EXPECT_LT(median.upper, 10) << name_of(figure) << " " << otherwise;
      }
    }
  }
}

// The largest of two is 0 within rounding, but in the first block.
TEST(SamplingErrors, OfALargestEigenvalueThatIsZeroWithoutABlockAreNotOfItsLogarithm) {
  std::vector<VectorXd> entries(12, Eigen::Vector2d(-5.0, 1e-17));
  for (std::size_t i = 0; i < 3; ++i) entries[i][1] = 1.5;
  const SamplingErrorEstimates errors = errors_of(diagonals(entries), 4);
  for (const SamplingErrors* found : {&errors.full, &errors.first_order}) {
    for (const SpectralFigure figure : {kLambdaMax, kRobustEigenvalue}) {
      const SamplingError& error = (*found)[figure];
      EXPECT_EQ(error.status, Status::kOk);
      EXPECT_NEAR(error.upper - error.value, error.value - error.lower, 1e-13) << name_of(figure);
      EXPECT_LT(std::abs(error.upper), 10) << name_of(figure);
    }
  }
}

TEST(SamplingErrors, OfANonFiniteHessianAreNonFinite) {
  std::vector<MatrixXd> matrices = scattered(test::random_symmetric(4, 1), 0.1, 10);
  matrices[7](2, 1) = matrices[7](1, 2) = kNaN;
  const QuadraticObjective objective(matrices);
  const SamplingErrorEstimates errors = errors_of(objective, 5);
  SpectralEigenpairs pairs;
  pairs.largest = pairs.smallest = pairs.median = pairs.median_magnitude = {1.0, VectorXd::Ones(4)};
  const SamplingErrors by_products =
      first_order_sampling_errors(objective, zero_for(objective), pairs, {.num_blocks = 5});
  for (const SpectralFigure figure : kAllFigures) {
    expect_undefined(errors.full[figure], Status::kNonFinite);
    expect_undefined(errors.first_order[figure], Status::kNonFinite);
    if (figure != kRobustDiagonal) expect_undefined(by_products[figure], Status::kNonFinite);
  }
  EXPECT_EQ(errors.full.leave_one_out.rows(), 5);
  EXPECT_TRUE(errors.full.leave_one_out.array().isNaN().all());
}

}  // namespace
}  // namespace hesscope
