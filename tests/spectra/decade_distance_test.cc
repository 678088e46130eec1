// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/spectra/decade_distance.h>

#include "support/matrices.h"
#include "support/maxima.h"
#include "support/multiprecision.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::Real50;

const double kLargest = std::sqrt(std::numbers::ln2);

BandedEigenvalues spectrum(const std::vector<double>& eigenvalues, double zero_band = 0) {
  return {Eigen::Map<const VectorXd>(eigenvalues.data(), std::ssize(eigenvalues)), zero_band};
}

// Magnitudes over nine decades, of both signs, with some zeros.
std::vector<BandedEigenvalues> spectra() {
  std::vector<BandedEigenvalues> all;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto size = static_cast<Index>(1 + 9 * seed);
    const MatrixXd random = test::random_matrix(size, 2, seed);
    VectorXd values(size);
    for (Index i = 0; i < size; ++i) {
      values[i] = random(i, 0) * std::pow(10.0, -3 + 2 * random(i, 1) - static_cast<double>(seed));
    }
    if (size > 20) values.head(4).setZero();
    all.push_back({values, 1e-9});
  }
  return all;
}

// By the definition, in 50 digits: the decade by multiplication, the divergence by logarithms.
double naive_distance(const std::vector<BandedEigenvalues>& all, std::size_t a, std::size_t b) {
  Real50 largest = 0;
  for (const BandedEigenvalues& one : all) {
    for (const double value : one.eigenvalues) largest = std::max(largest, abs(Real50(value)));
  }
  std::map<std::pair<int, int>, std::pair<Real50, Real50>> shares;
  for (const bool is_first : {true, false}) {
    const BandedEigenvalues& one = all[is_first ? a : b];
    for (const double value : one.eigenvalues) {
      std::pair<int, int> place(0, 0);
      if (std::abs(value) > one.zero_band) {
        place.first = value > 0 ? 1 : -1;
        for (Real50 scaled = abs(Real50(value)) * 10; scaled <= largest; scaled *= 10) {
          ++place.second;
        }
      }
      auto& share = shares[place];
      (is_first ? share.first : share.second) += Real50(1) / one.eigenvalues.size();
    }
  }
  Real50 divergence = 0;
  for (const auto& [place, share] : shares) {
    const Real50 mean = (share.first + share.second) / 2;
    for (const Real50& p : {share.first, share.second}) {
      if (p > 0) divergence += p * log(p / mean) / 2;
    }
  }
  return static_cast<double>(divergence > 0 ? Real50(sqrt(divergence)) : Real50(0));
}

TEST(DecadeDistances, OfTwoEigenvaluesAreTheClosedForm) {
  // Shares (1, 0) and (1/2, 1/2) of the first two decades: JS = 3/4 log(4/3).
  const MatrixXd distances =
      decade_distances(std::vector{spectrum({1, 0.5}), spectrum({1, 0.05}), spectrum({2e-5})});
  EXPECT_NEAR(distances(0, 1), std::sqrt(0.75 * std::log(4.0 / 3.0)), 1e-15);
  EXPECT_NEAR(distances(0, 2), kLargest, 1e-15);
  EXPECT_EQ(distances, distances.transpose());
  EXPECT_EQ(distances.diagonal(), VectorXd::Zero(3));
}

TEST(DecadeDistances, MatchTheirDefinitionIn50DigitsAndAreAMetric) {
  const std::vector<BandedEigenvalues> all = spectra();
  const MatrixXd distances = decade_distances(all);
  const auto count = static_cast<Index>(all.size());
  for (Index a = 0; a < count; ++a) {
    for (Index b = 0; b < count; ++b) {
      EXPECT_NEAR(distances(a, b),
                  naive_distance(all, static_cast<std::size_t>(a), static_cast<std::size_t>(b)),
                  1e-14);
      EXPECT_EQ(distances(a, b) > 0, a != b);
      for (Index c = 0; c < count; ++c) {
        EXPECT_LE(distances(a, b), distances(a, c) + distances(c, b) + 1e-14);
      }
    }
  }
}

