// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/spectra/distribution_distance.h>
#include <hesscope/spectra/spectral_density.h>
#include <hesscope/spectra/spectral_measure.h>

#include "spectra/measures.h"
#include "support/multiprecision.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using test::Real50;

SpectralMeasure at(double node) { return exact_measure(VectorXd::Constant(1, node)); }

std::vector<SpectralMeasure> measures() {
  std::vector<SpectralMeasure> all;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    all.push_back(test::random_measure(
        static_cast<Index>(1 + 7 * seed), seed, 0.3 * static_cast<double>(seed)));
  }
  all.push_back(at(0.0));
  all.push_back(exact_measure(Eigen::Vector4d(0.0, 0.0, 1.0, 1.0)));
  return all;
}

double distribution_function(const SpectralMeasure& m, double x) {
  double sum = 0.0;
  for (Index k = 0; k < m.nodes.size(); ++k) sum += m.nodes[k] <= x ? m.weights[k] : 0.0;
  return sum;
}

double naive_wasserstein(const SpectralMeasure& a, const SpectralMeasure& b) {
  std::vector<double> all(a.nodes.begin(), a.nodes.end());
  all.insert(all.end(), b.nodes.begin(), b.nodes.end());
  std::sort(all.begin(), all.end());
  double sum = 0.0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const double difference =
        distribution_function(a, all[i - 1]) - distribution_function(b, all[i - 1]);
    sum += std::abs(difference) * (all[i] - all[i - 1]);
  }
  return sum;
}

// By the definition, in 50 digits.
double naive_jensen_shannon(const VectorXd& p, const VectorXd& q) {
  Real50 sum_p = 0;
  Real50 sum_q = 0;
  for (Index i = 0; i < p.size(); ++i) {
    sum_p += p[i];
    sum_q += q[i];
  }
  Real50 divergence = 0;
  for (Index i = 0; i < p.size(); ++i) {
    const Real50 p_i = p[i] / sum_p;
    const Real50 q_i = q[i] / sum_q;
    const Real50 m_i = (p_i + q_i) / 2;
    if (p[i] > 0.0) divergence += p_i * log(p_i / m_i) / 2;
    if (q[i] > 0.0) divergence += q_i * log(q_i / m_i) / 2;
  }
  return static_cast<double>(sqrt(divergence));
}

TEST(WassersteinDistance, OfPointsIsTheirDistance) {
  EXPECT_EQ(wasserstein_distance(at(-1.5), at(2.0)), 3.5);
  EXPECT_EQ(wasserstein_distance(at(2.0), at(2.0)), 0.0);
  EXPECT_EQ(wasserstein_distance(at(1.0), exact_measure(Eigen::Vector2d(0.0, 4.0))), 2.0);
}

TEST(WassersteinDistance, IsSoWhereDifferencesOfNodesAreBeyondAnyDouble) {
  const SpectralMeasure wide = exact_measure(Eigen::Vector2d(-1.5e308, 1.5e308));
  EXPECT_EQ(wasserstein_distance(wide, wide), 0.0);
  EXPECT_EQ(wasserstein_distance(wide, at(0.0)), 1.5e308);
}

// For equally many eigenvalues, the distance is the mean distance in ascending order.
TEST(WassersteinDistance, OfEqualNumbersIsTheMeanDistanceInOrder) {
  const SpectralMeasure a = exact_measure(test::random_matrix(40, 1, 1).col(0));
  const SpectralMeasure b = exact_measure(test::random_matrix(40, 1, 2).col(0));
  EXPECT_NEAR(wasserstein_distance(a, b), (a.nodes - b.nodes).cwiseAbs().mean(), 1e-15);
}

