// SPDX-License-Identifier: BSD-3-Clause
//
// The contract of extreme_eigenpairs; whether it can be led astray is the matter of traps_test.cc.
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/spectra/extremes.h>
#include <hesscope/spectra/internal/lanczos.h>
#include <hesscope/spectra/spectrum.h>

#include "spectra/failing_operators.h"
#include "support/matrices.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::BecomesBad;
using test::ThrowsAfter;

ExtremesOptions matrix_free(Index num_smallest, Index num_largest) {
  ExtremesOptions options;
  options.num_smallest = num_smallest;
  options.num_largest = num_largest;
  options.dense_limit = 0;
  return options;
}

void expect_nothing(const EndOfSpectrum& end, Status status) {
  EXPECT_EQ(end.status, status);
  EXPECT_EQ(end.proof, Proof::kNone);
  EXPECT_EQ(end.values.size(), 0);
  EXPECT_EQ(end.vectors.size(), 0);
  EXPECT_TRUE(std::isnan(end.error_bound));
}

// What every end of status kOk must be.
void expect_eigenpairs(const MatrixXd& h, const EndOfSpectrum& end, double tolerance) {
  ASSERT_EQ(end.status, Status::kOk);
  const Index k = end.values.size();
  ASSERT_EQ(end.vectors.rows(), h.rows());
  ASSERT_EQ(end.vectors.cols(), k);
  EXPECT_LE((end.vectors.transpose() * end.vectors - MatrixXd::Identity(k, k)).norm(), 1e-12);
  const double norm = h.norm();
  for (Index i = 0; i < k; ++i) {
    const VectorXd v = end.vectors.col(i);
    const double residual = (h * v - end.values[i] * v).norm();
    EXPECT_NEAR(end.residuals[i], residual, 1e-13 * norm);
    EXPECT_LE(residual, tolerance * norm);
  }
}

TEST(Extremes, AreBothEndsOutermostFirst) {
  const MatrixXd h = test::random_symmetric(150, 1);
  const Spectrum dense = dense_spectrum(h);
  const MatrixOperator op(h);
  for (const auto& [num_smallest, num_largest] : {std::pair<Index, Index>{3, 3}, {1, 4}, {2, 1}}) {
    const Extremes found = extreme_eigenpairs(op, matrix_free(num_smallest, num_largest));
    expect_eigenpairs(h, found.smallest, 1e-8);
    expect_eigenpairs(h, found.largest, 1e-8);
    ASSERT_EQ(found.smallest.values.size(), num_smallest);
    ASSERT_EQ(found.largest.values.size(), num_largest);
    for (Index i = 0; i < num_smallest; ++i) {
      EXPECT_NEAR(found.smallest.values[i], dense.eigenvalues[i], found.smallest.error_bound);
    }
    for (Index i = 0; i < num_largest; ++i) {
      EXPECT_NEAR(found.largest.values[i], dense.eigenvalues[149 - i], found.largest.error_bound);
    }
  }
}

TEST(Extremes, HaveTheSameDigitsAtEveryScale) {
  const MatrixXd h = test::random_symmetric(120, 4);
  const Extremes wanted = extreme_eigenpairs(MatrixOperator(h), matrix_free(2, 2));
  ASSERT_EQ(wanted.largest.status, Status::kOk);
  for (const int k : {-990, -700, -512, 512, 700, 990}) {
    const MatrixXd scaled = std::ldexp(1.0, k) * h;
    for (const Extremes& found : {extreme_eigenpairs(MatrixOperator(scaled), matrix_free(2, 2)),
                                  extreme_eigenpairs(scaled, matrix_free(2, 2))}) {
      for (const auto end : {&Extremes::smallest, &Extremes::largest}) {
        ASSERT_EQ((found.*end).status, Status::kOk) << k;
        for (Index i = 0; i < 2; ++i) {
          EXPECT_NEAR(
              std::ldexp((found.*end).values[i], -k), (wanted.*end).values[i], 1e-8 * h.norm());
          const double overlap = (found.*end).vectors.col(i).dot((wanted.*end).vectors.col(i));
          EXPECT_NEAR(std::abs(overlap), 1, 1e-6);
        }
      }
    }
  }
}

