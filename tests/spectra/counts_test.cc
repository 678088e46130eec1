// SPDX-License-Identifier: BSD-3-Clause
//
// Counts of eigenvalues against closed forms, against each other, and against 50 digits.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/spectra/counts.h>
#include <hesscope/spectra/extremes.h>
#include <hesscope/spectra/spectrum.h>

#include "support/eigenvalues_50.h"
#include "support/matrices.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::Real50;
using test::Vector50;

// With an 11-fold eigenvalue in the middle, pairs, and a zero.
VectorXd values_with_ties(Index n) {
  VectorXd values(n);
  for (Index i = 0; i < n; ++i) values[i] = static_cast<double>(i / 2) - 4.0;
  for (Index i = n / 2; i < std::min(n, n / 2 + 11); ++i) values[i] = values[n / 2];
  std::sort(values.begin(), values.end());
  return values;
}

TEST(EigenvalueCounter, CountsADiagonalMatrixExactly) {
  VectorXd diagonal(6);
  diagonal << 3.0, -1.0, 0.0, 0.0, 2.0, -5.0;
  const EigenvalueCounter counter(diagonal.asDiagonal().toDenseMatrix());
  ASSERT_EQ(counter.status(), Status::kOk);
  const std::vector<std::pair<double, int>> expected = {{-kInfinity, 0},
                                                        {-5.0, 0},
                                                        {-4.0, 1},
                                                        {-1.0, 1},
                                                        {-0.5, 2},
                                                        {0.0, 2},
                                                        {1e-300, 4},
                                                        {2.0, 4},
                                                        {2.5, 5},
                                                        {3.0, 5},
                                                        {3.1, 6},
                                                        {kInfinity, 6}};
  for (const auto& [shift, count] : expected) EXPECT_EQ(counter.num_below(shift), count) << shift;
}

TEST(EigenvalueCounter, CountsAreMonotoneAtAThousandShiftsAndAtEigenvalues) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Index n = 60;
    const MatrixXd h = seed == 1 ? test::random_symmetric(n, seed)
                                 : test::with_eigenvalues(values_with_ties(n), seed);
    const Spectrum dense = dense_spectrum(h);
    ASSERT_EQ(dense.status, Status::kOk);
    std::vector<double> shifts(dense.eigenvalues.begin(), dense.eigenvalues.end());
    const VectorXd random = test::random_matrix(1000 - n, 1, seed + 10);
    const double reach = 1.1 * test::largest_magnitude(dense.eigenvalues);
    for (const double r : random) shifts.push_back(reach * r);
    std::sort(shifts.begin(), shifts.end());
    ASSERT_EQ(shifts.size(), 1000U);

    const EigenvalueCounter counter(h);
    const double band = counting_band(n, test::largest_magnitude(dense.eigenvalues));
    const auto exact_below = [&](double x) { return (dense.eigenvalues.array() < x).count(); };
    std::int64_t previous = 0;
    std::int64_t num_clear = 0;
    for (const double shift : shifts) {
      const std::int64_t count = counter.num_below(shift);
      EXPECT_LE(previous, count) << shift;
      previous = count;
      const ShiftedFactorization factorization(h, shift);
      ASSERT_EQ(factorization.status(), Status::kOk);
      const Inertia& inertia = factorization.inertia();
      EXPECT_EQ(inertia.num_below + inertia.num_at + inertia.num_above, n);
      // Either count may take an eigenvalue within the band of the shift for either side.
      EXPECT_GE(count, exact_below(shift - band));
      EXPECT_LE(count, exact_below(shift + band));
      EXPECT_GE(inertia.num_below, exact_below(shift - band));
      EXPECT_LE(inertia.num_below, exact_below(shift + band));
      if (exact_below(shift - band) == exact_below(shift + band)) {
        ++num_clear;
        EXPECT_EQ(count, inertia.num_below) << shift;
      }
    }
    EXPECT_GE(num_clear, 900);
  }
}