TEST(WassersteinDistance, MatchesItsDefinitionAndIsAMetric) {
  const std::vector<SpectralMeasure> all = measures();
  for (const SpectralMeasure& a : all) {
    EXPECT_EQ(wasserstein_distance(a, a), 0.0);
    for (const SpectralMeasure& b : all) {
      const double d = wasserstein_distance(a, b);
      EXPECT_NEAR(d, naive_wasserstein(a, b), 1e-14);
      EXPECT_EQ(d, wasserstein_distance(b, a));
      EXPECT_EQ(d > 0.0, &a != &b);
      for (const SpectralMeasure& c : all) {
        EXPECT_LE(d, wasserstein_distance(a, c) + wasserstein_distance(c, b) + 1e-14);
      }
    }
  }
}

TEST(WassersteinDistance, ScalesAndMovesWithTheNodes) {
  SpectralMeasure a = test::random_measure(20, 3);
  SpectralMeasure b = test::random_measure(30, 4, 0.5);
  const double d = wasserstein_distance(a, b);
  for (SpectralMeasure* m : {&a, &b}) m->nodes *= 1024.0;
  EXPECT_EQ(wasserstein_distance(a, b), 1024.0 * d);
  for (SpectralMeasure* m : {&a, &b}) m->nodes = m->nodes.array() + 7.0;
  EXPECT_NEAR(wasserstein_distance(a, b), 1024.0 * d, 1e-11);
}

// Splitting a node changes the numbers, not the measure.
TEST(WassersteinDistance, DoesNotSeeRepeatedNodes) {
  const SpectralMeasure split{Eigen::Vector3d(1.0, 1.0, 2.0), Eigen::Vector3d(0.25, 0.25, 0.5)};
  const SpectralMeasure joined{Eigen::Vector2d(1.0, 2.0), Eigen::Vector2d(0.5, 0.5)};
  EXPECT_EQ(wasserstein_distance(split, joined), 0.0);
}

TEST(JensenShannonDistance, MatchesItsDefinitionIn50DigitsAndIsAMetric) {
  std::vector<VectorXd> all;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    all.emplace_back(test::random_matrix(60, 1, seed).array().abs());
  }
  all.emplace_back(VectorXd::Unit(60, 3));
  all.emplace_back(all[0]);
  all.back().head(30).setZero();
  for (const VectorXd& a : all) {
    EXPECT_EQ(jensen_shannon_distance(a, a), 0.0);
    for (const VectorXd& b : all) {
      const double d = jensen_shannon_distance(a, b);
      EXPECT_NEAR(d, naive_jensen_shannon(a, b), 1e-14);
      EXPECT_EQ(d, jensen_shannon_distance(b, a));
      for (const VectorXd& c : all) {
        EXPECT_LE(d, jensen_shannon_distance(a, c) + jensen_shannon_distance(c, b) + 1e-14);
      }
    }
  }
}

TEST(JensenShannonDistance, KeepsItsDigitsWhereDensitiesAreClose) {
  const VectorXd p = test::random_matrix(50, 1, 6).array().abs() + 0.1;
  const VectorXd direction = test::random_matrix(50, 1, 7);
  for (const double step : {1e-2, 1e-5, 1e-8, 1e-11}) {
    const VectorXd q = p.array() * (1.0 + step * direction.array());
    const double expected = naive_jensen_shannon(p, q);
    // Rounding of the sums moves each entry by some eps, relative to a step.
    const double rounding = 64.0 * std::numeric_limits<double>::epsilon() / step;
    EXPECT_NEAR(jensen_shannon_distance(p, q), expected, (1e-13 + rounding) * expected) << step;
  }
}

TEST(JensenShannonDistance, IsAtMostTheRootOfLog2) {
  const double largest = std::sqrt(std::numbers::ln2);
  const Eigen::Vector4d p(1.0, 3.0, 0.0, 0.0);
  EXPECT_EQ(jensen_shannon_distance(p, p.reverse()), largest);
  EXPECT_NEAR(jensen_shannon_distance(at(0.0), at(1.0), {.sigma = 1e-3}), largest, 1e-15);
  // All but disjoint.
  EXPECT_LE(jensen_shannon_distance(Eigen::Vector2d(1.0, 1e-300), Eigen::Vector2d(1e-300, 1.0)),
            largest);
  EXPECT_EQ(jensen_shannon_distance(Eigen::Vector2d(1e308, 1e308), Eigen::Vector2d(1e-308, 1e-308)),
            0.0);
}