TEST(Extremes, LeaveOutAnEndThatIsNotAskedFor) {
  const MatrixXd h = test::random_symmetric(150, 2);
  const Extremes largest = extreme_eigenpairs(h, matrix_free(0, 2));
  expect_nothing(largest.smallest, Status::kNotComputed);
  expect_eigenpairs(h, largest.largest, 1e-8);
  const Extremes smallest = extreme_eigenpairs(h, matrix_free(2, 0));
  expect_nothing(smallest.largest, Status::kNotComputed);
  expect_eigenpairs(h, smallest.smallest, 1e-8);
  const Extremes neither = extreme_eigenpairs(h, matrix_free(0, 0));
  expect_nothing(neither.smallest, Status::kNotComputed);
  expect_nothing(neither.largest, Status::kNotComputed);
}

TEST(Extremes, NameTheirProof) {
  const MatrixXd h = test::random_symmetric(150, 3);
  const MatrixOperator op(h);
  const Extremes converged = extreme_eigenpairs(op, matrix_free(2, 2));
  EXPECT_EQ(converged.smallest.proof, Proof::kConverged);
  EXPECT_EQ(converged.largest.proof, Proof::kConverged);
  EXPECT_EQ(converged.probability, 0.999);
  EXPECT_GT(converged.missed_fraction, 0.0);
  EXPECT_LT(converged.missed_fraction, 0.1);
  EXPECT_EQ(extreme_eigenpairs(h, matrix_free(2, 2)).smallest.proof, Proof::kCounted);
  const Extremes dense = extreme_eigenpairs(op);
  EXPECT_EQ(dense.smallest.proof, Proof::kDense);
  EXPECT_EQ(dense.num_calls, 1);
  EXPECT_EQ(dense.num_columns, 150);
  EXPECT_EQ(extreme_eigenpairs(h).largest.proof, Proof::kDense);
}

// The few probes of the norm may see hardly anything of a matrix of rank one.
TEST(Extremes, SayWhatMayBeMissedWhereTheNormIsGuessedTooSmall) {
  const VectorXd u = VectorXd::Ones(400).normalized();
  const MatrixXd h = -u * u.transpose();
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    ExtremesOptions options = matrix_free(1, 1);
    options.seed = seed;
    const Extremes found = extreme_eigenpairs(MatrixOperator(h), options);
    EXPECT_EQ(found.smallest.status, Status::kOk);
    EXPECT_GT(found.missed_fraction, 0.0);
    EXPECT_LE(found.missed_fraction, 1.0);
  }
}

TEST(Extremes, CountTheirProducts) {
  const MatrixXd h = test::random_symmetric(200, 4);
  const MatrixOperator op(h);
  op.apply(VectorXd::Ones(200));
  const Extremes found = extreme_eigenpairs(op, matrix_free(1, 1));
  EXPECT_EQ(found.num_calls, op.num_calls() - 1);
  EXPECT_EQ(found.num_columns, op.num_columns() - 1);
  EXPECT_LT(found.num_columns, 150);
}

TEST(Extremes, AreTheSameForTheSameSeedAndTheSameToRoundingForAnother) {
  const MatrixXd h = test::random_symmetric(150, 5);
  ExtremesOptions options = matrix_free(2, 2);
  const Extremes first = extreme_eigenpairs(h, options);
  EXPECT_EQ(extreme_eigenpairs(h, options).largest.vectors, first.largest.vectors);
  options.seed = 1;
  const Extremes other = extreme_eigenpairs(h, options);
  EXPECT_NE(other.largest.vectors, first.largest.vectors);
  EXPECT_LE((other.largest.values - first.largest.values).norm(), 1e-12);
}

TEST(Extremes, AskForFullAccuracyAndGetIt) {
  const MatrixXd h = test::random_symmetric(120, 6);
  ExtremesOptions options = matrix_free(1, 1);
  options.tolerance = 1e-12;
  const Extremes found = extreme_eigenpairs(MatrixOperator(h), options);
  expect_eigenpairs(h, found.smallest, 1e-12);
  expect_eigenpairs(h, found.largest, 1e-12);
}

// More rows than the basis may have vectors, and an edge without a gap.
TEST(Extremes, ConvergeAfterRestarts) {
  const Index n = 1500;
  const VectorXd values = VectorXd::LinSpaced(n, -1.5, 1.5).array().sin();
  const MatrixXd h = values.asDiagonal();
  const Extremes found = extreme_eigenpairs(MatrixOperator(h), matrix_free(2, 2));
  ASSERT_EQ(found.largest.status, Status::kOk);
  EXPECT_GT(found.num_columns, 600);
  for (Index i = 0; i < 2; ++i) {
    EXPECT_NEAR(found.smallest.values[i], values[i], found.smallest.error_bound);
    EXPECT_NEAR(found.largest.values[i], values[n - 1 - i], found.largest.error_bound);
  }
  EXPECT_LE(found.largest.error_bound, 1e-7);
}