TEST(ShiftedFactorization, CountsZeroPivots) {
  MatrixXd h = MatrixXd::Zero(5, 5);
  h(1, 1) = 2.0;
  h(4, 3) = h(3, 4) = 1.0;  // a pivot of two rows: eigenvalues -1 and 1
  const ShiftedFactorization factorization(h, 0.0);
  ASSERT_EQ(factorization.status(), Status::kOk);
  EXPECT_EQ(factorization.inertia().num_below, 1);
  EXPECT_EQ(factorization.inertia().num_at, 2);
  EXPECT_EQ(factorization.inertia().num_above, 2);
  EXPECT_FALSE(factorization.solve(VectorXd::Ones(5)));
}

TEST(ShiftedFactorization, Solves) {
  for (const double unit : {1e-300, 1.0, 1e300}) {
    const MatrixXd h = unit * test::random_symmetric(40, 5);
    const VectorXd x = test::random_matrix(40, 1, 6);
    const ShiftedFactorization factorization(h, 0.3 * unit);
    const std::optional<VectorXd> solution = factorization.solve(h * x - 0.3 * unit * x);
    ASSERT_TRUE(solution);
    EXPECT_LE((*solution - x).norm(), 1e-12 * x.norm());
  }
}

TEST(EigenvalueCounter, FindsEveryRankOfTheLaplacian) {
  const Index n = 50;
  const MatrixXd h = test::laplacian(n);
  EigenvalueCounter counter(h);
  for (Index rank = 0; rank < n; ++rank) {
    const double angle =
        static_cast<double>(rank + 1) * std::acos(-1.0) / static_cast<double>(n + 1);
    const RankedEigenvalue found = counter.eigenvalue(rank);
    ASSERT_EQ(found.status, Status::kOk);
    EXPECT_EQ(found.proof, Proof::kCounted);
    EXPECT_EQ(found.rank, rank);
    EXPECT_NEAR(found.eigenvalue.value, 2.0 - 2.0 * std::cos(angle), counter.rounding_band());
    EXPECT_LE(found.eigenvalue.residual, counter.rounding_band());
    EXPECT_LE((h * found.vector - found.eigenvalue.value * found.vector).norm(),
              counter.rounding_band());
    EXPECT_TRUE(counter.is_confirmed(found));
  }
}

TEST(EigenvalueCounter, ConfirmsNoOtherRank) {
  EigenvalueCounter counter(test::laplacian(20));
  RankedEigenvalue found = counter.eigenvalue(7);
  EXPECT_TRUE(counter.is_confirmed(found));
  for (const Index wrong : {6, 8}) {
    found.rank = wrong;
    EXPECT_FALSE(counter.is_confirmed(found));
  }
}

TEST(EigenvalueCounter, MedianIsTheLowerMedianOfTheDenseSpectrum) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto n = static_cast<Index>(1 + seed % 50);
    const MatrixXd h = seed % 2 == 0 ? test::with_eigenvalues(values_with_ties(n), seed)
                                     : test::random_symmetric(n, seed);
    const Spectrum dense = dense_spectrum(h);
    EigenvalueCounter counter(h);
    const RankedEigenvalue median = counter.median();
    ASSERT_EQ(median.status, Status::kOk);
    EXPECT_EQ(median.rank, (n - 1) / 2);
    EXPECT_NEAR(median.eigenvalue.value, dense.median.value, 2.0 * dense.rounding_band);
    EXPECT_NEAR(
        median.eigenvalue.value, lower_median(dense.eigenvalues), 2.0 * dense.rounding_band);
    EXPECT_TRUE(counter.is_confirmed(median));
  }
}

TEST(EigenvalueCounter, OfTheZeroMatrixIsZero) {
  EigenvalueCounter counter(MatrixXd::Zero(7, 7));
  EXPECT_EQ(counter.num_below(0.0), 0);
  EXPECT_EQ(counter.num_below(1e-300), 7);
  for (const Index rank : {0, 3, 6}) {
    const RankedEigenvalue found = counter.eigenvalue(rank);
    ASSERT_EQ(found.status, Status::kOk);
    EXPECT_EQ(found.eigenvalue.value, 0.0);
    EXPECT_EQ(found.eigenvalue.residual, 0.0);
    EXPECT_LE(found.lower, 0.0);
    EXPECT_GE(found.upper, 0.0);
    EXPECT_LE(found.upper - found.lower, 1e-300);
  }
}