// Where neither sign nor decade of an eigenvalue of one occurs in the other.
TEST(DecadeDistances, AreLargestWhereSpectraHaveNothingInCommon) {
  for (const auto& [a, b] : {std::pair{spectrum({1, 0.3}), spectrum({-1, -0.3})},
                             {spectrum({1, 0.3}), spectrum({0.09, 0.05, 0.02})},
                             {spectrum({1e-3}), spectrum({0.0, 0.0})},
                             {spectrum({1e300}), spectrum({1e-300, -1e-310})}}) {
    EXPECT_NEAR(decade_distances(std::vector{a, b})(0, 1), kLargest, 1e-15);
  }
}

// k / 10 k is a tenth, whatever the logarithms of both are rounded to.
TEST(DecadeDistances, CountAPowerOfTenToTheDecadeBelow) {
  for (int k = 1; k < 1000; ++k) {
    for (const double power : {10.0, 1e3, 1e9}) {
      const std::vector pair = {spectrum({power * k, 1.0 * k}), spectrum({power * k, 0.5 * k})};
      EXPECT_EQ(decade_distances(pair)(0, 1), 0) << k << " of " << power * k;
    }
  }
}

// The largest magnitude, and with it every class, moves with the unit of all.
TEST(DecadeDistances, DoNotDependOnUnitSignOrRepetition) {
  const std::vector<BandedEigenvalues> all = spectra();
  const MatrixXd distances = decade_distances(all);
  for (const double factor : {1024.0, -1.0, 1e-200, -3e150}) {
    std::vector<BandedEigenvalues> scaled = all;
    for (BandedEigenvalues& one : scaled) {
      one.eigenvalues *= factor;
      one.zero_band *= std::abs(factor);
    }
    EXPECT_TRUE(test::largest_difference(decade_distances(scaled), distances) <= 1e-14) << factor;
  }
  std::vector<BandedEigenvalues> twice = all;
  for (std::size_t s = 0; s < twice.size(); s += 2) {
    VectorXd both(2 * all[s].eigenvalues.size());
    both << all[s].eigenvalues, all[s].eigenvalues.reverse();
    twice[s].eigenvalues = both;
  }
  EXPECT_TRUE(test::largest_difference(decade_distances(twice), distances) <= 1e-14);
}

// A spectrum that is smaller by more than a decade has the largest distance, although it would be
// the same spectrum in another unit.
TEST(DecadeDistances, SeeASpectrumThatIsSmallerByADecade) {
  const BandedEigenvalues one = spectrum({8, 5, 3, 2});
  BandedEigenvalues other = one;
  other.eigenvalues /= 16;
  EXPECT_NEAR(decade_distances(std::vector{one, other})(0, 1), kLargest, 1e-15);
  other.eigenvalues *= 16;
  EXPECT_EQ(decade_distances(std::vector{one, other})(0, 1), 0);
}

TEST(DecadeDistances, TakeWhatIsZeroWithinItsOwnRoundingAsZero) {
  const BandedEigenvalues exact = spectrum({1, 0, 0}, 1e-15);
  EXPECT_EQ(decade_distances(std::vector{exact, spectrum({1, 1e-16, -7e-16}, 1e-15)})(0, 1), 0);
  EXPECT_TRUE(decade_distances(std::vector{exact, spectrum({1, 1e-16, -7e-16}, 1e-17)})(0, 1) > 0);
  EXPECT_EQ(decade_distances(std::vector{spectrum({0, 0}), spectrum({0})})(0, 1), 0);
}

TEST(DecadeDistances, OfNothingAreNothing) {
  EXPECT_EQ(decade_distances({}).size(), 0);
  EXPECT_EQ(decade_distances(std::vector{spectrum({3, -2})})(0, 0), 0);
}

TEST(DecadeDistances, RefuseWhatIsNoSpectrum) {
  EXPECT_THROW(decade_distances(std::vector{spectrum({})}), PreconditionError);
  EXPECT_THROW(decade_distances(std::vector{spectrum({1, kNaN})}), PreconditionError);
  EXPECT_THROW(decade_distances(std::vector{spectrum({1, kInfinity})}), PreconditionError);
  EXPECT_THROW(decade_distances(std::vector{spectrum({1}, -1e-9)}), PreconditionError);
  EXPECT_THROW(decade_distances(std::vector{spectrum({1}, kNaN)}), PreconditionError);
}

}  // namespace
}  // namespace hesscope
