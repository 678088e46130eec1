// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/spectra/spectral_density.h>
#include <hesscope/spectra/spectral_measure.h>

#include "spectra/measures.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

double gaussian(double z, double sigma) {
  return std::exp(-0.5 * z * z / (sigma * sigma)) / (sigma * std::sqrt(2.0 * std::numbers::pi));
}

TEST(ExactMeasure, GivesEachEigenvalueTheSameWeightInAscendingOrder) {
  const SpectralMeasure measure = exact_measure(Eigen::Vector4d(3.0, -1.0, 3.0, 0.0));
  EXPECT_EQ(measure.nodes, Eigen::Vector4d(-1.0, 0.0, 3.0, 3.0));
  EXPECT_EQ(measure.weights, VectorXd::Constant(4, 0.25));
}

TEST(ExactMeasure, RefusesNothingAndNonFinite) {
  EXPECT_THROW(exact_measure(VectorXd()), PreconditionError);
  EXPECT_THROW(exact_measure(Eigen::Vector2d(1.0, kNaN)), PreconditionError);
  EXPECT_THROW(exact_measure(Eigen::Vector2d(1.0, kInfinity)), PreconditionError);
}

TEST(SpectralDensity, IsTheSumOfGaussians) {
  const SpectralMeasure measure = test::random_measure(30, 1);
  const SpectralDensity density = spectral_density(measure, {.sigma = 0.05, .num_points = 301});
  EXPECT_EQ(density.sigma, 0.05);
  ASSERT_EQ(density.at.size(), 301);
  ASSERT_EQ(density.values.size(), 301);
  for (Index i = 0; i < 301; ++i) {
    double expected = 0.0;
    for (Index k = 0; k < 30; ++k) {
      expected += measure.weights[k] * gaussian(density.at[i] - measure.nodes[k], 0.05);
    }
    EXPECT_NEAR(density.values[i], expected, 1e-13 * (1.0 + expected));
  }
}

// The trapezoidal rule is as exact as the kernel is narrow in frequency.
TEST(SpectralDensity, IntegratesToOneAndHasTheMomentsOfTheMeasurePlusItsOwn) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const double scale : {1e-200, 1e-3, 1.0, 1e200}) {
      SpectralMeasure measure = test::random_measure(50, seed, 0.7);
      measure.nodes *= scale;
      const SpectralDensity density = spectral_density(measure);
      const double width = measure.nodes[49] - measure.nodes[0];
      EXPECT_NEAR(density.sigma, 0.01 * width, 1e-12 * width);
      EXPECT_NEAR(density.at[0], measure.nodes[0] - 8.0 * density.sigma, 1e-12 * width);
      EXPECT_NEAR(density.at[1999], measure.nodes[49] + 8.0 * density.sigma, 1e-12 * width);
      EXPECT_NEAR(test::trapezoid(density.at, density.values), 1.0, 1e-10);
      const VectorXd x = density.at / scale;
      const VectorXd y = measure.nodes / scale;
      const double mean = measure.weights.dot(y);
      EXPECT_NEAR(test::trapezoid(density.at, x.cwiseProduct(density.values)), mean, 1e-10);
      const double second = measure.weights.dot(y.cwiseAbs2());
      EXPECT_NEAR(test::trapezoid(density.at, x.cwiseAbs2().cwiseProduct(density.values)),
                  second + std::pow(density.sigma / scale, 2),
                  1e-10);
    }
  }
}

TEST(SpectralDensity, OfOneEigenvalueHasAWidthToo) {
  for (const double value : {-3.0, 0.0, 1e-290, 5.0, 1e300}) {
    const SpectralDensity density = spectral_density(exact_measure(VectorXd::Constant(7, value)));
    EXPECT_GT(density.sigma, 0.0);
    EXPECT_NEAR(test::trapezoid(density.at, density.values), 1.0, 1e-10) << value;
  }
}

TEST(SpectralDensity, KeepsToTheGridAskedFor) {
  const SpectralMeasure measure = exact_measure(Eigen::Vector2d(0.0, 1.0));
  const SpectralDensity density =
      spectral_density(measure, {.sigma = 0.1, .lower = -2.0, .upper = 0.0, .num_points = 5});
  VectorXd expected(5);
  expected << -2.0, -1.5, -1.0, -0.5, 0.0;
  EXPECT_EQ(density.at, expected);
  EXPECT_NEAR(density.values[4], 0.5 * gaussian(0.0, 0.1), 1e-13);
}