TEST(EigenvalueCounter, HasTheSameDigitsAtEveryPowerOfTwo) {
  const MatrixXd h = test::random_symmetric(25, 23);
  const RankedEigenvalue reference = EigenvalueCounter(h).median();
  for (const int exponent : {-900, -1, 500, 1000}) {
    const double factor = std::ldexp(1.0, exponent);
    const RankedEigenvalue found = EigenvalueCounter(h * factor).median();
    EXPECT_EQ(found.eigenvalue.value, reference.eigenvalue.value * factor);
    EXPECT_EQ(found.lower, reference.lower * factor);
    EXPECT_EQ(found.upper, reference.upper * factor);
    EXPECT_EQ(found.eigenvalue.residual, reference.eigenvalue.residual * factor);
  }
}

// The eigenvalues of [2, 1; 1, 1] are (3 -+ sqrt 5) / 2: in units of the smallest double, the
// numbers nearest to them are not bounds.
TEST(EigenvalueCounter, EnclosesWhatIsBetweenSubnormalNumbers) {
  const double u = std::numeric_limits<double>::denorm_min();
  MatrixXd h(2, 2);
  h << 2 * u, u, u, u;
  EigenvalueCounter counter(h);
  for (const auto& [rank, below] : {std::pair{0, 0.0}, std::pair{1, 2 * u}}) {
    const RankedEigenvalue found = counter.eigenvalue(rank);
    EXPECT_EQ(found.lower, below);
    EXPECT_EQ(found.upper, below + u);
    EXPECT_TRUE(counter.is_confirmed(found));
  }
  EXPECT_EQ(counter.rounding_band(), u);
  EXPECT_EQ(dense_spectrum(h).rounding_band, u);
}

TEST(Counts, SayNonFinite) {
  for (const double bad : {kNaN, kInfinity, -kInfinity}) {
    MatrixXd h = test::random_symmetric(5, 19);
    h(4, 1) = bad;
    EigenvalueCounter counter(h);
    EXPECT_EQ(counter.status(), Status::kNonFinite);
    EXPECT_EQ(counter.num_below(0.0), -1);
    EXPECT_TRUE(std::isnan(counter.rounding_band()));
    const RankedEigenvalue median = counter.median();
    EXPECT_EQ(median.status, Status::kNonFinite);
    EXPECT_EQ(median.proof, Proof::kNone);
    EXPECT_TRUE(std::isnan(median.eigenvalue.value));
    EXPECT_FALSE(counter.is_confirmed(median));
    const ShiftedFactorization factorization(h, 0.0);
    EXPECT_EQ(factorization.status(), Status::kNonFinite);
    EXPECT_EQ(factorization.inertia().num_below, -1);
    EXPECT_FALSE(factorization.solve(VectorXd::Ones(5)));
  }
}

TEST(Counts, RefuseWhatIsOutOfRange) {
  EXPECT_THROW(EigenvalueCounter(MatrixXd(0, 0)), PreconditionError);
  EXPECT_THROW(EigenvalueCounter(MatrixXd::Zero(2, 3)), PreconditionError);
  EigenvalueCounter counter(test::laplacian(4));
  EXPECT_THROW(counter.num_below(kNaN), PreconditionError);
  EXPECT_THROW(counter.eigenvalue(-1), PreconditionError);
  EXPECT_THROW(counter.eigenvalue(4), PreconditionError);
  EXPECT_THROW(ShiftedFactorization(MatrixXd::Zero(2, 3), 0.0), PreconditionError);
  EXPECT_THROW(ShiftedFactorization(test::laplacian(4), kNaN), PreconditionError);
  EXPECT_THROW(ShiftedFactorization(test::laplacian(4), kInfinity), PreconditionError);
  EXPECT_THROW(ShiftedFactorization(test::laplacian(4), 1.0).solve(VectorXd::Ones(3)),
               PreconditionError);
}