TEST(JensenShannonDistance, OfMeasuresIsThatOfTheirDensities) {
  const SpectralMeasure a = test::random_measure(20, 8);
  const SpectralMeasure b = test::random_measure(35, 9, 0.2);
  const DensityOptions options{.sigma = 0.1, .lower = -3.0, .upper = 3.0, .num_points = 400};
  EXPECT_NEAR(jensen_shannon_distance(a, b, options),
              naive_jensen_shannon(spectral_density(a, options).values,
                                   spectral_density(b, options).values),
              1e-14);
}

// The setting of Zhang et al. (2024). For equal Gaussians at a distance of t sigma the divergence
// is log 2 minus an expectation, here by a fine trapezoidal rule.
TEST(JensenShannonDistance, OfTwoEigenvaluesMatchesItsIntegral) {
  const double sigma = std::sqrt(1e-5);
  for (const double t : {0.1, 1.0, 3.0}) {
    const DensityOptions options{
        .sigma = sigma, .lower = -1.0, .upper = 1.0 + t * sigma, .num_points = 50000};
    const auto integrand = [t](double z) {
      return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi) *
             std::log1p(std::exp(t * z - 0.5 * t * t));
    };
    double expectation = 0.0;
    for (int i = -40000; i <= 40000; ++i) expectation += 1e-3 * integrand(1e-3 * i);
    EXPECT_NEAR(jensen_shannon_distance(at(0.0), at(t * sigma), options),
                std::sqrt(std::numbers::ln2 - expectation),
                1e-9);
  }
}

TEST(JensenShannonDistance, DoesNotDependOnTheUnit) {
  SpectralMeasure a = test::random_measure(20, 10);
  SpectralMeasure b = test::random_measure(20, 11, 0.1);
  const double d = jensen_shannon_distance(a, b);
  EXPECT_GT(d, 0.1);
  EXPECT_EQ(d, jensen_shannon_distance(b, a));
  EXPECT_EQ(jensen_shannon_distance(a, a), 0.0);
  for (const double factor : {0x1p-700, 0x1p+700}) {
    SpectralMeasure scaled_a = a;
    SpectralMeasure scaled_b = b;
    scaled_a.nodes *= factor;
    scaled_b.nodes *= factor;
    EXPECT_NEAR(jensen_shannon_distance(scaled_a, scaled_b), d, 1e-14);
  }
}

TEST(DistributionDistances, RefuseWhatTheyCannotCompare) {
  const SpectralMeasure good = at(1.0);
  const SpectralMeasure bad{VectorXd::Constant(1, kNaN), VectorXd::Ones(1)};
  for (const auto& [a, b] : {std::pair{good, bad}, {bad, good}}) {
    EXPECT_THROW(wasserstein_distance(a, b), PreconditionError);
    EXPECT_THROW(jensen_shannon_distance(a, b), PreconditionError);
  }
  const Eigen::Vector2d p(1.0, 2.0);
  EXPECT_THROW(jensen_shannon_distance(p, VectorXd::Ones(3)), PreconditionError);
  EXPECT_THROW(jensen_shannon_distance(VectorXd(), VectorXd()), PreconditionError);
  EXPECT_THROW(jensen_shannon_distance(p, Eigen::Vector2d(0.0, 0.0)), PreconditionError);
  EXPECT_THROW(jensen_shannon_distance(p, Eigen::Vector2d(-1.0, 1.0)), PreconditionError);
  EXPECT_THROW(jensen_shannon_distance(p, Eigen::Vector2d(kNaN, 1.0)), PreconditionError);
  EXPECT_THROW(jensen_shannon_distance(at(0.0), at(1.0), {.sigma = 1e-4}), PreconditionError);
  EXPECT_THROW(
      jensen_shannon_distance(at(0.0), at(1.0), {.sigma = 1e-3, .lower = 0.9, .upper = 1.1}),
      PreconditionError);
}

}  // namespace
}  // namespace hesscope