TEST(Extremes, SayWhenTheyDidNotConverge) {
  const MatrixXd h = VectorXd::LinSpaced(1500, -1.0, 1.0).asDiagonal();
  ExtremesOptions options = matrix_free(1, 1);
  options.max_columns = 60;
  const Extremes found = extreme_eigenpairs(MatrixOperator(h), options);
  expect_nothing(found.smallest, Status::kFailed);
  expect_nothing(found.largest, Status::kFailed);
  EXPECT_LE(found.num_columns, 70);
}

TEST(Extremes, SayThatFewerColumnsThanPairsFindNothing) {
  const MatrixXd h = VectorXd::LinSpaced(400, -1.0, 1.0).asDiagonal();
  for (const Eigen::Index num_smallest : {0, 4}) {
    for (const std::int64_t max_columns : {1, 3}) {
      ExtremesOptions options = matrix_free(num_smallest, 4);
      options.max_columns = max_columns;
      const Extremes found = extreme_eigenpairs(MatrixOperator(h), options);
      if (num_smallest > 0) expect_nothing(found.smallest, Status::kFailed);
      expect_nothing(found.largest, Status::kFailed);
    }
  }
}

// H for that many products, and then with a NaN.
TEST(Extremes, SayNonFiniteWheneverItAppears) {
  const MatrixXd h = test::random_symmetric(150, 7);
  const Extremes good = extreme_eigenpairs(BecomesBad(h, 1000), matrix_free(2, 2));
  ASSERT_EQ(good.largest.status, Status::kOk);
  for (int num_good = 0; num_good < good.num_calls; ++num_good) {
    const Extremes found = extreme_eigenpairs(BecomesBad(h, num_good), matrix_free(2, 2));
    expect_nothing(found.smallest, Status::kNonFinite);
    expect_nothing(found.largest, Status::kNonFinite);
  }
}

// The upper triangle is the one that no decomposition reads.
TEST(Extremes, SayNonFiniteOfEitherTriangle) {
  for (const Index n : {3, 400}) {  // densely, and by products
    for (const auto& [row, column] : {std::pair<Index, Index>{0, 1}, {1, 0}}) {
      MatrixXd h = test::random_symmetric(n, 7);
      h(row, column) = kNaN;
      const Extremes found = extreme_eigenpairs(h);
      expect_nothing(found.smallest, Status::kNonFinite);
      expect_nothing(found.largest, Status::kNonFinite);
    }
  }
}

TEST(Extremes, LetTheOperatorsExceptionsPass) {
  EXPECT_THROW(extreme_eigenpairs(ThrowsAfter(5)), std::runtime_error);
}

TEST(Extremes, RefuseOptionsOutOfRange) {
  const MatrixXd h = test::laplacian(10);
  const auto expect_refused = [&h](auto change) {
    ExtremesOptions options;
    change(options);
    EXPECT_THROW(extreme_eigenpairs(h, options), PreconditionError);
    EXPECT_THROW(extreme_eigenpairs(MatrixOperator(h), options), PreconditionError);
  };
  expect_refused([](ExtremesOptions& options) { options.num_smallest = -1; });
  expect_refused([](ExtremesOptions& options) { options.num_largest = 11; });
  expect_refused([](ExtremesOptions& options) { options.tolerance = 0.0; });
  expect_refused([](ExtremesOptions& options) { options.tolerance = kNaN; });
  expect_refused([](ExtremesOptions& options) { options.max_columns = 0; });
  EXPECT_THROW(extreme_eigenpairs(MatrixXd::Zero(2, 3)), PreconditionError);
}

// Bare Spectra normalises the zero vector here.
TEST(Lanczos, FindsBothEndsFromAStartVectorInTheNullSpace) {
  VectorXd values = VectorXd::Zero(100);
  values.head(6) << -3.0, -1.0, 1.0, 2.0, 4.0, 5.0;
  const MatrixXd h = values.asDiagonal();
  const MatrixOperator op(h);
  detail::LanczosOptions options;
  options.num_per_end = 2;
  options.tolerance = 1e-9;
  options.shift = 20.0;
  options.max_columns = 1000;
  options.start = VectorXd::Unit(100, 50);
  const detail::LanczosResult found = detail::lanczos(op, options);
  ASSERT_EQ(found.status, Status::kOk);
  EXPECT_LE((found.values - Eigen::Vector4d(-3.0, -1.0, 4.0, 5.0)).norm(), 1e-9);
}

}  // namespace
}  // namespace hesscope