// Full rank, rank deficient, graded, and with ties take turns; 1 to 20 rows, each tenth up to 60.
MatrixXd nth_case(std::uint64_t index) {
  const auto n = static_cast<Index>(index % 10 == 0 ? 21 + index / 10 % 40 : 1 + index / 10 % 20);
  switch (index % 4) {
    case 0:
      return test::random_symmetric(n, index);
    case 1: {
      const MatrixXd factor = test::random_matrix(n, (n + 1) / 2, index);
      return factor * factor.transpose();
    }
    case 2: {
      const VectorXd scale = (-20.0 * test::random_matrix(n, 1, index + 1).array().abs()).exp();
      return scale.asDiagonal() * test::random_symmetric(n, index) * scale.asDiagonal();
    }
    default:
      return test::with_eigenvalues(values_with_ties(n), index);
  }
}

struct Violations {
  int of_intervals = 0;
  int of_values = 0;
  int of_residuals = 0;
  int of_inertia = 0;
  int of_extremes = 0;
  int num_checked = 0;
};

void check_ranks(const MatrixXd& h, const Vector50& exact, Violations& violations) {
  EigenvalueCounter counter(h);
  for (Index rank = 0; rank < h.rows(); ++rank) {
    const RankedEigenvalue found = counter.eigenvalue(rank);
    ++violations.num_checked;
    if (!(Real50(found.lower) <= exact[rank] && exact[rank] <= Real50(found.upper))) {
      ++violations.of_intervals;
    }
    const auto error = static_cast<double>(Real50(found.eigenvalue.value) - exact[rank]);
    if (!(std::abs(error) <= counter.rounding_band())) ++violations.of_values;
    const auto nearest = static_cast<double>(
        (exact.array() - Real50(found.eigenvalue.value)).abs().minCoeff<Eigen::PropagateNaN>());
    if (!(nearest <= found.eigenvalue.residual + counter.rounding_band())) {
      ++violations.of_residuals;
    }
  }
}

void check_inertia(const MatrixXd& h, const Vector50& exact, Violations& violations) {
  const auto norm = static_cast<double>(exact.array().abs().maxCoeff<Eigen::PropagateNaN>());
  const double band = counting_band(h.rows(), norm);
  const auto count_below = [&exact](double x) { return (exact.array() < Real50(x)).count(); };
  for (const Index rank : {Index{0}, (h.rows() - 1) / 2, h.rows() - 1}) {
    for (const double side : {-1.0, 1.0}) {
      const double shift = static_cast<double>(exact[rank]) + 1.001 * side * band;
      if (count_below(shift - band) != count_below(shift + band)) continue;
      ++violations.num_checked;
      const ShiftedFactorization factorization(h, shift);
      if (factorization.inertia().num_below != count_below(shift)) ++violations.of_inertia;
    }
  }
}

void check_extremes(const MatrixXd& h, const Vector50& exact, Violations& violations) {
  const Index n = h.rows();
  ExtremesOptions options;
  options.num_smallest = options.num_largest = 1;
  options.dense_limit = 0;
  const MatrixOperator op(h);
  for (const Extremes& extremes :
       {extreme_eigenpairs(h, options), extreme_eigenpairs(op, options)}) {
    ++violations.num_checked;
    const auto low = static_cast<double>(Real50(extremes.smallest.values[0]) - exact[0]);
    const auto high = static_cast<double>(Real50(extremes.largest.values[0]) - exact[n - 1]);
    if (!(std::abs(low) <= extremes.smallest.error_bound)) ++violations.of_extremes;
    if (!(std::abs(high) <= extremes.largest.error_bound)) ++violations.of_extremes;
  }
}

TEST(Counts, KeepTheirBoundsOnAThousandMatricesAgainstFiftyDigits) {
  Violations violations;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const MatrixXd h = nth_case(index);
    const Vector50 exact = test::eigenvalues_50(h);
    check_ranks(h, exact, violations);
    check_inertia(h, exact, violations);
    check_extremes(h, exact, violations);
  }
  EXPECT_EQ(violations.of_intervals, 0);
  EXPECT_EQ(violations.of_values, 0);
  EXPECT_EQ(violations.of_residuals, 0);
  EXPECT_EQ(violations.of_inertia, 0);
  EXPECT_EQ(violations.of_extremes, 0);
  EXPECT_GE(violations.num_checked, 15000);
}

}  // namespace
}  // namespace hesscope