TEST(SpectralDensity, RefusesWhatIsNoMeasureOrNoGrid) {
  const SpectralMeasure good = exact_measure(Eigen::Vector2d(0.0, 1.0));
  EXPECT_THROW(spectral_density({}), PreconditionError);
  EXPECT_THROW(spectral_density({Eigen::Vector2d(1.0, 0.0), good.weights}), PreconditionError);
  EXPECT_THROW(spectral_density({Eigen::Vector2d(0.0, kNaN), good.weights}), PreconditionError);
  EXPECT_THROW(spectral_density({good.nodes, VectorXd::Ones(1)}), PreconditionError);
  EXPECT_THROW(spectral_density({good.nodes, Eigen::Vector2d(1.5, -0.5)}), PreconditionError);
  EXPECT_THROW(spectral_density({good.nodes, Eigen::Vector2d(0.5, 0.6)}), PreconditionError);
  EXPECT_THROW(spectral_density({good.nodes, Eigen::Vector2d(0.5, kNaN)}), PreconditionError);
  for (const double sigma : {0.0, -1.0, kNaN, kInfinity}) {
    EXPECT_THROW(spectral_density(good, {.sigma = sigma}), PreconditionError);
  }
  EXPECT_THROW(spectral_density(good, {.lower = 2.0}), PreconditionError);
  EXPECT_THROW(spectral_density(good, {.upper = kNaN}), PreconditionError);
  EXPECT_THROW(spectral_density(good, {.num_points = 1}), PreconditionError);
}

TEST(LogSpectralDensity, SplitsTheMassBySignAndBand) {
  VectorXd values(8);
  values << -10.0, -1e-3, -1e-9, 0.0, 1e-9, 1e-3, 1.0, 1e4;
  const SpectralMeasure measure = exact_measure(values);
  const LogSpectralDensity density = log_spectral_density(measure, 1e-9);
  EXPECT_EQ(density.negative_mass, 2.0 / 8.0);
  EXPECT_EQ(density.zero_mass, 3.0 / 8.0);
  EXPECT_EQ(density.positive_mass, 3.0 / 8.0);
  EXPECT_EQ(density.sigma, 0.1);
  EXPECT_NEAR(density.log10_magnitude[0], -3.8, 1e-12);
  EXPECT_NEAR(density.log10_magnitude[1999], 4.8, 1e-12);
  EXPECT_NEAR(test::trapezoid(density.log10_magnitude, density.negative), 0.25, 1e-10);
  EXPECT_NEAR(test::trapezoid(density.log10_magnitude, density.positive), 0.375, 1e-10);
}

TEST(LogSpectralDensity, IsTheSumOfGaussiansInDecades) {
  const SpectralMeasure measure = test::random_measure(30, 4);
  const LogSpectralDensity density =
      log_spectral_density(measure, 1e-2, {.sigma = 0.2, .num_points = 100});
  EXPECT_NEAR(density.negative_mass + density.zero_mass + density.positive_mass, 1.0, 1e-14);
  for (Index i = 0; i < 100; ++i) {
    double negative = 0.0;
    double positive = 0.0;
    for (Index k = 0; k < 30; ++k) {
      const double node = measure.nodes[k];
      if (std::abs(node) <= 1e-2) continue;
      const double z = density.log10_magnitude[i] - std::log10(std::abs(node));
      (node < 0.0 ? negative : positive) += measure.weights[k] * gaussian(z, 0.2);
    }
    EXPECT_NEAR(density.negative[i], negative, 1e-13);
    EXPECT_NEAR(density.positive[i], positive, 1e-13);
  }
}

TEST(LogSpectralDensity, MovesWithTheUnit) {
  SpectralMeasure measure = test::random_measure(20, 5);
  const LogSpectralDensity density = log_spectral_density(measure, 1e-3);
  measure.nodes *= 1e6;
  const LogSpectralDensity moved = log_spectral_density(measure, 1e3);
  EXPECT_LE(test::largest_magnitude(moved.log10_magnitude.array() -
                                    density.log10_magnitude.array() - 6.0),
            1e-12);
  EXPECT_LE(test::largest_difference(moved.positive, density.positive), 1e-10);
  EXPECT_LE(test::largest_difference(moved.negative, density.negative), 1e-10);
}

// Enough of them that registers of the machine are full.
TEST(LogSpectralDensity, OfSubnormalNumbersIsAtTheirDecade) {
  const SpectralMeasure measure = exact_measure(VectorXd::Constant(8, 3e-310));
  const LogSpectralDensity density = log_spectral_density(measure, 0.0);
  Index highest = 0;
  density.positive.maxCoeff(&highest);
  EXPECT_NEAR(density.log10_magnitude[highest], std::log10(3e-310), 1e-3);
}

TEST(LogSpectralDensity, OfZerosIsAllInTheMassAtZero) {
  const LogSpectralDensity density = log_spectral_density(exact_measure(VectorXd::Zero(5)), 0.0);
  EXPECT_EQ(density.zero_mass, 1.0);
  EXPECT_EQ(density.negative_mass, 0.0);
  EXPECT_EQ(density.positive_mass, 0.0);
  EXPECT_EQ(density.positive, VectorXd::Zero(2000));
  EXPECT_EQ(density.negative, VectorXd::Zero(2000));
  EXPECT_TRUE(density.log10_magnitude.allFinite());
}

TEST(LogSpectralDensity, RefusesABandThatIsNone) {
  const SpectralMeasure good = exact_measure(Eigen::Vector2d(0.0, 1.0));
  for (const double band : {-1.0, kNaN, kInfinity}) {
    EXPECT_THROW(log_spectral_density(good, band), PreconditionError);
  }
  EXPECT_THROW(log_spectral_density({}, 0.0), PreconditionError);
  EXPECT_THROW(log_spectral_density(good, 0.0, {.sigma = 0.0}), PreconditionError);
}

}  // namespace
}  // namespace hesscope
